//! Hierarchical-P: temporal layers in a pattern that is the same in every group of pictures, so that some frames can be dropped
//! (after they were made, or by a relay) and the others still be decoded exactly (Rebera section IV; the three layers of
//! libwebrtc's `DefaultTemporalLayers` have the same references).
//!
//! Of a group of four, with layers from the base up (arrows to what a frame refers to):
//!
//! ```text
//! layer 2         1          3           5          7
//! layer 1         |    2 <---'           |    6 <---'
//! layer 0    0 <--'<---'<-----------4 <--'<---'<---------- 8
//! ```
//!
//! Frames are named by their place in the intra period, which begins with a keyframe at place 0. In a standard decoder's
//! buffers the base is the last frame, layer 1 is kept in the golden frame, and frames at odd places are kept nowhere.

use core::ops::Range;

use thalweg_units::{ConfigError, check};

use crate::plan::{Basis, Buffers, EncodePlan, Layer, LongTerm};

/// The buffer that layer 1 is kept in.
const LAYER_1: LongTerm = LongTerm::Golden;

/// The longest intra period: 65,536 pictures, 36 minutes at 30 a second.
const LONGEST: u32 = 1 << 16;

/// The parameters; the defaults are the paper's (Rebera section V-B: N = 32 at G = 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// Pictures in a group, G: 1, 2 or 4, for one, two or three layers.
    pub group: u32,
    /// Pictures from keyframe to keyframe, N: a multiple of the group, at most 65,536.
    pub period: u32,
}

impl Default for Config {
    fn default() -> Config {
        Config { group: 4, period: 32 }
    }
}

impl Config {
    /// The pattern.
    ///
    /// # Errors
    /// When there is no such group, or the period is not made of groups.
    pub fn build(self) -> Result<Pattern, ConfigError> {
        let Config { group, period } = self;
        check("layers.group", group).is([1, 2, 4].contains(&group), "1, 2 or 4 pictures")?;
        check("layers.period", period).is(
            period != 0 && period <= LONGEST && period.is_multiple_of(group),
            "a multiple of layers.group, at least that and at most 65536 pictures, such as 32",
        )?;
        Ok(Pattern { group, period })
    }
}

/// Which layer each picture of an intra period is in, and what it refers to. Places go round: that after the last of a period
/// is the first of the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pattern {
    group: u32,
    period: u32,
}

impl Pattern {
    /// Pictures from keyframe to keyframe.
    pub fn period(&self) -> u32 {
        self.period
    }

    /// Pictures in a group.
    pub fn group(&self) -> u32 {
        self.group
    }

    /// How many layers there are: 1 to 3.
    pub fn layers(&self) -> u8 {
        self.group.trailing_zeros() as u8 + 1
    }

    /// How far the frame that one refers to is before it, in pictures: a group for the base, and otherwise the largest power of two that
    /// divides its place.
    fn step(&self, place: u32) -> u32 {
        let within = place % self.group;
        if within == 0 { self.group } else { 1 << within.trailing_zeros() }
    }

    /// The layer of the frame at `place`.
    pub fn layer(&self, place: u32) -> Layer {
        let count = self.layers();
        let number =
            if place.is_multiple_of(self.group) { 0 } else { count - 1 - self.step(place).trailing_zeros() as u8 };
        Layer { number, count }
    }

    /// Whether the frame at `place` begins an intra period.
    pub fn is_keyframe(&self, place: u32) -> bool {
        place.is_multiple_of(self.period)
    }

    /// The place of the frame that the one at `place` refers to; `None` for the keyframe.
    pub fn refers_to(&self, place: u32) -> Option<u32> {
        (!self.is_keyframe(place)).then(|| place - self.step(place))
    }

    /// The places of the frames that cannot be decoded without the one at `place`: those after it as far as the period for the
    /// base, and otherwise as far as the next frame of its layer or one below.
    pub fn closure(&self, place: u32) -> Range<u32> {
        let end = if place.is_multiple_of(self.group) {
            (place / self.period + 1) * self.period
        } else {
            place + self.step(place)
        };
        place + 1..end
    }

    /// What the frame at `place` may refer to and where it is kept, by a standard decoder's buffers. `reference` is the number of the
    /// frame that was sent at [`Pattern::refers_to`], or `None` if that was not sent: then this one can be made, to know its size,
    /// but not be sent ([`Buffers::sendable`]). The keyframe has no use for a basis; without layers it is [`Basis::Latest`].
    pub fn basis(&self, place: u32, reference: Option<u64>) -> Basis {
        let layer = self.layer(place);
        if layer.count == 1 || self.is_keyframe(place) {
            return Basis::Latest;
        }
        // At the odd place after a frame of layer 1 that is the reference, at all others it is the base.
        let from_golden = self.refers_to(place).is_some_and(|place| self.layer(place).number > 0);
        Basis::Buffers(Buffers {
            last: !from_golden,
            long_term: from_golden.then_some((LAYER_1, reference.unwrap_or(u64::MAX))),
            kept_in: (layer.number > 0 && layer.number + 1 < layer.count).then_some(LAYER_1),
            becomes_last: layer.number == 0,
            sendable: reference.is_some(),
        })
    }

    /// Says in a plan what the frame at `place` is: its layer, its basis (as [`Pattern::basis`]), and whether it is a keyframe.
    pub fn plan(&self, place: u32, reference: Option<u64>, plan: &mut EncodePlan) {
        plan.layer = self.layer(place);
        plan.basis = self.basis(place, reference);
        plan.keyframe |= self.is_keyframe(place);
    }
}

#[cfg(test)]
mod tests;
