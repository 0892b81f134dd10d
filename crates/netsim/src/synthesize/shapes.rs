//! Links of a simple shape: a sequence of rates, each for some time. Packets that arrive while a link is down wait; for
//! a path that loses them instead use a [`Loss`](crate::Loss) with [`OnOff`](crate::LossModel::OnOff) or
//! [`Outage`](crate::LossModel::Outage).

use alloc::vec::Vec;

use thalweg_units::{ConfigError, Rate, Seed, Span, check};

use super::check_extent;
use crate::trace::Trace;

/// A constant rate that goes off and on again after exponential times (Salsify's intermittent link: 12 Mbps, 5 s,
/// 200 ms).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Intermittent {
    /// The rate while it is up.
    pub rate: Rate,
    /// Mean time until it fails.
    pub on: Span,
    /// Mean time until it is restored.
    pub off: Span,
}

impl Default for Intermittent {
    fn default() -> Self {
        Intermittent { rate: Rate::from_kbps(12_000), on: Span::from_secs(5), off: Span::from_millis(200) }
    }
}

impl Intermittent {
    /// Generates a trace of `duration`.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn synthesize(&self, duration: Span, seed: Seed) -> Result<Trace, ConfigError> {
        check_extent(duration, self.rate)?;
        for (name, mean) in [("intermittent on", self.on), ("intermittent off", self.off)] {
            check(name, mean).within(Span::from_millis(1)..=Span::from_secs(3600), "10s")?;
        }
        let mut random = seed.child("failures").random();
        let mut pieces = Vec::new();
        let (mut at, mut boundary, mut up) = (0, 0.0, true);
        while at < whole_millis(duration) {
            boundary += random.exponential(if up { self.on } else { self.off }.as_millis_f64());
            let until = (libm::round(boundary) as u64).min(whole_millis(duration));
            pieces.push((until - at, if up { self.rate } else { Rate::ZERO }));
            (at, up) = (until, !up);
        }
        shaped(pieces)
    }
}

/// A constant rate that falls linearly to zero and rises back, repeatedly (Salsify's ramp: 24 Mbps for 70 s, zero at
/// 90 s, back at 110 s).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Ramp {
    /// The constant rate.
    pub rate: Rate,
    /// How long the rate is constant.
    pub level: Span,
    /// The duration of the fall, and of the rise after it.
    pub fall: Span,
}

impl Default for Ramp {
    fn default() -> Self {
        Ramp { rate: Rate::from_kbps(24_000), level: Span::from_secs(70), fall: Span::from_secs(20) }
    }
}

impl Ramp {
    /// Generates one period.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn synthesize(&self) -> Result<Trace, ConfigError> {
        for (name, span) in [("ramp level", self.level), ("ramp fall", self.fall)] {
            check(name, span).within(Span::from_millis(100)..=Span::from_secs(3600), "10s")?;
        }
        check_extent(self.level + self.fall + self.fall, self.rate)?;
        let fall = whole_millis(self.fall);
        // The rate in the middle of each millisecond.
        let rising = (0..fall).map(|millis| (1, self.rate.scale((millis as f64 + 0.5) / fall as f64)));
        shaped([(whole_millis(self.level), self.rate)].into_iter().chain(rising.clone().rev()).chain(rising))
    }
}

/// A constant rate with one outage (Salsify: 500 kbps, down for 1 s).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Dropout {
    /// The rate before and after.
    pub rate: Rate,
    /// When it goes down.
    pub at: Span,
    /// How long it is down.
    pub lasts: Span,
}

impl Default for Dropout {
    fn default() -> Self {
        Dropout { rate: Rate::from_kbps(500), at: Span::from_secs(30), lasts: Span::from_secs(1) }
    }
}

impl Dropout {
    /// Generates a trace of `duration`.
    ///
    /// # Errors
    /// When a parameter is out of range, or the trace ends before the link is up again.
    pub fn synthesize(&self, duration: Span) -> Result<Trace, ConfigError> {
        check_extent(duration, self.rate)?;
        check("dropout", format_args!("at {} for {} in a trace of {duration}", self.at, self.lasts)).is(
            self.at >= Span::ZERO && self.lasts >= Span::ZERO && self.at + self.lasts < duration,
            "over before the trace is: make it earlier or play longer",
        )?;
        let (at, lasts) = (whole_millis(self.at), whole_millis(self.lasts));
        shaped([(at, self.rate), (lasts, Rate::ZERO), (whole_millis(duration) - at - lasts, self.rate)])
    }
}

