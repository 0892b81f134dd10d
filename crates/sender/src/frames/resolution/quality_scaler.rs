//! WebRTC's resolution by quantiser (libwebrtc `modules/video_coding/utility/quality_scaler.cc`,
//! `video/adaptation/video_stream_encoder_resource_manager.cc`).
//!
//! Two exponential averages of the quantiser: a quick one that takes the size down and a slow one that takes it up. The
//! slow one's memory of ten seconds is why Chromium stays small for 11 to 22 s after a start at a low rate (measured in
//! data set chromium-gcc).

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use thalweg_types::EncodedFrame;
use thalweg_units::{ConfigError, Rate, Size, Span, Time, between, check};

use super::Signals;
use crate::event::Why;

/// Parameters, with libwebrtc's names.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct QualityScalerConfig {
    /// Up when the slow average is at most this (VP8, 0..=127: `kLowVp8QpThreshold`).
    pub low_quantizer: u8,
    /// Down when the quick average exceeds this (VP8: `kHighVp8QpThreshold`).
    pub high_quantizer: u8,
    /// Both averages are over this many of the last frames, all alike (libwebrtc before WebRTC-Video-QualityScaling: five
    /// seconds of 30 frames); `None` for the exponential ones below.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub moving: Option<usize>,
    /// Memory of the quick average per millisecond (`alpha_high` of the WebRTC-Video-QualityScaling defaults).
    pub quick_memory: f64,
    /// Memory of the slow average per millisecond (`alpha_low`).
    pub slow_memory: f64,
    /// Interval between checks until the first step down (`kMeasureMs`).
    pub period: Span,
    /// Factor on that interval after the first step down (`kSamplePeriodScaleFactor`).
    pub period_factor: f64,
    /// A check needs this many frames since the last step (`kMinFramesNeededToScale`).
    pub min_frames: u32,
    /// Also down when the encoder dropped at least this share of frames (`kFramedropPercentThreshold`).
    pub drop_share: f64,
    /// Min pixels per frame (`kMinPixelsPerFrame`).
    pub min_pixels: u64,
    /// Below this start rate a call begins at 320x240 pixels or fewer (`MaximumFrameSizeForBitrate`).
    pub start_rate_qvga: Rate,
    /// Below this start rate a call begins at 640x480 pixels or fewer.
    pub start_rate_vga: Rate,
}

impl Default for QualityScalerConfig {
    fn default() -> QualityScalerConfig {
        QualityScalerConfig {
            low_quantizer: 29,
            high_quantizer: 95,
            moving: None,
            quick_memory: 0.9995,
            slow_memory: 0.9999,
            period: Span::from_secs(2),
            period_factor: 2.5,
            min_frames: 60,
            drop_share: 0.6,
            min_pixels: 320 * 180,
            start_rate_qvga: Rate::from_kbps(300),
            start_rate_vga: Rate::from_kbps(500),
        }
    }
}

impl QualityScalerConfig {
    /// Builds a scaler at the camera's size; its first signal decides at what size the call begins.
    ///
    /// # Errors
    /// When thresholds are not low < high, or a memory is not within 0..1.
    pub fn build(&self, source: Size) -> Result<QualityScaler, ConfigError> {
        check("quality_scaler thresholds", format_args!("{} and {}", self.low_quantizer, self.high_quantizer))
            .is(self.low_quantizer < self.high_quantizer, "low_quantizer < high_quantizer")?;
        for (name, value) in [("quick_memory", self.quick_memory), ("slow_memory", self.slow_memory)] {
            check(name, value).within(between(0.0, 1.0), "0.9995")?;
        }
        check("quality_scaler.moving", format_args!("{:?}", self.moving)).is(self.moving != Some(0), "at least 1")?;
        check(
            "quality_scaler.period",
            format_args!("{}, factor {}, {} frames", self.period, self.period_factor, self.min_frames),
        )
        .is(
            self.period > Span::ZERO && self.period_factor >= 1.0 && self.min_frames != 0,
            "positive, factor and frames at least 1",
        )?;
        // libwebrtc asks for 3/5 of the pixels and its video adapter knows steps of 3/4 and 2/3 in turn.
        let mut rungs = Vec::new();
        let mut factor = 1.0;
        while rungs.is_empty() || source.scale(factor).pixels() >= self.min_pixels {
            rungs.push(if factor < 1.0 { source.scale(factor) } else { source });
            factor *= if rungs.len() % 2 == 1 { 0.75 } else { 2.0 / 3.0 };
        }
        Ok(QualityScaler {
            config: self.clone(),
            rungs,
            level: 0,
            started: false,
            quick: Average::new(self.moving, self.quick_memory),
            slow: Average::new(self.moving, self.slow_memory),
            frames: 0,
            dropped: 0,
            quick_start: true,
            next_check: Time::NEVER,
        })
    }
}

