//! Vidaptive's resolution ladder (specs/vidaptive.md 8, the corrected Algorithm 2).

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use thalweg_types::EncodedFrame;
use thalweg_units::{Bytes, ConfigError, Rate, Size, Span, Time, check};

use super::Signals;
use crate::event::Why;

/// Parameters of the ladder.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct LadderConfig {
    /// Heights of the rungs in pixels, smallest first; rungs above the camera's size are left out
    /// (specs/vidaptive.md C14: the paper shows them only in a figure).
    pub heights: Vec<u16>,
    /// Up only while the encoder produces less than this share of its target (MinEncRatio).
    pub min_encoder_ratio: f64,
    /// Up only while alpha exceeds this.
    pub up_alpha: f64,
    /// Up also while the mean quantiser of the last window is at most this (VP8's scale, 0..=127), whatever alpha is;
    /// `None` for the paper's rule alone, which at the alpha of 0.7 that variable frames lead to never goes up.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub up_quantizer: Option<u8>,
    /// Up after this many consecutive camera frames that allow it (ResUpThresh).
    pub up_after: u32,
    /// Down after this many consecutive camera frames in an outage (ResDownThresh).
    pub down_after: u32,
    /// T: the min time between changes, and the window of the encoder ratio.
    pub window: Span,
}

impl Default for LadderConfig {
    fn default() -> LadderConfig {
        LadderConfig {
            heights: vec![180, 270, 360, 540, 720, 1080],
            min_encoder_ratio: 0.9,
            up_alpha: 0.9,
            up_quantizer: None,
            up_after: 30,
            down_after: 15,
            window: Span::from_secs(1),
        }
    }
}

/// The sizes of these heights, smallest first, below the camera's own, which is the last.
///
/// # Errors
/// When the heights are not ascending.
pub(in crate::frames) fn rungs(heights: &[u16], source: Size) -> Result<Vec<Size>, ConfigError> {
    check("ladder.heights", format_args!("{heights:?}")).is(
        !heights.is_empty() && !heights.windows(2).any(|pair| pair[0] >= pair[1]) && heights[0] >= 2,
        "ascending heights, each at least 2",
    )?;
    let below = heights.iter().filter(|height| **height < source.height);
    let scaled = below.map(|height| source.scale(f64::from(*height) / f64::from(source.height)));
    Ok(scaled.chain([source]).collect())
}

