//! Which size leaves the smallest frame below its budget.
//!
//! A frame at the coarsest quantiser has a size below which it only repeats the last picture: about 1 kB at 720p
//! (codecs/src/model/mod.rs). So the picture's size goes down when even the smallest candidate does not fit, as far as
//! needed, when even the best is at the coarsest quantiser, or when pictures are taken faster than they are encoded and
//! frames are as small as they can be; and up, one step at a time, when quantisers are fine. A frame of a new size is a
//! keyframe, which is several times as large as what follows: where it does not fit, a step up is taken back before it
//! costs anything, and any other size goes down at once.

use alloc::vec;
use alloc::vec::Vec;

use thalweg_types::EncodedFrame;
use thalweg_units::{Bytes, ConfigError, Size, Span, Time, check};

use super::encoding::IN_TIME;
use crate::frames::resolution::rungs;

/// The parameters.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct LadderConfig {
    /// Heights of the rungs in pixels, smallest first; those above the camera's size are left out.
    pub heights: Vec<u16>,
    /// Down when the smallest candidate exceeds its budget by this factor, the best is at the coarsest quantiser, or encoding
    /// takes longer than the camera's interval although quantisers are not fine ...
    pub excess: f64,
    /// ... in as many pictures in a row.
    pub down_after: u32,
    /// Up when the quantiser (VP8's scale, 0..=127) is at most this ...
    pub up_quantizer: u8,
    /// ... in as many frames in a row.
    pub up_after: u32,
    /// The min time from a change to the next step up.
    pub stay: Span,
}

impl Default for LadderConfig {
    fn default() -> LadderConfig {
        LadderConfig {
            heights: vec![180, 270, 360, 540, 720, 1080],
            excess: 1.25,
            down_after: 7,
            up_quantizer: 98,
            up_after: 15,
            stay: Span::from_secs(1),
        }
    }
}

/// VP8's coarsest quantiser (RFC 6386 section 9.6).
const COARSEST: u8 = 127;
/// A choice: steps of up to 14 of 157 (RFC 6386 section 14.1), with which a picture hardly differs from the camera's.
pub(super) const FINEST: u8 = 10;
/// A step up that was taken back is tried again with the budget it lacked, or after this many times
/// [`stay`](LadderConfig::stay): content changes.
const RETRY: i64 = 10;
/// The smallest frame of a size is proportional to its pixels to about this power (between the encoder model's fits,
/// crates/codecs/src/model/content.rs).
const SIZE_EXPONENT: f64 = 0.8;
/// A size for which the encoder was too slow is tried again after this many times `stay`: the machine may have had other
/// work.
const RETRY_SLOW: i64 = 60;

impl LadderConfig {
    /// The ladder at the camera's own size.
    ///
    /// # Errors
    /// When the rungs are not ascending or a parameter is out of range.
    pub(super) fn build(&self, source: Size) -> Result<Ladder, ConfigError> {
        check("ladder.excess", self.excess).within(1.0..=10.0, "1.25")?;
        check("ladder.up_quantizer", self.up_quantizer).within(..COARSEST, "60")?;
        check("ladder", format_args!("down_after {}, up_after {}", self.down_after, self.up_after))
            .is(self.down_after != 0 && self.up_after != 0, "counts of at least 1")?;
        check("ladder.stay", self.stay).within(Span::ZERO.., "1s")?;
        let rungs = rungs(&self.heights, source)?;
        Ok(Ladder {
            level: rungs.len() - 1,
            rungs,
            config: self.clone(),
            coarse: 0,
            fine: 0,
            changed: None,
            opening: false,
            sent: None,
            budget: Bytes::ZERO,
            needed: Bytes::ZERO,
            encoding: 0.0,
            slow: None,
        })
    }
}

/// The rungs and the one in force.
#[derive(Debug, Clone)]
pub(super) struct Ladder {
    config: LadderConfig,
    rungs: Vec<Size>,
    level: usize,
    /// Pictures in a row whose smallest candidate was too large.
    coarse: u32,
    /// Frames in a row with a fine quantiser.
    fine: u32,
    changed: Option<Time>,
    /// True from the first measurement of the path until a frame of the size that it allows was sent.
    opening: bool,
    /// The level of the last frame sent.
    sent: Option<usize>,
    /// Budget of the last picture.
    budget: Bytes,
    /// The budget that the last step up lacked.
    needed: Bytes,
    /// How long a picture is encoded, as a share of the camera's interval.
    encoding: f64,
    /// When that was too long, and at which level.
    slow: Option<(Time, usize)>,
}

impl Ladder {
    /// The size in force.
    pub(super) fn size(&self) -> Size {
        self.rungs[self.level]
    }

    /// Returns true if a picture of the next size could have this quantiser's bytes.
    pub(super) fn is_fine(&self, quantizer: Option<u8>) -> bool {
        quantizer.is_some_and(|quantizer| quantizer <= self.config.up_quantizer)
    }

