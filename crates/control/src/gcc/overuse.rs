//! Detects overuse by comparing the delay trend with an adaptive threshold (specs/gcc.md 3; libwebrtc
//! `trendline_estimator.cc` `Detect` and `UpdateThreshold`).

use thalweg_units::{Span, Time};

/// Parameters of the detector.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// The initial threshold, in ms.
    pub initial_threshold: f64,
    /// The rate at which the threshold rises, per ms (libwebrtc 0.0087; the draft 0.01).
    pub rise: f64,
    /// The rate at which the threshold falls, per ms (libwebrtc 0.039; the draft 0.00018).
    pub fall: f64,
    /// The trend is multiplied by this and by the number of deltas, at most 60.
    pub gain: f64,
    /// The trend must stay above the threshold for longer than this.
    pub overuse_time: Span,
    /// An overuse at any packet of a report counts, not only at its last one (until c643204,
    /// January 2018: "Remove sparse BWE update field trial").
    pub whole_report: bool,
    /// The threshold outlasts a pause of two seconds, which begins trendline and groups anew (4c14009, where
    /// `OveruseDetector` was not yet part of the trendline estimator).
    pub outlasts_pauses: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            initial_threshold: 12.5,
            rise: 0.0087,
            fall: 0.039,
            gain: 4.0,
            overuse_time: Span::from_millis(10),
            whole_report: false,
            outlasts_pauses: false,
        }
    }
}

/// The max number of deltas in this product.
const MAX_DELTA_GAIN: u32 = 60;
/// Min and max of the threshold, in ms.
const THRESHOLD_BOUNDS: (f64, f64) = (6.0, 600.0);
/// A trend more than this above the threshold, in ms, does not change the threshold.
const MAX_ADAPT_OFFSET: f64 = 15.0;
/// The max time that one update of the threshold accounts for.
const MAX_ADAPT_TIME: Span = Span::from_millis(100);

/// Utilisation of the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Usage {
    Normal,
    Over,
    Under,
}

/// The detector's state.
#[derive(Debug, Clone)]
pub(super) struct Detector {
    config: Config,
    threshold: f64,
    trend: f64,
    adapted_at: Option<Time>,
    over: Option<(Span, u32)>,
    previous_slope: f64,
    usage: Usage,
}

impl Detector {
    pub(super) fn new(config: Config) -> Detector {
        Detector {
            threshold: config.initial_threshold,
            config,
            trend: 0.0,
            adapted_at: None,
            over: None,
            previous_slope: 0.0,
            usage: Usage::Normal,
        }
    }

    pub(super) fn usage(&self) -> Usage {
        self.usage
    }

    /// m: the modified trend, in ms.
    pub(super) fn trend(&self) -> f64 {
        self.trend
    }

    /// theta, in ms.
    pub(super) fn threshold(&self) -> f64 {
        self.threshold
    }

    pub(super) fn on_slope(&mut self, slope: f64, deltas: u32, sent: Span, now: Time) -> Usage {
        if deltas < 2 {
            self.usage = Usage::Normal;
            return self.usage;
        }
        self.trend = f64::from(deltas.min(MAX_DELTA_GAIN)) * slope * self.config.gain;
        if self.trend > self.threshold {
            let (time, count) = self.over.map_or((sent / 2, 0), |(time, count)| (time + sent, count));
            self.over = Some((time, count + 1));
            if time > self.config.overuse_time && count + 1 > 1 && slope >= self.previous_slope {
                self.over = Some((Span::ZERO, 0));
                self.usage = Usage::Over;
            }
        } else {
            self.over = None;
            self.usage = if self.trend < -self.threshold { Usage::Under } else { Usage::Normal };
        }
        self.previous_slope = slope;
        self.adapt(now);
        self.usage
    }

    fn adapt(&mut self, now: Time) {
        let since = *self.adapted_at.get_or_insert(now);
        self.adapted_at = Some(now);
        let size = self.trend.abs();
        if size > self.threshold + MAX_ADAPT_OFFSET {
            return;
        }
        let speed = if size < self.threshold { self.config.fall } else { self.config.rise };
        let elapsed = (now - since).min(MAX_ADAPT_TIME).as_millis_f64();
        let moved = self.threshold + speed * (size - self.threshold) * elapsed;
        self.threshold = moved.clamp(THRESHOLD_BOUNDS.0, THRESHOLD_BOUNDS.1);
    }
}

