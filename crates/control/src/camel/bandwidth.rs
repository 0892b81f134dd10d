//! avg(B): the rate at which the bottleneck forwards a burst (Camel, equation 2).

use alloc::collections::VecDeque;

use thalweg_units::{Bytes, ConfigError, Rate, Span, Time, above, check};

use super::train::Train;
use crate::estimate::WindowedMax;

/// How the bandwidth follows from bursts. The paper has equation 2 and the word "average"; the rest are readings
/// (specs/camel.md 1).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// The average is over bursts measured within this time (R).
    pub window: Span,
    /// If those are fewer than this, the average is over this many of the last bursts ...
    pub min_samples: usize,
    /// ... that are not older than this.
    pub oldest: Span,
    /// How they are averaged.
    pub mean: Mean,
    /// A burst with fewer arrived packets is not measured (R); equation 2 itself needs 2.
    pub min_packets: u32,
    /// A burst that took less time than this to arrive is not measured: clocks tick, and links deliver several packets
    /// at once (R).
    pub min_span: Span,
    /// Treatment of bursts that took less than `min_span`.
    pub short_bursts: ShortBursts,
    /// While only a lower bound is known, the slices of a frame are spaced for this many times the bound. If the path
    /// is that fast, the joined slices show it (R).
    pub bound_gain: f64,
    /// If a burst took at most this many times as long to arrive as to leave, its sender limited it, and it counts only
    /// if it shows more than is known (R).
    pub sender_limited: f64,
}

/// An average.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Mean {
    /// Each burst has the same weight: the usual reading of the paper's "average".
    #[default]
    Arithmetic,
    /// All bits over all time, which is less biased by tiny frames (Rebera, equation 2).
    Ratio,
}

/// A burst that arrives within `min_span`: by itself it gives only a lower bound of the capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum ShortBursts {
    /// Consecutive bursts of one frame are measured as one as soon as together they have taken `min_span`. What is
    /// still shorter counts as if it had taken `min_span`, and the largest recent such bound is used as long as no
    /// burst measures more than it (R). Without this, a path above 7.5 Mbps never has a first sample (a frame of 1250
    /// bytes at the start), and one above 40 Mbps is not measured at M = 6 KB.
    #[default]
    Join,
    /// It is dropped (specs/camel.md 2.1 to the letter).
    Drop,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            window: Span::from_secs(1),
            min_samples: 5,
            oldest: Span::from_secs(10),
            mean: Mean::default(),
            min_packets: 3,
            min_span: Span::from_millis(1),
            short_bursts: ShortBursts::default(),
            bound_gain: 2.0,
            sender_limited: 1.05,
        }
    }
}

impl Config {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        for (name, value) in [
            ("camel.bandwidth.window", self.window),
            ("camel.bandwidth.oldest", self.oldest),
            ("camel.bandwidth.min_span", self.min_span),
        ] {
            check(name, value).within(above(Span::ZERO), "1s, 10s or 1ms")?;
        }
        check("camel.bandwidth.min_packets", self.min_packets)
            .is(self.min_packets >= 2, "at least 2: one packet has no spacing")?;
        check("camel.bandwidth.bound_gain", self.bound_gain).within(1.0..=10.0, "2")?;
        check("camel.bandwidth.sender_limited", self.sender_limited).within(0.0..f64::INFINITY, "1.05")?;
        Ok(())
    }
}

/// Samples of a time window with their sums, as integers, so that no precision is lost as they enter and leave.
#[derive(Debug, Clone, Default)]
struct Recent {
    samples: VecDeque<(Time, Bytes, Span)>,
    rates: u128,
    bits: u128,
    nanos: i128,
}

impl Recent {
    fn add(&mut self, now: Time, bytes: Bytes, span: Span, config: &Config) {
        self.samples.push_back((now, bytes, span));
        self.rates += u128::from(bytes.per(span).as_bps());
        self.bits += u128::from(bytes.bits());
        self.nanos += i128::from(span.as_nanos());
        let few = config.min_samples;
        self.expire(|at, count| at + config.window <= now && count > few || at + config.oldest <= now);
    }

