//! The loop filter level of each macroblock (RFC 6386 sections 9.4, 9.6 and 15).

use crate::state::{FilterDeltas, SegmentValues};
use crate::syntax::header::FilterHeader;
use crate::syntax::{IntraModes, LumaMode, Motion, Prediction};

/// The filter parameters of a macroblock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MacroblockFilter {
    /// Filter level, 0 (not filtered) to 63.
    pub level: u8,
    /// True if the edges between its subblocks are filtered as well.
    pub has_inner_edges: bool,
}

/// The levels of a frame's macroblocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilterLevels {
    /// By segment and by kind of prediction.
    levels: [[u8; KINDS]; 4],
}

impl FilterLevels {
    /// The levels for a frame's settings, with the values of its segments, if any, and the offsets for some
    /// macroblocks.
    #[must_use]
    pub fn new(header: &FilterHeader, segments: Option<&SegmentValues>, deltas: &FilterDeltas) -> Self {
        let of_segment = |segment| segments.map_or(header.level, |values| values.level(segment, header.level));
        let level = |base: u8, kind: usize| {
            if header.deltas.is_none() {
                return base;
            }
            // The second number of an intra macroblock without subblocks means that no mode offset is added.
            let (reference, mode) = (kind / 4, kind % 4);
            let of_mode = if kind == INTRA_WHOLE { 0 } else { deltas.modes[mode] };
            let delta = i16::from(deltas.references[reference]) + i16::from(of_mode);
            (i16::from(base) + delta).clamp(0, 63) as u8
        };
        Self { levels: std::array::from_fn(|segment| std::array::from_fn(|kind| level(of_segment(segment), kind))) }
    }

    /// The filter parameters of a macroblock, given its segment (0 to 3), its prediction, and whether any coefficients
    /// are coded.
    #[inline]
    #[must_use]
    pub fn of(&self, segment: u8, prediction: &Prediction, is_coded: bool) -> MacroblockFilter {
        MacroblockFilter {
            level: self.levels[usize::from(segment & 3)][kind(prediction)],
            has_inner_edges: is_coded || !prediction.has_y2(),
        }
    }
}

/// Number of values of [`kind`].
const KINDS: usize = 16;
/// The kind of an intra macroblock with one luma mode.
const INTRA_WHOLE: usize = 1;

/// The kind of prediction as a number: four times that of its reference (0 is its own frame) plus the index in
/// [`FilterDeltas::modes`].
fn kind(prediction: &Prediction) -> usize {
    match prediction {
        Prediction::Intra(IntraModes { luma: LumaMode::Subblocks(_), .. }) => 0,
        Prediction::Intra(_) => INTRA_WHOLE,
        Prediction::Inter { reference, motion } => {
            let mode = match motion {
                Motion::Zero => 1,
                Motion::Nearest(_) | Motion::Near(_) | Motion::New(_) => 2,
                Motion::Split(_) => 3,
            };
            (*reference as usize + 1) * 4 + mode
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::header::FilterHeader;
    use crate::syntax::{BlockMode, MotionVector, Reference, SubblockMode};

    #[test]
    fn levels_add_up_what_reference_and_mode_say() {
        let header = FilterHeader { level: 20, deltas: Some(None), ..FilterHeader::default() };
        let deltas = FilterDeltas { references: [2, 0, -2, -40], modes: [4, -3, 1, 63] };
        let levels = FilterLevels::new(&header, None, &deltas);
        let intra = |luma| Prediction::Intra(IntraModes { luma, chroma: BlockMode::Dc });
        let inter = |reference, motion| Prediction::Inter { reference, motion };
        let new = Motion::New(MotionVector::ZERO);
        for (prediction, level) in [
            (intra(LumaMode::Subblocks([SubblockMode::Dc; 16])), 26),
            (intra(LumaMode::Whole(BlockMode::Dc)), 22),
            (inter(Reference::Last, Motion::Zero), 17),
            (inter(Reference::Golden, new), 19),
            (inter(Reference::Altref, new), 0),
        ] {
            assert_eq!(levels.of(0, &prediction, false).level, level, "{prediction:?}");
        }
        let segments = SegmentValues { are_absolute: true, levels: [0, 1, 2, 60], ..SegmentValues::default() };
        let levels = FilterLevels::new(&header, Some(&segments), &deltas);
        assert_eq!(levels.of(3, &inter(Reference::Last, Motion::Zero), true).level, 57);
        let levels = FilterLevels::new(&FilterHeader { deltas: None, ..header }, Some(&segments), &deltas);
        assert_eq!(levels.of(3, &inter(Reference::Last, Motion::Zero), true).level, 60);
    }

    #[test]
    fn edges_inside_are_filtered_where_there_are_coefficients_or_several_predictions() {
        let levels = FilterLevels::new(&FilterHeader::default(), None, &FilterDeltas::default());
        let whole = Prediction::Inter { reference: Reference::Last, motion: Motion::Zero };
        let subblocks =
            Prediction::Intra(IntraModes { luma: LumaMode::Subblocks([SubblockMode::Dc; 16]), chroma: BlockMode::Dc });
        assert!(!levels.of(0, &whole, false).has_inner_edges);
        assert!(levels.of(0, &whole, true).has_inner_edges);
        assert!(levels.of(0, &subblocks, false).has_inner_edges);
    }
}
