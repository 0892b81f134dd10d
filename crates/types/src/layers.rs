//! Hierarchical-P: temporal layers in a pattern that is the same in every group of pictures, so that some frames can be
//! dropped (after encoding, or by a relay) and the others still be decoded exactly (Rebera section IV; the three layers
//! of libwebrtc's `DefaultTemporalLayers` have the same references).
//!
//! Example: a group of four, with layers from the base up (arrows to the frame referred to):
//!
//! ```text
//! layer 2         1          3           5          7
//! layer 1         |    2 <---'           |    6 <---'
//! layer 0    0 <--'<---'<-----------4 <--'<---'<---------- 8
//! ```
//!
//! A frame is identified by its place in the intra period, which begins with a keyframe at place 0. In a standard
//! decoder's buffers the base layer is the last frame, layer 1 is kept in long-term buffer 0, and frames at odd places
//! are not kept.

use core::ops::Range;

use thalweg_units::{ConfigError, check};

use crate::plan::{Basis, Buffers, EncodePlan, Layer, LongTerm};

/// The buffer that holds layer 1.
const LAYER_1: LongTerm = LongTerm(0);

/// Max intra period: 65,536 pictures, 36 minutes at 30 fps.
const LONGEST: u32 = 1 << 16;

/// The configuration; the defaults are the paper's (Rebera section V-B: N = 32 at G = 4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// G: pictures in a group, 1, 2 or 4, for one, two or three layers.
    pub group: u32,
    /// N: pictures from keyframe to keyframe, a multiple of the group, at most 65,536.
    pub period: u32,
}

impl Default for Config {
    fn default() -> Config {
        Config { group: 4, period: 32 }
    }
}

impl Config {
    /// Builds the pattern.
    ///
    /// # Errors
    /// When the group has another size, or the period is not a multiple of the group.
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

/// The layer and reference of each picture of an intra period. Places wrap around: after the last of a period comes the
/// first of the next.
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

    /// The number of layers: 1 to 3.
    pub fn layers(&self) -> u8 {
        self.group.trailing_zeros() as u8 + 1
    }

    /// How many pictures back the frame at `place` refers: a group for the base layer, otherwise the largest power of
    /// two that divides the place.
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

    /// Returns true if the frame at `place` begins an intra period.
    pub fn is_keyframe(&self, place: u32) -> bool {
        place.is_multiple_of(self.period)
    }

    /// The place of the frame that the one at `place` refers to; `None` for the keyframe.
    pub fn refers_to(&self, place: u32) -> Option<u32> {
        (!self.is_keyframe(place)).then(|| place - self.step(place))
    }

    /// The places of the frames that cannot be decoded without the one at `place`: for the base layer all later ones of
    /// the period, otherwise those before the next frame of its layer or a lower one.
    pub fn closure(&self, place: u32) -> Range<u32> {
        let end = if place.is_multiple_of(self.group) {
            (place / self.period + 1) * self.period
        } else {
            place + self.step(place)
        };
        place + 1..end
    }

    /// References of the frame at `place` and the buffers that keep it, in a standard decoder. `reference` is the
    /// number of the frame sent at [`Pattern::refers_to`], or `None` if that was not sent: then this frame can be
    /// encoded, to learn its size, but not sent ([`Buffers::sendable`]). For a keyframe the basis has no effect;
    /// without layers it is [`Basis::Latest`].
    pub fn basis(&self, place: u32, reference: Option<u64>) -> Basis {
        let layer = self.layer(place);
        if layer.count == 1 || self.is_keyframe(place) {
            return Basis::Latest;
        }
        // At the odd place after a layer 1 frame, that frame is the reference; at all other places it is the base
        // layer.
        let from_layer_1 = self.refers_to(place).is_some_and(|place| self.layer(place).number > 0);
        Basis::Buffers(Buffers {
            last: !from_layer_1,
            long_term: from_layer_1.then_some((LAYER_1, reference.unwrap_or(u64::MAX))),
            kept_in: (layer.number > 0 && layer.number + 1 < layer.count).then_some(LAYER_1),
            becomes_last: layer.number == 0,
            sendable: reference.is_some(),
        })
    }

    /// Sets the properties of the frame at `place` in `plan`: its layer, its basis (see [`Pattern::basis`]), and
    /// whether it is a keyframe.
    pub fn plan(&self, place: u32, reference: Option<u64>, plan: &mut EncodePlan) {
        plan.layer = self.layer(place);
        plan.basis = self.basis(place, reference);
        plan.keyframe |= self.is_keyframe(place);
    }
}

#[cfg(test)]
mod tests;
