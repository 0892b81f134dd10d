//! Frame sizes: the rate's allowance, correction of earlier excess, and random scatter.

use serde::{Deserialize, Serialize};
use thalweg_units::{ConfigError, Random, Rate, Span, above, between, check};

use super::content::{Scatter, Variation};

/// The account of bits that the rate control keeps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Account {
    /// Time to repay an excess; longer than 0. libwebrtc's `rc_buf_optimal_sz`: 600 ms.
    pub payback: Span,
    /// Max saving, as time at the current rate: the room above the optimal level, 400 ms of 1 s.
    pub savings: Span,
    /// Max debt, as time at the current rate: `rc_buf_sz`, 1 s.
    pub debt: Span,
    /// Debt, as time at the current rate, beyond which a frame is dropped when the plan allows it: from 600 ms down to
    /// 30 % of that.
    pub drop_at: Span,
    /// Counts a rate below the floor as the floor when frames may not be dropped, so that an outage leaves no debt
    /// ([`libvpx::Settings::bound_debt`](crate::libvpx::Settings::bound_debt)).
    pub bound_debt: bool,
}

impl Default for Account {
    fn default() -> Account {
        let ms = Span::from_millis;
        Account { payback: ms(600), savings: ms(400), debt: ms(1000), drop_at: ms(420), bound_debt: true }
    }
}

/// A frame's budget in multiples of its allowance: at least this while repaying (libvpx: undershoot 100 % halves it),
/// and at most this with savings (overshoot 15 %).
const PAYBACK: std::ops::RangeInclusive<f64> = 0.5..=1.15;

impl Account {
    /// Checks that the spans are in range.
    ///
    /// # Errors
    /// When one is not longer than 0.
    pub fn check(&self) -> Result<(), ConfigError> {
        for (name, value) in [
            ("account.payback", self.payback),
            ("account.savings", self.savings),
            ("account.debt", self.debt),
            ("account.drop_at", self.drop_at),
        ] {
            check(name, value).within(above(Span::ZERO), "the default")?;
        }
        Ok(())
    }

    /// The balance in bits after `interval` at `rate`.
    pub fn refill(&self, balance: f64, rate: Rate, interval: Span) -> f64 {
        let rate = rate.as_bps_f64();
        let (debt, savings) = (self.debt.as_secs_f64(), self.savings.as_secs_f64());
        (balance + rate * interval.as_secs_f64()).clamp(-debt * rate, savings * rate + rate * interval.as_secs_f64())
    }

    /// Returns true if a frame should be dropped at this `balance`, already refilled for it.
    pub fn drained(&self, balance: f64, rate: Rate) -> bool {
        balance < -self.drop_at.as_secs_f64() * rate.as_bps_f64()
    }

    /// Bits for a frame at this `balance`, already refilled for it.
    pub fn budget(&self, balance: f64, rate: Rate, interval: Span) -> f64 {
        let interval = interval.as_secs_f64();
        let allowance = rate.as_bps_f64() * interval;
        let correction = (balance - allowance) * interval / self.payback.as_secs_f64();
        (allowance + correction).clamp(PAYBACK.start() * allowance, PAYBACK.end() * allowance)
    }
}

/// The scatter of sizes: a random factor with mean 1 for each frame.
#[derive(Debug, Clone)]
pub struct Noise {
    random: Random,
    /// The logarithm of the last factor, before subtracting its mean.
    level: f64,
}

impl Noise {
    /// Creates the process with random numbers from `random`.
    pub fn new(random: Random) -> Noise {
        Noise { random, level: 0.0 }
    }

    /// The factor of the next frame, and the factor of a scene cut (1 without one). `coarseness` is the quantiser as a
    /// share of the coarsest; `None` at the floor, where the quantiser cannot reduce the size.
    pub fn next(&mut self, scatter: &Scatter, coarseness: Option<f64>, interval: Span) -> (f64, f64) {
        let Variation { deviation, correlation } = match coarseness {
            None => scatter.at_floor,
            Some(coarseness) => scatter.steered_at(coarseness),
        };
        let innovation = libm::sqrt(1.0 - correlation * correlation) * deviation;
        self.level = correlation * self.level + innovation * self.random.normal();
        let factor = libm::exp(self.level - deviation * deviation / 2.0);
        let cut =
            scatter.cut_every.is_some_and(|every| self.random.chance(interval.as_secs_f64() / every.as_secs_f64()));
        (factor, if cut { scatter.cut_ratio } else { 1.0 })
    }
}