    /// Drops the oldest samples while `old`, called with a sample's time and the number of samples, returns true.
    fn expire(&mut self, old: impl Fn(Time, usize) -> bool) {
        while let Some((at, bytes, span)) = self.samples.front().copied().filter(|s| old(s.0, self.samples.len())) {
            let _ = at;
            self.samples.pop_front();
            self.rates -= u128::from(bytes.per(span).as_bps());
            self.bits -= u128::from(bytes.bits());
            self.nanos -= i128::from(span.as_nanos());
        }
    }

    fn mean(&self, mean: Mean) -> Option<Rate> {
        let count = self.samples.len() as u128;
        let bps = match mean {
            Mean::Arithmetic => self.rates.checked_div(count)?,
            Mean::Ratio => (self.bits * 1_000_000_000).checked_div(self.nanos as u128)?,
        };
        Some(Rate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX)))
    }
}

/// The average bandwidth of bursts.
#[derive(Debug, Clone)]
pub(super) struct Bandwidth {
    config: Config,
    measured: Recent,
    /// Lower bounds of the path's capacity.
    bounds: WindowedMax<Rate>,
    /// Bursts of the current frame that together are still too short.
    short: Option<Train>,
    average: Option<Rate>,
}

impl Bandwidth {
    pub(super) fn new(config: Config) -> Bandwidth {
        Bandwidth { config, measured: Recent::default(), bounds: WindowedMax::default(), short: None, average: None }
    }

    /// avg(B); `None` before the first sample. It stays constant while nothing is measured (specs/camel.md 7).
    pub(super) fn average(&self) -> Option<Rate> {
        self.average
    }

    /// The rate at which slices should follow one another: avg(B), or more while that is only a bound.
    pub(super) fn spacing(&self) -> Option<Rate> {
        let gain = if self.measured.samples.is_empty() { self.config.bound_gain } else { 1.0 };
        Some(self.average?.scale(gain))
    }

    /// Takes a burst; returns whether it gave a measurement.
    pub(super) fn on_train(&mut self, now: Time, train: &Train) -> bool {
        let config = self.config;
        // If the last packet arrived before the first, the burst does not measure the path (specs/camel.md 7).
        if train.packets < config.min_packets || train.bytes == Bytes::ZERO || train.span < Span::ZERO {
            return false;
        }
        let train = match config.short_bursts {
            ShortBursts::Join => self.join(train),
            ShortBursts::Drop if train.span < config.min_span => return false,
            ShortBursts::Drop => *train,
        };
        let rate = train.bytes.per(train.span.max(config.min_span));
        let held_up = train.span <= train.send_span.scale(config.sender_limited);
        if held_up && self.average.is_some_and(|average| rate < average) {
            return false;
        }
        if train.span < config.min_span {
            self.bounds.add(now, rate, config.window);
        } else {
            self.measured.add(now, train.bytes, train.span, &config);
        }
        self.measured.expire(|at, _| at + config.oldest <= now);
        self.average = self.measured.mean(config.mean).or(self.bounds.get());
        true
    }