fn whole_millis(span: Span) -> u64 {
    span.as_millis().max(0) as u64
}

fn shaped(pieces: impl IntoIterator<Item = (u64, Rate)>) -> Result<Trace, ConfigError> {
    Trace::from_rates(pieces)
        .map_err(|error| ConfigError::out_of_range("synthetic trace", error, "one that delivers something"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Time;

    #[test]
    fn an_intermittent_link_fails_and_is_restored_after_its_mean_times() {
        let trace = Intermittent::default().synthesize(Span::from_secs(7200), Seed::new(1)).unwrap();
        // 12 Mbps is one opportunity per millisecond, so every gap is an outage.
        let gaps: Vec<u64> =
            trace.millis().windows(2).map(|pair| pair[1] - pair[0] - 1).filter(|gap| *gap > 0).collect();
        let every = 7200.0 / gaps.len() as f64;
        assert!((every / 5.2 - 1.0).abs() < 0.1, "a failure each {every} s");
        let mean = gaps.iter().sum::<u64>() as f64 / gaps.len() as f64;
        assert!((mean / 200.0 - 1.0).abs() < 0.1, "restored after {mean} ms");
        let deviation = libm::sqrt(
            gaps.iter().map(|gap| (*gap as f64 - mean) * (*gap as f64 - mean)).sum::<f64>() / gaps.len() as f64,
        );
        assert!((deviation / mean - 1.0).abs() < 0.15, "deviation {deviation} ms of a mean of {mean}");
        assert!((trace.mean_rate().as_mbps_f64() / (12.0 * 5.0 / 5.2) - 1.0).abs() < 0.01);
    }

    #[test]
    fn a_ramp_is_level_falls_to_nothing_and_comes_back() {
        let trace = Ramp::default().synthesize().unwrap();
        assert_eq!(trace.period(), Span::from_secs(110));
        let in_second = |at: u64| trace.opportunities(Time::from_millis(at * 1000), Time::from_millis((at + 1) * 1000));
        assert_eq!(in_second(10), 2000);
        for (second, expected) in [(75, 1450), (80, 950), (85, 450), (95, 550), (100, 1050), (105, 1550)] {
            assert!(in_second(second).abs_diff(expected) <= 2, "{} in second {second}", in_second(second));
        }
        assert!(in_second(89) < 60 && in_second(90) < 60);
    }

    #[test]
    fn a_dropout_is_silent_for_exactly_its_time() {
        let trace = Dropout::default().synthesize(Span::from_secs(60)).unwrap();
        assert_eq!(trace.opportunities(Time::from_millis(30_001), Time::from_millis(31_001)), 0);
        assert_eq!(trace.millis().iter().filter(|at| **at <= 30_000).count(), 1250);
        // One opportunity every 24 ms, with the outage of a second in between.
        let longest = trace.millis().windows(2).map(|pair| pair[1] - pair[0]).max();
        assert_eq!(longest, Some(1024));
        assert_eq!(trace.millis().len(), 1250 + 1208 + 1);
    }

    #[test]
    fn what_cannot_be_is_refused_with_value_range_and_fix() {
        let message =
            Dropout { at: Span::from_secs(70), ..Dropout::default() }.synthesize(Span::from_secs(60)).unwrap_err();
        let message = alloc::string::ToString::to_string(&message);
        assert!(message.contains("70") && message.contains("earlier"), "{message}");
        let fast = Intermittent { rate: Rate::from_kbps(20_000_000), ..Intermittent::default() };
        assert!(fast.synthesize(Span::from_secs(3600), Seed::new(1)).is_err());
        assert!(
            Intermittent { off: Span::ZERO, ..Intermittent::default() }
                .synthesize(Span::from_secs(1), Seed::new(1))
                .is_err()
        );
        assert!(Ramp { fall: Span::ZERO, ..Ramp::default() }.synthesize().is_err());
    }
}