impl Scatter {
    /// The variation while steered, at a quantiser that is this share of the coarsest.
    fn steered_at(&self, coarseness: f64) -> Variation {
        let share = self.steadiest + (1.0 - self.steadiest) * coarseness;
        Variation { deviation: self.steered.deviation * share, ..self.steered }
    }

    /// Checks that the parameters are in range.
    ///
    /// # Errors
    /// When a number is outside its range.
    pub fn check(&self) -> Result<(), ConfigError> {
        for Variation { deviation, correlation } in [self.steered, self.at_floor] {
            check("scatter.deviation", deviation).within(0.0..=1.0, "0.25")?;
            check("scatter.correlation", correlation).within(between(-1.0, 1.0), "-0.25")?;
        }
        check("scatter.steadiest", self.steadiest).within(0.0..=1.0, "0.42")?;
        check("scatter.cut_every", self.cut_every.unwrap_or(Span::MAX)).within(above(Span::ZERO), "25s, or absent")?;
        check("scatter.cut_ratio", self.cut_ratio).within(1.0..=100.0, "4")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Seed;

    const INTERVAL: Span = Span::from_millis(40);

    #[test]
    fn factors_have_the_mean_deviation_and_correlation_asked_for() {
        let steered = Variation { deviation: 0.25, correlation: -0.4 };
        let scatter = Scatter { steered, cut_every: None, ..Scatter::default() };
        let mut noise = Noise::new(Seed::new(3).random());
        let factors: Vec<f64> = (0..50_000).map(|_| noise.next(&scatter, Some(1.0), INTERVAL).0).collect();
        let count = factors.len() as f64;
        let mean = factors.iter().sum::<f64>() / count;
        let logs: Vec<f64> = factors.iter().map(|factor| libm::log(*factor) + 0.25 * 0.25 / 2.0).collect();
        let variance = logs.iter().map(|log| log * log).sum::<f64>() / count;
        let covariance = logs.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / count;
        assert!((0.99..1.01).contains(&mean), "{mean}");
        assert!((0.24..0.26).contains(&libm::sqrt(variance)), "{variance}");
        assert!((-0.43..-0.37).contains(&(covariance / variance)), "{}", covariance / variance);
    }

    #[test]
    fn sizes_are_the_steadier_the_finer_the_quantiser() {
        // libvpx on the scene: 95th percentiles of 1.50 to 1.55 times the mean at quantiser 67, 1.28 to 1.37 at 24,
        // 1.24 to 1.30 at 6.
        for (quantizer, low, high) in [(67.0, 0.24, 0.28), (24.0, 0.16, 0.20), (6.0, 0.13, 0.17)] {
            let deviation = Scatter::default().steered_at(quantizer / 106.0).deviation;
            assert!((low..high).contains(&deviation), "{deviation} at {quantizer}");
        }
        let level = Scatter { steadiest: 1.0, ..Scatter::default() };
        assert_eq!(level.steered_at(0.0), level.steered);
    }

    #[test]
    fn cuts_come_as_often_as_asked() {
        let scatter = Scatter { cut_every: Some(Span::from_secs(10)), ..Scatter::default() };
        let mut noise = Noise::new(Seed::new(4).random());
        let cuts = (0..100_000).filter(|_| noise.next(&scatter, Some(1.0), INTERVAL).1 > 1.0).count();
        assert!((340..460).contains(&cuts), "{cuts} in 4000 s");
    }

    #[test]
    fn an_excess_is_paid_back_by_smaller_frames_and_never_by_less_than_half() {
        let (account, rate) = (Account::default(), Rate::from_kbps(1000));
        let allowance = 40_000.0;
        assert_eq!(account.budget(allowance, rate, INTERVAL), allowance);
        // An excess of 60 kbit over 600 ms: a tenth of the allowance.
        assert!((account.budget(allowance - 60_000.0, rate, INTERVAL) - 36_000.0).abs() < 1e-6);
        assert_eq!(account.budget(-1e9, rate, INTERVAL), 20_000.0);
        assert_eq!(account.budget(1e9, rate, INTERVAL), 46_000.0);
        assert!(account.drained(-421_000.0, rate) && !account.drained(-419_000.0, rate));
        assert_eq!(account.refill(-1e9, rate, INTERVAL), -1_000_000.0);
        assert_eq!(account.refill(1e9, rate, INTERVAL), 440_000.0);
    }
}
