//! Vidaptive's headroom factor alpha: the share of the CC-Rate to aim the encoder at, chosen by hindsight
//! (specs/vidaptive.md 7).

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use thalweg_units::{ConfigError, Span, Time, between, check};

use crate::event::Why;

/// Parameters of the optimiser, by the paper's symbols.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// T: how long a sent frame counts.
    pub window: Span,
    /// tau: the longest service time at which a frame keeps the frame rate.
    pub pause_threshold: Span,
    /// lambda: weight of the frame rate against the bit rate, 0..1.
    pub lambda: f64,
    /// alpha_min.
    pub min: f64,
    /// alpha_max.
    pub max: f64,
    /// alpha before the first optimisation (specs/vidaptive.md C12).
    pub initial: f64,
    /// Decrease of alpha per camera frame in an outage.
    pub outage_step: f64,
    /// At this many frames per second or fewer the path counts as in an outage.
    pub min_frame_rate: f64,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            window: Span::from_secs(1),
            pause_threshold: Span::from_millis(33),
            lambda: 0.5,
            min: 0.05,
            max: 1.0,
            initial: 1.0,
            outage_step: 0.15,
            min_frame_rate: 5.0,
        }
    }
}

impl Config {
    /// An optimiser.
    ///
    /// # Errors
    /// When lambda is not inside 0..1, or the bounds of alpha are not 0 < min <= initial <= max.
    pub fn build(self) -> Result<Headroom, ConfigError> {
        check("headroom.lambda", self.lambda).within(between(0.0, 1.0), "0.5")?;
        check("headroom", format_args!("min {}, initial {}, max {}", self.min, self.initial, self.max)).is(
            self.min > 0.0 && self.min <= self.initial && self.initial <= self.max && self.max.is_finite(),
            "0 < min <= initial <= max",
        )?;
        check("headroom", format_args!("window {}, pause_threshold {}", self.window, self.pause_threshold))
            .is(self.window > Span::ZERO && self.pause_threshold > Span::ZERO, "both longer than 0")?;
        Ok(Headroom {
            alpha: self.initial,
            config: self,
            samples: VecDeque::new(),
            first_frame: None,
            ranked: Vec::new(),
        })
    }
}

/// A sent frame: when, and what its service time would have been at alpha = 1 (k_i = d_i / alpha_i).
#[derive(Debug, Clone, Copy)]
struct Sample {
    at: Time,
    unit_delay: f64,
}

/// The optimiser: samples of sent frames and the alpha in force.
#[derive(Debug, Clone)]
pub struct Headroom {
    config: Config,
    alpha: f64,
    samples: VecDeque<Sample>,
    first_frame: Option<Time>,
    ranked: Vec<f64>,
}

impl Headroom {
    /// The alpha in force.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Frames sent within the window, as of the last [`Headroom::update`].
    pub fn samples(&self) -> usize {
        self.samples.len()
    }

    /// Returns true if so few frames get through that the path must be in an outage (the paper's N/T <= MinFrameRate),
    /// once a whole window has passed since the first encoded frame (specs/vidaptive.md C11).
    pub fn outage(&self, now: Time) -> bool {
        let warm = self.first_frame.is_some_and(|first| now - first >= self.config.window);
        warm && self.samples.len() as f64 / self.config.window.as_secs_f64() <= self.config.min_frame_rate
    }

    /// A frame was encoded; the first starts the warm-up.
    pub fn on_encoded(&mut self, now: Time) {
        self.first_frame.get_or_insert(now);
    }

    /// A frame encoded under `alpha` took `delay` from the queueing of its first packet to the departure of its last.
    pub fn on_frame_sent(&mut self, now: Time, delay: Span, alpha: f64) {
        self.samples.push_back(Sample { at: now, unit_delay: delay.as_secs_f64() / alpha });
    }

    /// Updates alpha; called once per camera frame, paused or not (specs/vidaptive.md C13).
    pub fn update(&mut self, now: Time, interval: Span) -> (f64, Why) {
        while self.samples.front().is_some_and(|sample| sample.at + self.config.window <= now) {
            self.samples.pop_front();
        }
        let (alpha, why) = if self.outage(now) {
            ((self.alpha - self.config.outage_step).max(self.config.min), Why::FewFramesSent)
        } else if self.samples.is_empty() {
            (self.alpha, Why::NoSamples)
        } else {
            let unit_delays = self.samples.iter().map(|sample| sample.unit_delay);
            (best_alpha(&self.config, interval, unit_delays, &mut self.ranked), Why::Hindsight)
        };
        self.alpha = alpha;
        (alpha, why)
    }
}

