//! How much a receiver must delay frames to show them evenly (libwebrtc `jitter_estimator.cc`,
//! `frame_delay_variation_kalman_filter.cc`): the largest frame's extra time on the path, by a line of delay variation
//! over size variation that a Kalman filter follows, and a threshold above the noise around that line.
//!
//! libwebrtc's factor for retransmissions (`WebRTC-RttMult`) is off by default and not here.

use std::collections::VecDeque;

use thalweg_units::Time;

use super::line::Line;

/// Memory per frame of averages of size (`kPhi`), and of the max of sizes (`kPsi`).
const MEAN_KEEPS: f64 = 0.97;
const MAX_KEEPS: f64 = 0.9999;
/// The mean size begins as that of these first frames (`kFramesUntilSizeFiltering`).
const FIRST_SIZES: u32 = 5;
/// Deviations beyond which a delay variation is clamped, beyond which one is an outlier, and beyond which a size is one
/// (`kNumStdDevDelayClamp`, `kNumStdDevDelayOutlier`, `kNumStdDevSizeOutlier`).
const DELAY_CLAMP: f64 = 3.5;
const DELAY_OUTLIER: f64 = 15.0;
const SIZE_OUTLIER: f64 = 3.0;
/// A frame smaller than the one before by more than this share of the max waited behind it and says nothing
/// (`kCongestionRejectionFactor`).
const SMALLER: f64 = 0.25;
/// Frames whose noise counts (`kAlphaCountMax`), at 30 a second.
const NOISE_FRAMES: u32 = 400;
/// Frames until the frame rate is trusted, and how many it is measured over (`kFrameProcessingStartupCount`).
const RATE_FRAMES: u32 = 30;
/// The noise threshold: this many deviations (`kNoiseStdDevs`, exceeded by less than 1 %) less this many ms
/// (`kNoiseStdDevOffset`), at least 1.
const NOISE_DEVIATIONS: f64 = 2.33;
const NOISE_OFFSET_MS: f64 = 30.0;
/// Bounds of the estimate (`kMinJitterEstimate`, `kMaxJitterEstimate`), and what is added for the receiver's own
/// machine (`OPERATING_SYSTEM_JITTER`).
const BOUNDS_MS: (f64, f64) = (1.0, 10_000.0);
const MACHINE_MS: f64 = 10.0;
/// Between these frame rates the estimate is scaled down to nothing (`kJitterScaleLowThreshold`,
/// `kJitterScaleHighThreshold`).
const LOW_RATES: (f64, f64) = (5.0, 10.0);
/// Max of the measured frame rate (`kMaxFramerateEstimate`).
const MAX_RATE: f64 = 200.0;

/// The estimator.
#[derive(Debug, Clone)]
pub(super) struct Jitter {
    sizes: Sizes,
    line: Line,
    noise: Noise,
    estimate_ms: f64,
}

impl Default for Jitter {
    fn default() -> Jitter {
        let line = Line::new([1.0 / 64_000.0, 0.0], [1e-4, 1e2]);
        Jitter { sizes: Sizes::default(), line, noise: Noise::default(), estimate_ms: BOUNDS_MS.0 }
    }
}

impl Jitter {
    /// A frame of this many bytes took `variation_ms` longer on the path than the one before.
    pub(super) fn update(&mut self, now: Time, variation_ms: f64, bytes: f64) {
        let Some(grown) = self.sizes.update(bytes) else { return };
        let deviation = self.noise.variance.sqrt();
        let clamp = DELAY_CLAMP * deviation + 0.5;
        let variation_ms = variation_ms.clamp(-clamp, clamp);
        let beside = variation_ms - self.line.at(grown);
        let is_large = bytes > self.sizes.mean + SIZE_OUTLIER * self.sizes.variance.sqrt();
        if beside.abs() < DELAY_OUTLIER * deviation || is_large {
            if grown > -SMALLER * self.sizes.max {
                self.noise.add(now, beside);
                follow(&mut self.line, variation_ms, grown, self.sizes.max, self.noise.variance);
            }
        } else {
            self.noise.add(now, beside.signum() * DELAY_OUTLIER * deviation);
        }
        let threshold = (NOISE_DEVIATIONS * self.noise.variance.sqrt() - NOISE_OFFSET_MS).max(1.0);
        let needed = self.line.weights[0] * (self.sizes.max - self.sizes.mean) + threshold;
        if needed >= BOUNDS_MS.0 {
            self.estimate_ms = needed.min(BOUNDS_MS.1);
        }
    }

    /// The delay that jitter needs, in ms.
    pub(super) fn estimate_ms(&self) -> f64 {
        let jitter = self.estimate_ms + MACHINE_MS;
        match self.noise.frame_rate() {
            Some(rate) => jitter * ((rate - LOW_RATES.0) / (LOW_RATES.1 - LOW_RATES.0)).clamp(0.0, 1.0),
            None => jitter,
        }
    }
}

/// Statistics of frame sizes, in bytes.
#[derive(Debug, Clone)]
struct Sizes {
    mean: f64,
    variance: f64,
    max: f64,
    previous: Option<f64>,
    first: (f64, u32),
}

impl Default for Sizes {
    fn default() -> Sizes {
        Sizes { mean: 500.0, variance: 100.0, max: 500.0, previous: None, first: (0.0, 0) }
    }
}