impl LadderConfig {
    /// Builds the ladder at the camera's own size.
    ///
    /// # Errors
    /// When the rungs are not ascending or a count is zero.
    pub fn build(&self, source: Size) -> Result<Ladder, ConfigError> {
        check(
            "ladder",
            format_args!("up_after {}, down_after {}, window {}", self.up_after, self.down_after, self.window),
        )
        .is(
            self.up_after != 0 && self.down_after != 0 && self.window > Span::ZERO,
            "counts of at least 1 and a window longer than 0",
        )?;
        let rungs = rungs(&self.heights, source)?;
        Ok(Ladder {
            level: rungs.len() - 1,
            rungs,
            config: self.clone(),
            signal: Signal::Hold,
            count: 0,
            last_change: None,
            output: EncoderRatio::new(self.window),
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Signal {
    Hold,
    Down,
    Up,
}

/// A ladder of sizes and the current rung.
#[derive(Debug, Clone)]
pub struct Ladder {
    config: LadderConfig,
    rungs: Vec<Size>,
    level: usize,
    signal: Signal,
    count: u32,
    last_change: Option<Time>,
    output: EncoderRatio,
}

impl Ladder {
    /// The size in force.
    pub fn size(&self) -> Size {
        self.rungs[self.level]
    }

    pub(super) fn on_camera(&mut self, signals: &Signals) -> Option<(Size, Why)> {
        let ratio = self.output.ratio(signals.now);
        self.output.set_target(signals.now, signals.target, signals.interval);
        let is_fine = self.config.up_quantizer.is_some_and(|fine| self.output.quantizer() <= f64::from(fine));
        let signal = if signals.outage {
            Signal::Down
        } else if is_fine || ratio < self.config.min_encoder_ratio && signals.alpha > self.config.up_alpha {
            Signal::Up
        } else {
            Signal::Hold
        };
        self.count = match signal {
            Signal::Hold => 0,
            _ if signal == self.signal => self.count + 1,
            _ => 1,
        };
        self.signal = signal;
        if self.last_change.is_some_and(|last| signals.now - last < self.config.window) {
            return None;
        }
        let (level, why) = match signal {
            Signal::Down if self.count >= self.config.down_after => (self.level.saturating_sub(1), Why::FewFramesSent),
            Signal::Up if self.count >= self.config.up_after => {
                ((self.level + 1).min(self.rungs.len() - 1), Why::EncoderUnderuses)
            }
            _ => return None,
        };
        self.count = 0;
        if level == self.level {
            return None;
        }
        self.level = level;
        self.last_change = Some(signals.now);
        Some((self.size(), why))
    }

    pub(super) fn on_encoded(&mut self, now: Time, encoded: Option<&EncodedFrame>) {
        let quantizer = encoded.and_then(|frame| frame.quantizer);
        self.output.on_encoded(now, encoded.map_or(Bytes::ZERO, |frame| frame.size), quantizer);
    }
}

/// Encoder output over its target in the last window of running time (specs/vidaptive.md C15): each picture that was
/// encoded, or dropped by the encoder, counts the target over one camera interval, so time spent paused counts on
/// neither side.
#[derive(Debug, Clone)]
struct EncoderRatio {
    window: Span,
    frames: VecDeque<(Time, f64, f64)>,
    quantizers: VecDeque<(Time, u8)>,
    asked_per_frame: f64,
    started: Option<Time>,
}

impl EncoderRatio {
    fn new(window: Span) -> EncoderRatio {
        EncoderRatio {
            window,
            frames: VecDeque::new(),
            quantizers: VecDeque::new(),
            asked_per_frame: 0.0,
            started: None,
        }
    }

    fn set_target(&mut self, now: Time, target: Rate, interval: Span) {
        self.asked_per_frame = target.as_bps_f64() * interval.as_secs_f64();
        self.started.get_or_insert(now);
    }

    fn on_encoded(&mut self, now: Time, size: Bytes, quantizer: Option<u8>) {
        self.frames.push_back((now, size.bits() as f64, self.asked_per_frame));
        self.quantizers.extend(quantizer.map(|quantizer| (now, quantizer)));
    }

    /// The mean quantiser of the window; infinite without frames.
    fn quantizer(&self) -> f64 {
        let sum: f64 = self.quantizers.iter().map(|frame| f64::from(frame.1)).sum();
        if self.quantizers.is_empty() { f64::INFINITY } else { sum / self.quantizers.len() as f64 }
    }

    /// The ratio; 1 until a whole window has run.
    fn ratio(&mut self, now: Time) -> f64 {
        while self.frames.front().is_some_and(|frame| frame.0 + self.window <= now) {
            self.frames.pop_front();
        }
        while self.quantizers.front().is_some_and(|frame| frame.0 + self.window <= now) {
            self.quantizers.pop_front();
        }
        let asked: f64 = self.frames.iter().map(|frame| frame.2).sum();
        let warm = self.started.is_some_and(|started| now - started >= self.window);
        if !warm || asked <= 0.0 {
            return 1.0;
        }
        self.frames.iter().map(|frame| frame.1).sum::<f64>() / asked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::encoded;

    fn signals(frame: u64, outage: bool, alpha: f64) -> Signals {
        Signals {
            now: Time::from_nanos(frame * 33_333_333),
            outage,
            alpha,
            target: Rate::from_kbps(3000),
            interval: Span::from_nanos(33_333_333),
        }
    }

    #[test]
    fn a_1080p_camera_stands_on_the_ladder_of_the_spec() {
        let mut ladder = LadderConfig::default().build(Size::FULL_HD).unwrap();
        let heights: Vec<u16> = ladder.rungs.iter().map(|size| size.height).collect();
        assert_eq!(heights, [180, 270, 360, 540, 720, 1080]);
        assert_eq!(ladder.rungs[3], Size::new(960, 540));
        assert_eq!(ladder.on_camera(&signals(0, false, 1.0)), None);
    }

    #[test]
    fn fifteen_frames_of_outage_take_one_rung_and_the_next_waits_a_second() {
        let mut ladder = LadderConfig::default().build(Size::HD).unwrap();
        let changes: Vec<u64> = (0..80).filter(|i| ladder.on_camera(&signals(*i, true, 0.05)).is_some()).collect();
        // Frame number 14 is the fifteenth; a second later the count is past fifteen again.
        assert_eq!(changes, [14, 45, 76]);
        assert_eq!(ladder.size().height, 270);
    }

    #[test]
    fn thirty_frames_of_an_encoder_that_leaves_rate_unused_take_one_rung_up() {
        let mut ladder = LadderConfig::default().build(Size::HD).unwrap();
        ladder.level = 2;
        let mut changes = Vec::new();
        for i in 0..75 {
            if let Some((size, why)) = ladder.on_camera(&signals(i, false, 1.0)) {
                changes.push((i, size.height, why));
            }
            ladder.on_encoded(signals(i, false, 1.0).now, Some(&encoded(5_000)));
        }
        // The ratio is defined after a second (31 frames at 33.3 ms), then thirty consecutive frames allow the change.
        assert_eq!(changes, [(60, 540, Why::EncoderUnderuses)]);
    }

    #[test]
    fn a_fine_quantiser_takes_one_rung_up_whatever_alpha_is_where_that_is_asked_for() {
        let heights = |up_quantizer, quantizer| {
            let mut ladder = LadderConfig { up_quantizer, ..LadderConfig::default() }.build(Size::HD).unwrap();
            ladder.level = 2;
            for i in 0..45 {
                ladder.on_camera(&signals(i, false, 0.7));
                let frame = encoded(12_000).with(|frame| frame.quantizer = Some(quantizer));
                ladder.on_encoded(signals(i, false, 0.7).now, Some(&frame));
            }
            ladder.size().height
        };
        assert_eq!([heights(Some(29), 29), heights(Some(29), 30), heights(None, 29)], [540, 360, 360]);
    }

    #[test]
    fn an_encoder_that_uses_its_rate_stays_where_it_is() {
        let mut ladder = LadderConfig::default().build(Size::HD).unwrap();
        ladder.level = 2;
        for i in 0..200 {
            assert_eq!(ladder.on_camera(&signals(i, false, 1.0)), None);
            ladder.on_encoded(signals(i, false, 1.0).now, Some(&encoded(12_000)));
        }
    }
}