    /// The greatest quantiser at which a frame of this size needs no more bytes: a larger size follows on it, where there is
    /// one.
    pub(super) fn fine(&self) -> u8 {
        if self.level + 1 < self.rungs.len() { self.config.up_quantizer } else { FINEST.min(self.config.up_quantizer) }
    }

    /// The size of what the receiver shows.
    pub(super) fn shown(&self) -> Size {
        self.rungs[self.sent.unwrap_or(self.level)]
    }

    /// Returns true if the next frame has another size than the last, and so is a keyframe.
    pub(super) fn changes(&self) -> bool {
        self.sent != Some(self.level)
    }

    /// The path is measured for the first time: the largest size is tried, then the largest whose keyframe fits.
    pub(super) fn open(&mut self) {
        self.level = self.rungs.len() - 1;
        self.opening = true;
    }

    /// Pictures are encoded for this share of the camera's interval.
    pub(super) fn on_encoded(&mut self, encoding: f64) {
        self.encoding = encoding;
    }

    /// The candidates of a picture, of which the smallest should have at most `budget` bytes; with nothing under way it
    /// would be `most`.
    pub(super) fn on_candidates(&mut self, now: Time, candidates: &[EncodedFrame], budget: Bytes, most: Bytes) {
        self.budget = budget;
        let Some(smallest) = candidates.iter().min_by_key(|candidate| candidate.size) else { return };
        // A picture that was asked for before the last change.
        if smallest.picture != self.size() {
            return;
        }
        let excess_of = |budget: Bytes| smallest.size.as_f64() / budget.as_f64().max(1.0);
        let is_coarsest = candidates.iter().all(|candidate| candidate.quantizer >= Some(COARSEST));
        if smallest.keyframe && self.sent.is_some_and(|sent| sent < self.level) {
            if excess_of(budget) > 1.0 || is_coarsest {
                self.needed = smallest.size.scale(self.config.excess);
                let sent = self.sent.unwrap_or(self.level);
                let next = (sent..self.level).rev().find(|level| self.fits(*level, excess_of(budget)));
                self.change(now, next.filter(|_| self.opening).unwrap_or(sent));
            }
            return;
        }
        // A keyframe waits until it fits, if it ever does.
        let excess = excess_of(if smallest.keyframe { most } else { budget });
        let is_too_large = excess > if smallest.keyframe { 1.0 } else { self.config.excess };
        // While quantisers are fine frames become smaller instead (encoding.rs).
        let is_late = self.encoding > 1.0 && !self.is_fine(smallest.quantizer);
        self.coarse = if is_too_large || is_coarsest || is_late { self.coarse + 1 } else { 0 };
        let is_down = self.coarse >= self.config.down_after || (smallest.keyframe && is_too_large);
        if !is_down || self.level == 0 {
            return;
        }
        let fits = |level: &usize| self.fits(*level, excess) && (!is_late || self.is_encoded_in_time(*level));
        let next = (0..self.level).rev().find(fits).unwrap_or(0);
        self.needed = Bytes::ZERO;
        if is_late {
            self.slow = Some((now, self.level));
        }
        self.change(now, next);
    }

    /// Returns true if a frame that exceeds its budget by this factor would fit at that level.
    fn fits(&self, level: usize, excess: f64) -> bool {
        excess * libm::pow(self.pixels_at(level), SIZE_EXPONENT) <= 1.0
    }

    /// The pixels of that level over those of the one in force.
    fn pixels_at(&self, level: usize) -> f64 {
        self.rungs[level].pixels() as f64 / self.size().pixels() as f64
    }

    /// Returns true if pictures of that level are encoded faster than they are taken: in a time that is proportional to their
    /// pixels.
    fn is_encoded_in_time(&self, level: usize) -> bool {
        self.encoding * self.pixels_at(level) <= IN_TIME
    }

    /// A candidate was sent.
    pub(super) fn on_queued(&mut self, now: Time, encoded: &EncodedFrame) {
        self.fine = if self.is_fine(encoded.quantizer) && encoded.picture == self.size() { self.fine + 1 } else { 0 };
        self.sent = self.rungs.iter().position(|rung| *rung == encoded.picture);
        self.opening &= self.sent != Some(self.level);
        let waited = |stays: i64| self.changed.is_none_or(|changed| now - changed >= self.config.stay * stays);
        let may_rise = waited(1) && (self.budget >= self.needed || waited(RETRY));
        let is_up = self.fine >= self.config.up_after && may_rise && self.level + 1 < self.rungs.len();
        let was_slow =
            self.slow.is_some_and(|(at, level)| level <= self.level + 1 && now - at < self.config.stay * RETRY_SLOW);
        if is_up && (!was_slow || self.is_encoded_in_time(self.level + 1)) {
            self.change(now, self.level + 1);
        }
    }

    fn change(&mut self, now: Time, level: usize) {
        self.level = level;
        (self.coarse, self.fine) = (0, 0);
        self.changed = Some(now);
    }
}
