//! The congestion detector: the slope of delay over bytes in flight (Camel section 4.2; specs/camel.md 3).

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use thalweg_units::{Bytes, ConfigError, Rate, Span, Time, above, above_to, check};

use crate::estimate::Fit;

/// How the slope becomes a verdict. The paper has the signal and its window of 5 s; the fit and the threshold are
/// readings.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// W_D: the window of frames that count (Figure 7: 5 s for all methods).
    pub window: Span,
    /// Which line is fitted (R).
    pub reading: Reading,
    /// theta of the global slope, normalised: 0 below the bandwidth-delay product, 1 above (R). specs/camel.md 3 has
    /// 0.25, which jitter exceeds: a late frame is still in flight when the next one leaves, so under jitter delay grows
    /// with bytes in flight without a queue. From 0.3 to 0.5 a full encoder keeps 0.83 to 0.86 of 1 Mbps at 50 ms.
    pub global_threshold: f64,
    /// theta of the local slope (R).
    pub local_threshold: f64,
    /// The local slope is used up to this standard error (R).
    pub local_error: f64,
    /// The global slope must be this many times its standard error (R).
    pub significance: f64,
    /// With fewer frames no slope is computed (R).
    pub min_frames: usize,
    /// No slope is computed if bytes in flight differ by less than this many packets between frames (R).
    pub min_range: f64,
    /// The share of the frames that count as neighbours of the newest (at least `min_frames`) (R).
    pub neighbours: f64,
    /// Max number of frames kept, so that the cost of a verdict is bounded on paths of hundreds of Mbps.
    pub max_frames: usize,
}

/// Which frames the slope is fitted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Reading {
    /// The neighbours of the newest frame if they fit a line well, otherwise all frames: combines the paper's accuracy
    /// (Figure 7) with its robustness to jitter (Figure 18).
    #[default]
    LocalThenGlobal,
    /// L: the frames whose bytes in flight are nearest to the newest frame's.
    Local,
    /// G: all frames.
    Global,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            window: Span::from_secs(5),
            reading: Reading::default(),
            global_threshold: 0.35,
            local_threshold: 0.5,
            local_error: 0.2,
            significance: 2.0,
            min_frames: 8,
            min_range: 2.0,
            neighbours: 0.25,
            max_frames: 2048,
        }
    }
}

impl Config {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check("camel.gradient.window", self.window).within(above(Span::ZERO), "5s")?;
        check("camel.gradient frames", format_args!("{} to {}", self.min_frames, self.max_frames)).is(
            self.min_frames >= 3 && self.max_frames >= self.min_frames,
            "at least 3 frames, and no more at least than at most, such as 8 and 2048",
        )?;
        for (name, value) in [
            ("camel.gradient.global_threshold", self.global_threshold),
            ("camel.gradient.local_threshold", self.local_threshold),
            ("camel.gradient.local_error", self.local_error),
            ("camel.gradient.significance", self.significance),
            ("camel.gradient.min_range", self.min_range),
        ] {
            check(name, value).within(0.0..f64::INFINITY, "the default")?;
        }
        check("camel.gradient.neighbours", self.neighbours).within(above_to(0.0, 1.0), "0.25")?;
        Ok(())
    }
}

/// A verdict and its basis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// True if delay grows with bytes in flight.
    pub congested: bool,
    /// The slope it is based on, times avg(B): queueing delay gained per delay's worth of bytes added. 0 if there is
    /// none.
    pub slope: f64,
    /// Which slope it was, for logs.
    pub why: &'static str,
}

impl Verdict {
    pub(super) const UNKNOWN: Verdict = Verdict { congested: false, slope: 0.0, why: "too few frames to decide" };
}

/// Bits in flight before a frame and its first packet's delay in seconds.
type Point = (f64, f64);

/// Delay over bytes in flight, one point per frame.
#[derive(Debug, Clone)]
pub struct Gradient {
    config: Config,
    points: VecDeque<(Time, Point)>,
    /// Scratch space for choosing neighbours.
    scratch: Vec<(f64, usize)>,
}

impl Gradient {
    /// Without frames. `config` is not checked: the controller does that.
    pub fn new(config: Config) -> Gradient {
        Gradient { config, points: VecDeque::new(), scratch: Vec::new() }
    }

    /// Adds a frame (or a slice of one): the bytes in flight before it, and the round-trip time of its first packet.
    pub fn add(&mut self, now: Time, in_flight: Bytes, delay: Span) {
        self.points.push_back((now, (in_flight.bits() as f64, delay.as_secs_f64())));
        self.expire(now);
    }

    pub(super) fn clear(&mut self) {
        self.points.clear();
    }

    fn expire(&mut self, now: Time) {
        let old = |at: Time| at + self.config.window < now;
        while self.points.len() > self.config.max_frames || self.points.front().is_some_and(|(at, _)| old(*at)) {
            self.points.pop_front();
        }
    }

