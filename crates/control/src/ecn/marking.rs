//! The share of packets that are marked, as SCReAM averages it: l4s_alpha (specs/scream.md).

use thalweg_units::{ConfigError, Span, Time, above, above_to, check};

/// How marks are averaged.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct MarkingConfig {
    /// The weight of a larger share of marked packets (L4S_AVG_G_UP, 1/8).
    pub gain_up: f64,
    /// The weight of a smaller share (L4S_AVG_G_DOWN, 1/128).
    pub gain_down: f64,
    /// Interval between samples of the share, or each round trip if that is shorter (10 ms).
    pub interval: Span,
}

impl Default for MarkingConfig {
    fn default() -> MarkingConfig {
        MarkingConfig { gain_up: 1.0 / 8.0, gain_down: 1.0 / 128.0, interval: Span::from_millis(10) }
    }
}

impl MarkingConfig {
    /// # Errors
    /// When a parameter is out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
        check("marking.gain_up", self.gain_up).within(above_to(0.0, 1.0), "0.125")?;
        check("marking.gain_down", self.gain_down).within(above_to(0.0, 1.0), "0.0078125")?;
        check("marking.interval", self.interval).within(above(Span::ZERO), "10ms")
    }
}

/// An average of the share of marked packets with fast attack and slow decay.
#[derive(Debug, Clone, Copy, Default)]
pub struct Marking {
    alpha: f64,
    updated: Time,
    delivered: u32,
    marked: u32,
}

impl Marking {
    /// Records that `delivered` packets arrived, and `marked` of them, or of those before, marked.
    pub fn on_arrivals(&mut self, now: Time, delivered: u32, marked: u32, srtt: Span, config: &MarkingConfig) {
        self.delivered += delivered;
        self.marked += marked;
        if self.delivered == 0 || now - self.updated < config.interval.min(srtt) {
            return;
        }
        self.updated = now;
        self.sample(config);
    }

    /// The same where each report is a sample, as in libwebrtc.
    pub fn on_report(&mut self, delivered: u32, marked: u32, config: &MarkingConfig) {
        self.delivered += delivered;
        self.marked += marked;
        if self.delivered > 0 {
            self.sample(config);
        }
    }

    fn sample(&mut self, config: &MarkingConfig) {
        // A mark that comes late is of a packet that was delivered before.
        let share = (f64::from(self.marked) / f64::from(self.delivered)).min(1.0);
        self.alpha = if share >= self.alpha {
            self.alpha + config.gain_up * (share - self.alpha)
        } else {
            (1.0 - config.gain_down) * self.alpha
        };
        (self.delivered, self.marked) = (0, 0);
    }

    /// The share, 0 to 1.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    #[cfg(test)]
    pub(crate) fn of(alpha: f64) -> Marking {
        Marking { alpha, ..Marking::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_average_share_of_marked_packets_rises_by_eighths_and_falls_by_128ths() {
        let mut marking = Marking::default();
        let (srtt, config) = (Span::from_millis(50), MarkingConfig::default());
        for (at, delivered, marked, alpha) in
            [(10, 4, 2, 0.0625), (15, 4, 4, 0.0625), (20, 4, 4, 0.1796875), (30, 8, 0, 0.178283691)]
        {
            marking.on_arrivals(Time::from_millis(at), delivered, marked, srtt, &config);
            assert!((marking.alpha() - alpha).abs() < 1e-9, "{at} ms: {}", marking.alpha());
        }
    }

    /// It rises sixteen times as fast as it falls, so that it is above the share, the more the fewer packets a sample has:
    /// with one it is 16 m / (1 + 15 m). That is why a small SCReAM flow beside others stays small (docs/l4s.md).
    #[test]
    fn the_average_is_the_farther_above_the_share_of_marks_the_fewer_packets_are_in_a_sample() {
        let mut random = thalweg_units::Seed::new(1).random();
        let config = MarkingConfig::default();
        let mean = [1, 5, 16, 50].map(|packets| {
            let (mut marking, mut sum) = (Marking::default(), 0.0);
            for _ in 0..50_000 {
                let marked = (0..packets).filter(|_| random.unit() < 0.11).count();
                marking.on_report(packets, marked as u32, &config);
                sum += marking.alpha();
            }
            sum / 50_000.0
        });
        for (mean, expected) in mean.into_iter().zip([0.663, 0.268, 0.184, 0.142]) {
            assert!((mean - expected).abs() < 0.02, "{mean} for {expected}");
        }
    }

    #[test]
    fn each_report_may_be_a_sample() {
        // specs/l4s.md 3.2: shares of .25, 1, 0, 0.
        let mut marking = Marking::default();
        let alphas = [1, 4, 0, 0].map(|marked| {
            marking.on_report(4, marked, &MarkingConfig::default());
            (marking.alpha() * 1e6).round() / 1e6
        });
        assert_eq!(alphas, [0.03125, 0.152344, 0.151154, 0.149973]);
    }
}