#[cfg(test)]
mod tests {
    use super::super::packet_groups::{Delta, PacketGroups};
    use super::super::trendline::Trendline;
    use super::*;
    use thalweg_units::Seed;

    /// Groups sent every 20 ms that arrive every 21 ms (specs/gcc.md 13, example 1).
    #[test]
    fn one_millisecond_of_growing_delay_in_twenty_is_overuse_at_the_thirty_sixth_delta() {
        let mut trendline = Trendline::default();
        let mut detector = Detector::new(Config::default());
        let delta = Delta { sent: Span::from_millis(20), arrived: Span::from_millis(21) };
        for i in 1..=36u64 {
            let arrival = Time::from_millis(21 * i);
            let slope = trendline.on_delta(delta, arrival);
            let usage = detector.on_slope(slope, trendline.deltas(), delta.sent, arrival);
            match i {
                3 => assert_eq!(detector.threshold(), 6.0),
                20 => assert!((detector.trend() - 2.477).abs() < 1e-3),
                34 => assert!((detector.trend() - 5.958).abs() < 1e-3),
                35 => {
                    assert!((detector.trend() - 6.187).abs() < 1e-3);
                    assert!((detector.threshold() - 6.034).abs() < 1e-3, "{}", detector.threshold());
                }
                36 => {
                    assert!((detector.trend() - 6.413).abs() < 1e-3);
                    assert!((detector.threshold() - 6.103).abs() < 1e-3, "{}", detector.threshold());
                }
                _ => {}
            }
            assert_eq!(usage, if i < 36 { Usage::Normal } else { Usage::Over }, "delta {i}");
        }
    }

    #[test]
    fn a_falling_delay_is_underuse() {
        let mut detector = Detector::new(Config::default());
        assert_eq!(detector.on_slope(-0.1, 60, Span::from_millis(20), Time::from_millis(20)), Usage::Under);
    }

    /// Overuses a minute, more than 300 ms apart, in ten minutes of packets that leave at a constant pace for this share of
    /// 47.4 opportunities a second (570 kbps), which come at random or at a constant pace too.
    fn overuses(share: f64, at_random: bool) -> f64 {
        let mean = 1000.0 / 47.4;
        let mut random = Seed::new(1).random();
        let (mut opportunity, mut overuses, mut last) = (0.0, 0, Time::ZERO);
        let (mut groups, mut trendline) = (PacketGroups::default(), Trendline::default());
        let mut detector = Detector::new(Config::default());
        for packet in 0..(600_000.0 * share / mean) as u64 {
            let sent = packet as f64 * mean / share;
            loop {
                opportunity += if at_random { random.exponential(mean) } else { mean };
                if opportunity >= sent {
                    break;
                }
            }
            let [sent, arrival] = [sent, opportunity].map(|ms| Time::from_secs_f64(ms / 1e3));
            let Some(delta) = groups.on_packet(sent, arrival, arrival) else { continue };
            let slope = trendline.on_delta(delta, arrival);
            let usage = detector.on_slope(slope, trendline.deltas(), delta.sent, arrival);
            if usage == Usage::Over {
                overuses += u32::from(arrival - last > Span::from_millis(300));
                last = arrival;
            }
        }
        f64::from(overuses) / 10.0
    }

    /// By a second program that was written from libwebrtc's rules alone, five seeds each: docs/papers/gcc.md.
    #[test]
    fn half_of_a_link_whose_opportunities_come_at_random_is_overused_several_times_a_minute() {
        for (share, at_random, expected) in
            [(0.4, true, 1.0..4.0), (0.5, true, 6.0..12.0), (0.9, true, 30.0..55.0), (0.9, false, 0.0..0.1)]
        {
            let found = overuses(share, at_random);
            assert!(expected.contains(&found), "{share}, at random: {at_random}: {found} a minute");
        }
    }
}