impl Sizes {
    /// Adds a size; returns by how much it is larger than the one before, if there is one.
    fn update(&mut self, bytes: f64) -> Option<f64> {
        let (sum, count) = &mut self.first;
        if *count < FIRST_SIZES {
            *sum += bytes;
            *count += 1;
        } else if *count == FIRST_SIZES {
            self.mean = *sum / f64::from(FIRST_SIZES);
            *count += 1;
        }
        let mean = MEAN_KEEPS * self.mean + (1.0 - MEAN_KEEPS) * bytes;
        // A keyframe does not count.
        if bytes < self.mean + 2.0 * self.variance.sqrt() {
            self.mean = mean;
        }
        self.variance = (MEAN_KEEPS * self.variance + (1.0 - MEAN_KEEPS) * (bytes - mean).powi(2)).max(1.0);
        self.max = (MAX_KEEPS * self.max).max(bytes);
        self.previous.replace(bytes).map(|previous| bytes - previous)
    }
}

/// Growth of the line's covariance with each frame.
const PROCESS_NOISE: [f64; 2] = [2.5e-10, 1e-10];
/// The least slope, in ms per byte (`kMaxBandwidth`, 8 Gbps).
const LEAST_SLOPE: f64 = 1e-6;

/// Moves the line of delay variation (ms) over size variation (bytes) towards a frame's.
fn follow(line: &mut Line, variation_ms: f64, grown: f64, max: f64, noise_variance: f64) {
    for (index, noise) in PROCESS_NOISE.into_iter().enumerate() {
        line.covariance[index][index] += noise;
    }
    // A frame of nearly the size of the one before says little about the slope. The deviation stands where the variance
    // should: libwebrtc's own.
    let noise = ((300.0 * (-grown.abs() / max).exp() + 1.0) * noise_variance.sqrt()).max(1.0);
    line.correct(grown, variation_ms - line.at(grown), noise);
    line.weights[0] = line.weights[0].max(LEAST_SLOPE);
}

/// The noise around the line, in ms.
#[derive(Debug, Clone)]
struct Noise {
    mean: f64,
    variance: f64,
    count: u32,
    updated: Option<Time>,
    /// Intervals between frames, in seconds.
    intervals: VecDeque<f64>,
}

impl Default for Noise {
    fn default() -> Noise {
        Noise { mean: 0.0, variance: 4.0, count: 1, updated: None, intervals: VecDeque::new() }
    }
}

impl Noise {
    fn frame_rate(&self) -> Option<f64> {
        let sum: f64 = self.intervals.iter().sum();
        (sum > 0.0).then(|| (self.intervals.len() as f64 / sum).min(MAX_RATE))
    }

    fn add(&mut self, now: Time, beside: f64) {
        if let Some(before) = self.updated.replace(now) {
            self.intervals.push_back((now - before).as_secs_f64());
            if self.intervals.len() > RATE_FRAMES as usize {
                self.intervals.pop_front();
            }
        }
        let mut keeps = f64::from(self.count - 1) / f64::from(self.count);
        self.count = (self.count + 1).min(NOISE_FRAMES);
        if let Some(rate) = self.frame_rate() {
            // At other frame rates the same time counts; the rate is trusted bit by bit.
            let mut scale = 30.0 / rate;
            if self.count < RATE_FRAMES {
                let trust = f64::from(self.count) / f64::from(RATE_FRAMES);
                scale = trust * scale + (1.0 - trust);
            }
            keeps = keeps.powf(scale);
        }
        let away = beside - self.mean;
        self.mean = keeps * self.mean + (1.0 - keeps) * beside;
        self.variance = (keeps * self.variance + (1.0 - keeps) * away * away).max(1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays frames 30 times a second, each with its delay variation in ms and its bytes.
    fn after(frames: impl Iterator<Item = (f64, f64)>) -> Jitter {
        let mut jitter = Jitter::default();
        for (number, (variation, bytes)) in frames.enumerate() {
            jitter.update(Time::from_nanos(number as u64 * 33_333_333), variation, bytes);
        }
        jitter
    }

    #[test]
    fn equal_frames_on_a_steady_path_need_eleven_milliseconds() {
        let jitter = after((0..600).map(|_| (0.0, 5000.0)));
        assert!((jitter.estimate_ms() - 11.0).abs() < 0.2, "{}", jitter.estimate_ms());
    }

    #[test]
    fn the_slope_is_the_time_a_byte_takes_where_noise_bounds_what_is_clamped() {
        // 2 Mbps: 4 us a byte. Every tenth frame is larger.
        let slope = |larger: f64| {
            let size = |number: u64| 5000.0 + if number.is_multiple_of(10) { larger } else { 0.0 };
            let frames = (1..4000).map(|number| ((size(number) - size(number - 1)) * 0.004, size(number)));
            after(frames).line.weights[0]
        };
        assert!((slope(500.0) - 0.004).abs() < 4e-4, "{}", slope(500.0));
        // 40 ms are beyond 3.5 deviations of the least noise (1 ms) and half a ms: clamped to 4 ms for 10 kB.
        assert!((slope(10_000.0) - 0.0004).abs() < 4e-5, "{}", slope(10_000.0));
    }

    #[test]
    fn noise_counts_beyond_thirty_milliseconds_less_than_its_99th_percentile() {
        let jitter = after((0..3000).map(|number| (if number % 2 == 0 { 40.0 } else { -40.0 }, 5000.0)));
        // Deviation 40: 2.33 x 40 - 30 and 10.
        assert!((jitter.estimate_ms() - 73.2).abs() < 4.0, "{}", jitter.estimate_ms());
    }

    #[test]
    fn frames_come_too_rarely_to_be_smoothed_at_five_a_second() {
        let mut jitter = Jitter::default();
        for number in 0..300u64 {
            jitter.update(Time::from_millis(number * 250), 0.0, 5000.0);
        }
        assert_eq!(jitter.estimate_ms(), 0.0);
    }
}