    /// The burst, joined with those just before it in its frame if it is short.
    fn join(&mut self, train: &Train) -> Train {
        let short = self.short.take();
        if train.span >= self.config.min_span {
            return *train;
        }
        let joined = short.and_then(|short| short.joined(train)).unwrap_or(*train);
        self.short = Some(joined).filter(|joined| joined.span < self.config.min_span);
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn train(bytes: u64, span_us: i64) -> Train {
        Train {
            packets: 5,
            frame: None,
            numbers: (0, 5),
            first: Bytes::new(bytes / 4),
            sent: Time::ZERO,
            arrived: Time::ZERO,
            bytes: Bytes::new(bytes),
            span: Span::from_micros(span_us),
            send_span: Span::ZERO,
        }
    }

    #[test]
    fn the_average_is_over_a_second_or_the_last_five() {
        let mut bandwidth = Bandwidth::new(Config::default());
        // Two a second: 1 Mbps five times, then 2 Mbps; the last five count.
        for half in 0..6u64 {
            let span = if half < 5 { 35_200 } else { 17_600 };
            bandwidth.on_train(Time::from_millis(half * 500), &train(4400, span));
        }
        assert_eq!(bandwidth.average(), Some(Rate::from_kbps(1200)));
        // Thirty a second: a second later, no older sample counts.
        for frame in 0..31u64 {
            bandwidth.on_train(Time::from_millis(2600 + frame * 33), &train(4400, 17_600));
        }
        assert_eq!(bandwidth.average(), Some(Rate::from_kbps(2000)));
        // After eleven seconds, no earlier sample counts.
        bandwidth.on_train(Time::from_millis(15_000), &train(4400, 35_200));
        assert_eq!(bandwidth.average(), Some(Rate::from_kbps(1000)));
    }

    #[test]
    fn the_ratio_weighs_bursts_by_their_time() {
        let mut bandwidth = Bandwidth::new(Config { mean: Mean::Ratio, ..Config::default() });
        bandwidth.on_train(Time::from_millis(1), &train(1000, 1000));
        bandwidth.on_train(Time::from_millis(2), &train(1000, 7000));
        assert_eq!(bandwidth.average(), Some(Rate::from_kbps(2000)));
    }

    #[test]
    fn a_short_burst_bounds_the_rate_only_while_nothing_better_is_known() {
        let mut bandwidth = Bandwidth::new(Config::default());
        assert!(bandwidth.on_train(Time::from_millis(1), &train(938, 100)));
        assert_eq!(bandwidth.average(), Some(Rate::from_kbps(7504)));
        bandwidth.on_train(Time::from_millis(2), &train(4400, 2000));
        bandwidth.on_train(Time::from_millis(3), &train(938, 100));
        assert_eq!(bandwidth.average(), Some(Rate::from_kbps(17_600)));
        let mut letter = Bandwidth::new(Config { short_bursts: ShortBursts::Drop, ..Config::default() });
        assert!(!letter.on_train(Time::from_millis(1), &train(938, 100)));
        assert_eq!(letter.average(), None);
    }

    #[test]
    fn slices_too_short_each_are_measured_together_and_spaced_faster_until_then() {
        // 6000 bytes in five packets at 200 Mbps: 192 us from the first to the last, a bound of 38.4 Mbps. At twice
        // that they leave 625 us apart, so the second ends 817 us after the first began, and the third 1442.
        let slice = |index: u64| Train {
            frame: Some(3),
            numbers: (5 * index, 5 * index + 5),
            first: Bytes::new(1200),
            sent: Time::from_micros(625 * index),
            arrived: Time::from_micros(25_000 + 625 * index),
            ..train(4800, 192)
        };
        let mut bandwidth = Bandwidth::new(Config::default());
        let kbps = |rate: Option<Rate>| rate.unwrap().as_bps() / 1000;
        assert!(bandwidth.on_train(Time::from_millis(50), &slice(0)));
        assert_eq!((kbps(bandwidth.average()), kbps(bandwidth.spacing())), (38_400, 76_800));
        bandwidth.on_train(Time::from_millis(50), &slice(1));
        assert_eq!(kbps(bandwidth.average()), 86_400, "10,800 bytes in less than a millisecond");
        bandwidth.on_train(Time::from_millis(51), &slice(2));
        // 16,800 bytes in 1442 us: measured, and no longer a bound.
        assert_eq!((kbps(bandwidth.average()), kbps(bandwidth.spacing())), (93_203, 93_203));
        // Slices of another frame start a new measurement.
        let next = Train { frame: Some(4), numbers: (15, 20), ..slice(3) };
        bandwidth.on_train(Time::from_millis(52), &next);
        assert_eq!(kbps(bandwidth.average()), 93_203);
    }

    #[test]
    fn what_the_sender_held_up_or_the_path_turned_round_measures_nothing() {
        let mut bandwidth = Bandwidth::new(Config::default());
        bandwidth.on_train(Time::from_millis(1), &train(4400, 35_200));
        let held_up = Train { send_span: Span::from_millis(50), ..train(4400, 52_000) };
        assert!(!bandwidth.on_train(Time::from_millis(2), &held_up));
        let faster_all_the_same = Train { send_span: Span::from_millis(17), ..train(4400, 17_600) };
        assert!(bandwidth.on_train(Time::from_millis(3), &faster_all_the_same));
        assert!(!bandwidth.on_train(Time::from_millis(4), &train(4400, -1)));
        assert!(!bandwidth.on_train(Time::from_millis(5), &Train { packets: 2, ..train(4400, 35_200) }));
        assert_eq!(bandwidth.average(), Some(Rate::from_kbps(1500)));
    }
}