/// Algorithm 1, corrected: the alpha that would have served the sampled frames best. Between two candidates the
/// frame-rate score is constant and the bitrate score does not fall, so only the largest alpha that still passes each
/// sample counts.
fn best_alpha(config: &Config, interval: Span, unit_delays: impl Iterator<Item = f64>, ranked: &mut Vec<f64>) -> f64 {
    ranked.clear();
    ranked.extend(unit_delays);
    ranked.sort_by(f64::total_cmp);
    let threshold = config.pause_threshold.as_secs_f64();
    let sum: f64 = ranked.iter().sum();
    let objective = |alpha: f64| {
        let count = ranked.len() as f64;
        let passing = ranked.partition_point(|unit| alpha * unit <= threshold + 1e-12) as f64 / count;
        let bitrate = (alpha * sum / (count * interval.as_secs_f64())).min(1.0);
        config.lambda / (1.0 - config.lambda) * passing + bitrate
    };
    let candidates = ranked
        .iter()
        .filter(|unit| threshold / config.max < **unit && **unit <= threshold / config.min)
        .map(|unit| threshold / unit);
    let mut best = (config.max, objective(config.max));
    for alpha in candidates {
        let score = objective(alpha);
        // Strictly better: a tie keeps the larger alpha.
        if score > best.1 {
            best = (alpha, score);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const INTERVAL: Span = Span::from_nanos(33_333_333);

    fn alpha(lambda: f64, delays_ms: &[i64], alpha_i: f64) -> f64 {
        let mut headroom = Config { lambda, ..Config::default() }.build().unwrap();
        headroom.on_encoded(Time::ZERO);
        for delay in delays_ms {
            headroom.on_frame_sent(Time::from_millis(500), Span::from_millis(*delay), alpha_i);
        }
        headroom.update(Time::from_millis(1000), INTERVAL).0
    }

    const MIXED: [i64; 8] = [10, 20, 30, 40, 50, 15, 25, 66];

    #[test]
    fn a_low_lambda_keeps_the_whole_rate_and_a_high_one_buys_frame_rate() {
        assert_eq!(alpha(0.5, &MIXED, 1.0), 1.0);
        assert_eq!(alpha(0.2, &MIXED, 1.0), 1.0);
        assert!((alpha(0.7, &MIXED, 1.0) - 0.5).abs() < 1e-9);
        assert!((alpha(0.9, &MIXED, 1.0) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn the_objective_of_the_worked_example_comes_out() {
        let mut ranked = Vec::new();
        let config = Config::default();
        let unit = MIXED.map(|ms| ms as f64 / 1000.0);
        best_alpha(&config, INTERVAL, unit.into_iter(), &mut ranked);
        let score = |alpha: f64| {
            let passing = unit.iter().filter(|k| alpha * **k <= 0.033 + 1e-12).count() as f64 / 8.0;
            passing + (alpha * unit.iter().sum::<f64>() / (8.0 * INTERVAL.as_secs_f64())).min(1.0)
        };
        for (alpha, expected) in [(1.0, 1.5850), (0.825, 1.5420), (0.66, 1.5086), (0.5, 1.4800)] {
            assert!((score(alpha) - expected).abs() < 1e-4, "{alpha}: {}", score(alpha));
        }
    }

    #[test]
    fn samples_count_as_if_they_had_been_encoded_at_the_whole_rate() {
        let mut delays = [20; 10];
        delays[9] = 100;
        assert_eq!(alpha(0.5, &delays, 0.8), 1.0);
    }

    #[test]
    fn five_frames_in_a_second_are_an_outage_and_six_are_not() {
        let mut headroom = Config { initial: 0.6, ..Config::default() }.build().unwrap();
        headroom.on_encoded(Time::ZERO);
        for _ in 0..5 {
            headroom.on_frame_sent(Time::from_millis(600), Span::from_millis(10), 0.6);
        }
        let (alpha, why) = headroom.update(Time::from_millis(1000), INTERVAL);
        assert!((alpha - 0.45).abs() < 1e-9);
        assert_eq!(why, Why::FewFramesSent);
        headroom.on_frame_sent(Time::from_millis(1001), Span::from_millis(10), 0.45);
        assert_eq!(headroom.update(Time::from_millis(1033), INTERVAL).1, Why::Hindsight);
    }

    #[test]
    fn a_total_outage_takes_seven_frames_to_the_floor() {
        let mut headroom = Config::default().build().unwrap();
        headroom.on_encoded(Time::ZERO);
        let mut alphas = Vec::new();
        for frame in 0..8 {
            alphas.push(headroom.update(Time::from_millis(1000 + 33 * frame), INTERVAL).0);
        }
        for (got, expected) in alphas.iter().zip([0.85, 0.70, 0.55, 0.40, 0.25, 0.10, 0.05, 0.05]) {
            assert!((got - expected).abs() < 1e-9, "{alphas:?}");
        }
    }

    #[test]
    fn the_first_second_of_a_call_is_no_outage() {
        let mut headroom = Config::default().build().unwrap();
        headroom.on_encoded(Time::from_millis(10));
        assert_eq!(headroom.update(Time::from_millis(1009), INTERVAL), (1.0, Why::NoSamples));
        assert!(headroom.update(Time::from_millis(1010), INTERVAL).0 < 1.0);
    }

    proptest! {
        #[test]
        fn no_alpha_on_a_fine_grid_beats_the_chosen_one(
            delays in proptest::collection::vec(1u32..400, 6..40),
            lambda in 0.05f64..0.95,
        ) {
            let config = Config { lambda, ..Config::default() };
            let unit: Vec<f64> = delays.iter().map(|ms| f64::from(*ms) / 1000.0).collect();
            let score = |alpha: f64| {
                let passing = unit.iter().filter(|k| alpha * **k <= 0.033 + 1e-12).count() as f64 / unit.len() as f64;
                let rate = (alpha * unit.iter().sum::<f64>() / (unit.len() as f64 * INTERVAL.as_secs_f64())).min(1.0);
                lambda / (1.0 - lambda) * passing + rate
            };
            let best = best_alpha(&config, INTERVAL, unit.iter().copied(), &mut Vec::new());
            for step in 0..=1000 {
                let alpha = 0.05 + 0.95 * f64::from(step) / 1000.0;
                prop_assert!(score(alpha) <= score(best) + 1e-9, "{} beats {}", alpha, best);
            }
        }
    }
}