/// The scaler's state: sizes by level, 0 being the camera's own.
#[derive(Debug, Clone)]
pub struct QualityScaler {
    config: QualityScalerConfig,
    rungs: Vec<Size>,
    level: usize,
    started: bool,
    quick: Average,
    slow: Average,
    frames: u32,
    dropped: u32,
    quick_start: bool,
    next_check: Time,
}

impl QualityScaler {
    /// The size in force.
    pub fn size(&self) -> Size {
        self.rungs[self.level]
    }

    pub(super) fn on_camera(&mut self, signals: &Signals) -> Option<(Size, Why)> {
        if !self.started {
            self.started = true;
            self.next_check = signals.now + self.config.period;
            return self.begin(signals.target);
        }
        if signals.now < self.next_check {
            return None;
        }
        let (level, why) = self.check();
        let factor = if self.quick_start { 1.0 } else { self.config.period_factor };
        self.next_check = signals.now + self.config.period.scale(factor);
        if level == self.level {
            return None;
        }
        self.level = level;
        self.forget();
        Some((self.size(), why))
    }

    /// A call that starts at a low rate starts small (libwebrtc drops up to four pictures to get there; this scaler
    /// drops none).
    fn begin(&mut self, target: Rate) -> Option<(Size, Why)> {
        let max = if target < self.config.start_rate_qvga {
            320 * 240
        } else if target < self.config.start_rate_vga {
            640 * 480
        } else {
            return None;
        };
        let fits = self.rungs.iter().position(|size| size.pixels() <= max).unwrap_or(self.rungs.len() - 1);
        (fits != self.level).then(|| {
            self.level = fits;
            (self.size(), Why::LowStartRate)
        })
    }

    fn check(&mut self) -> (usize, Why) {
        let lowest = self.rungs.len() - 1;
        let seen = self.frames + self.dropped;
        if seen < self.config.min_frames {
            return (self.level, Why::NoSamples);
        }
        let (Some(quick), Some(slow)) = (self.quick.get(), self.slow.get()) else {
            return (self.level, Why::NoSamples);
        };
        if f64::from(self.dropped) >= self.config.drop_share * f64::from(seen) {
            self.quick_start = false;
            ((self.level + 1).min(lowest), Why::EncoderDropsFrames)
        } else if quick > f64::from(self.config.high_quantizer) {
            self.quick_start = false;
            ((self.level + 1).min(lowest), Why::QuantizerHigh)
        } else if slow <= f64::from(self.config.low_quantizer) {
            (self.level.saturating_sub(1), Why::QuantizerLow)
        } else {
            (self.level, Why::NoSamples)
        }
    }

    fn forget(&mut self) {
        self.quick = Average::new(self.config.moving, self.config.quick_memory);
        self.slow = Average::new(self.config.moving, self.config.slow_memory);
        self.frames = 0;
        self.dropped = 0;
    }

    pub(super) fn on_encoded(&mut self, now: Time, encoded: Option<&EncodedFrame>) {
        // The drop share covers about the last five seconds (libwebrtc: a window of 150 frames).
        if self.frames + self.dropped >= 150 {
            self.frames /= 2;
            self.dropped /= 2;
        }
        match encoded {
            None => self.dropped += 1,
            Some(frame) => {
                self.frames += 1;
                if let Some(quantizer) = frame.quantizer {
                    self.quick.add(now, f64::from(quantizer));
                    self.slow.add(now, f64::from(quantizer));
                }
            }
        }
    }
}

/// An average of quantisers.
#[derive(Debug, Clone)]
enum Average {
    /// It decays with time (libwebrtc `ExpFilter` fed with milliseconds): the value, and when it was last updated.
    Exponential { memory: f64, value: Option<(f64, Time)> },
    /// Average of the last frames (libwebrtc `MovingAverage`).
    Moving { most: usize, samples: VecDeque<f64> },
}

impl Average {
    fn new(moving: Option<usize>, memory: f64) -> Average {
        match moving {
            Some(most) => Average::Moving { most, samples: VecDeque::new() },
            None => Average::Exponential { memory, value: None },
        }
    }

    fn get(&self) -> Option<f64> {
        match self {
            Average::Exponential { value, .. } => value.map(|(value, _)| value),
            Average::Moving { samples, .. } => {
                (!samples.is_empty()).then(|| samples.iter().sum::<f64>() / samples.len() as f64)
            }
        }
    }