    /// Judges whether delay grows with bytes in flight.
    pub fn judge(&mut self, now: Time, average: Rate, packet: Bytes) -> Verdict {
        self.expire(now);
        let config = self.config;
        let xs = || self.points.iter().map(|(_, (x, _))| *x);
        let range = xs().fold(f64::NEG_INFINITY, f64::max) - xs().fold(f64::INFINITY, f64::min);
        if self.points.len() < config.min_frames || range < config.min_range * packet.bits() as f64 {
            return Verdict::UNKNOWN;
        }
        let normalised = |fit: Fit| (fit.slope * average.as_bps_f64(), fit.standard_error * average.as_bps_f64());
        if config.reading != Reading::Global {
            let (slope, error) = self.local().map_or((0.0, f64::INFINITY), normalised);
            if error <= config.local_error || config.reading == Reading::Local {
                let congested = slope > config.local_threshold;
                return Verdict { congested, slope, why: "delay over bytes in flight, like frames" };
            }
        }
        let all = fit(self.points.iter().map(|(_, point)| *point));
        let (slope, error) = all.map_or((0.0, f64::INFINITY), normalised);
        let congested = slope > config.global_threshold && slope > config.significance * error;
        Verdict { congested, slope, why: "delay over bytes in flight, all frames" }
    }

    /// The line through the frames whose bytes in flight are nearest to the newest frame's.
    fn local(&mut self) -> Option<Fit> {
        let (_, (newest, _)) = *self.points.back()?;
        let nearest = ((self.points.len() as f64 * self.config.neighbours) as usize).max(self.config.min_frames);
        let distances = self.points.iter().enumerate().map(|(index, (_, (x, _)))| ((x - newest).abs(), index));
        self.scratch.clear();
        self.scratch.extend(distances);
        if nearest < self.scratch.len() {
            // Of equally near frames, the older ones are chosen, so that a run is reproducible.
            self.scratch.select_nth_unstable_by(nearest - 1, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            self.scratch.truncate(nearest);
        }
        fit(self.scratch.iter().map(|(_, index)| self.points[*index].1))
    }
}

/// The least-squares line, computed in two passes; `None` if all x are the same.
fn fit(points: impl ExactSizeIterator<Item = Point> + Clone) -> Option<Fit> {
    let count = points.len();
    let n = count as f64;
    let (mean_x, mean_y) =
        (points.clone().map(|(x, _)| x).sum::<f64>() / n, points.clone().map(|(_, y)| y).sum::<f64>() / n);
    let offsets = points.map(|(x, y)| (x - mean_x, y - mean_y));
    let sxx: f64 = offsets.clone().map(|(x, _)| x * x).sum();
    if sxx <= 0.0 {
        return None;
    }
    let slope = offsets.clone().map(|(x, y)| x * y).sum::<f64>() / sxx;
    let rest: f64 = offsets.map(|(x, y)| (y - slope * x) * (y - slope * x)).sum();
    let standard_error = if count > 2 { libm::sqrt(rest / (n - 2.0) / sxx) } else { f64::INFINITY };
    Some(Fit { slope, standard_error, points: count })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPACITY: Rate = Rate::from_kbps(2000);
    const PACKET: Bytes = Bytes::new(1200);

    fn verdict(reading: Reading, points: &[(f64, f64)]) -> Verdict {
        let mut gradient = Gradient::new(Config { reading, min_frames: 4, significance: 0.0, ..Config::default() });
        for (kilobits, millis) in points {
            let in_flight = Bytes::new((kilobits * 125.0) as u64);
            gradient.add(Time::from_millis(10), in_flight, Span::from_millis_f64(*millis));
        }
        gradient.judge(Time::from_millis(10), CAPACITY, PACKET)
    }

    #[test]
    fn the_three_slopes_of_the_worked_example_come_out() {
        // specs/camel.md 9, example 3: C = 2 Mbps, RTprop = 25 ms.
        let over = verdict(Reading::Global, &[(30.0, 25.0), (40.0, 25.0), (60.0, 30.0), (70.0, 35.0)]);
        assert!((over.slope - 0.5).abs() < 1e-9 && over.congested, "{over:?}");
        let under = verdict(Reading::Global, &[(20.0, 25.0), (30.0, 25.0), (40.0, 25.0), (55.0, 27.5)]);
        assert!((under.slope - 0.140).abs() < 5e-4 && !under.congested, "{under:?}");
        for reading in [Reading::Global, Reading::Local, Reading::LocalThenGlobal] {
            let full = verdict(reading, &[(60.0, 30.0), (66.0, 33.0), (70.0, 35.0), (80.0, 40.0)]);
            assert!((full.slope - 1.0).abs() < 1e-9 && full.congested, "{full:?}");
        }
    }

    #[test]
    fn few_frames_and_frames_alike_tell_nothing() {
        let mut gradient = Gradient::new(Config::default());
        for frame in 0..7u64 {
            gradient.add(Time::from_millis(frame), Bytes::new(frame * 2000), Span::from_millis(frame as i64 * 10));
        }
        assert_eq!(gradient.judge(Time::from_millis(7), CAPACITY, PACKET), Verdict::UNKNOWN);
        let mut alike = Gradient::new(Config::default());
        for frame in 0..100u64 {
            alike.add(Time::from_millis(frame), Bytes::new(5000 + frame), Span::from_millis(frame as i64));
        }
        assert_eq!(alike.judge(Time::from_millis(100), CAPACITY, PACKET), Verdict::UNKNOWN);
    }

    #[test]
    fn frames_are_forgotten_after_five_seconds() {
        let mut gradient = Gradient::new(Config::default());
        for frame in 0..100u64 {
            gradient.add(Time::from_millis(frame), Bytes::new(frame * 250), Span::from_millis(frame as i64));
        }
        assert!(gradient.judge(Time::from_millis(5000), CAPACITY, PACKET).congested);
        assert_eq!(gradient.judge(Time::from_millis(5200), CAPACITY, PACKET), Verdict::UNKNOWN);
    }
}