    fn add(&mut self, now: Time, sample: f64) {
        match self {
            Average::Exponential { memory, value } => {
                let updated = value.map_or(sample, |(value, at)| {
                    let kept = libm::pow(*memory, (now - at).as_millis_f64());
                    kept * value + (1.0 - kept) * sample
                });
                *value = Some((updated, now));
            }
            Average::Moving { most, samples } => {
                if samples.len() >= *most {
                    samples.pop_front();
                }
                samples.push_back(sample);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::encoded;

    fn run(
        scaler: &mut QualityScaler,
        from: u64,
        seconds: u64,
        quantizer: impl Fn(u64) -> Option<u8>,
    ) -> Vec<(f64, u16, Why)> {
        let mut changes = Vec::new();
        for frame in from * 30..(from + seconds) * 30 {
            let now = Time::from_nanos(frame * 33_333_333);
            let target = Rate::from_kbps(300);
            let interval = Span::from_nanos(33_333_333);
            if let Some((size, why)) = scaler.on_camera(&Signals { now, outage: false, alpha: 1.0, target, interval }) {
                changes.push((now.as_secs_f64(), size.height, why));
            }
            let quantizer = quantizer(frame);
            let encoded = quantizer.map(|_| {
                encoded(1000).with(|frame| {
                    frame.quantizer = quantizer;
                    frame.picture = scaler.size();
                })
            });
            scaler.on_encoded(now, encoded.as_ref());
        }
        changes
    }

    #[test]
    fn a_720p_camera_steps_by_three_quarters_and_two_thirds_in_turn() {
        let scaler = QualityScalerConfig::default().build(Size::HD).unwrap();
        let heights: Vec<u16> = scaler.rungs.iter().map(|size| size.height).collect();
        assert_eq!(heights, [720, 540, 360, 270, 180]);
    }

    #[test]
    fn a_call_at_300_kbps_begins_at_360_lines_as_chromium_does() {
        let mut scaler = QualityScalerConfig::default().build(Size::HD).unwrap();
        assert_eq!(run(&mut scaler, 0, 1, |_| Some(60)), [(0.0, 360, Why::LowStartRate)]);
    }

    #[test]
    fn a_coarse_quantiser_takes_the_size_down_after_about_five_seconds() {
        let mut scaler = QualityScalerConfig::default().build(Size::HD).unwrap();
        run(&mut scaler, 0, 20, |_| Some(60));
        let changes = run(&mut scaler, 20, 8, |_| Some(106));
        assert_eq!((changes[0].1, changes[0].2), (270, Why::QuantizerHigh));
        // Seconds 40 to 46 of Chromium in per2.csv.
        assert!((22.0..26.5).contains(&changes[0].0), "{changes:?}");
    }

    #[test]
    fn a_fine_quantiser_takes_the_size_up_only_once_the_coarse_start_is_forgotten() {
        let mut scaler = QualityScalerConfig::default().build(Size::HD).unwrap();
        // c12_max12.csv: small at the start, quantiser near 3 at once, up in seconds 12, 14 and 16.
        let changes = run(&mut scaler, 0, 20, |frame| Some(if frame < 10 { 100 } else { 4 }));
        let ups: Vec<_> = changes.iter().filter(|change| change.2 == Why::QuantizerLow).collect();
        assert!((10.0..16.5).contains(&ups[0].0), "{changes:?}");
        assert!((1.9..2.2).contains(&(ups[1].0 - ups[0].0)), "{changes:?}");
    }

    #[test]
    fn with_a_moving_average_a_coarse_start_is_forgotten_after_as_many_frames() {
        let config = QualityScalerConfig { moving: Some(150), ..QualityScalerConfig::default() };
        let mut scaler = config.build(Size::HD).unwrap();
        // At 4 s the average of 120 frames is 44; at 6 s the first 30 are no longer among the last 150.
        let changes = run(&mut scaler, 0, 7, |frame| Some(if frame < 30 { 127 } else { 16 }));
        let up = changes.iter().find(|change| change.2 == Why::QuantizerLow).unwrap();
        assert!((5.9..6.1).contains(&up.0), "{changes:?}");
    }

    #[test]
    fn an_encoder_that_drops_most_frames_takes_the_size_down() {
        let mut scaler = QualityScalerConfig::default().build(Size::HD).unwrap();
        let changes = run(&mut scaler, 0, 8, |frame| (frame % 3 == 0).then_some(80));
        assert!(changes.iter().any(|change| change.2 == Why::EncoderDropsFrames), "{changes:?}");
    }
}
