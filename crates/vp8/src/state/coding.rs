//! From one state through a frame to the next.

use std::sync::Arc;

use super::{FilterDeltas, References, SegmentMap, SegmentValues, State};
use crate::image::{Image, Size};
use crate::syntax::header::{DeltaUpdates, FrameKind, ReferenceUpdate, Scaling};
use crate::syntax::{Corrupt, FrameHeader, Probabilities};

/// The values in effect while the macroblocks of a frame are coded: a state as modified by the frame's header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coding {
    /// The frame's size.
    pub size: Size,
    /// How a player is to enlarge the frame.
    pub scaling: Scaling,
    /// All probabilities.
    pub probabilities: Probabilities,
    /// The values of the segments; meaningless if the frame has no segments.
    pub segment_values: SegmentValues,
    /// The segment of each macroblock. If the frame codes a new map, it must be stored here before the [next
    /// state](State::after) is made.
    pub segments: SegmentMap,
    /// Offsets of loop filter levels, if the frame uses them.
    pub filter_deltas: FilterDeltas,
    /// The probabilities to restore after the frame if it does not keep its own.
    before: Probabilities,
}

impl State {
    /// The values in effect while the macroblocks of a frame with this header are coded.
    ///
    /// # Errors
    /// When the frame is an inter frame and there are no references.
    pub fn before(&self, header: &FrameHeader) -> Result<Coding, Corrupt> {
        let mut coding = match &header.kind {
            FrameKind::Key(key) => Coding {
                size: key.size,
                scaling: key.scaling,
                probabilities: Probabilities::default(),
                segment_values: SegmentValues::default(),
                segments: SegmentMap::default(),
                filter_deltas: FilterDeltas::default(),
                before: Probabilities::default(),
            },
            FrameKind::Inter(_) => {
                let references = self.references.as_ref().ok_or(Corrupt::NoKeyFrame)?;
                Coding {
                    size: references.size,
                    scaling: references.scaling,
                    probabilities: self.probabilities.clone(),
                    segment_values: self.segment_values,
                    segments: self.segments.clone(),
                    filter_deltas: self.filter_deltas,
                    before: self.probabilities.clone(),
                }
            }
        };
        coding.change(header);
        Ok(coding)
    }

    /// The state after a frame with this header that was coded with `coding`; `image` is its reconstructed (and
    /// filtered) picture.
    #[must_use]
    pub fn after(&self, header: &FrameHeader, coding: Coding, image: Arc<Image>) -> Self {
        let references = match (&header.kind, &self.references) {
            (FrameKind::Inter(inter), Some(before)) => {
                let altref = match inter.altref {
                    ReferenceUpdate::Last => &before.last,
                    ReferenceUpdate::Other => &before.golden,
                    ReferenceUpdate::Keep | ReferenceUpdate::ThisFrame => &before.altref,
                };
                // As in libvpx the golden frame is replaced after the altref frame, and a copy of altref is a copy of
                // the new one.
                let golden = match inter.golden {
                    ReferenceUpdate::Last => &before.last,
                    ReferenceUpdate::Other => altref,
                    ReferenceUpdate::Keep | ReferenceUpdate::ThisFrame => &before.golden,
                };
                let or_this = |replaced: bool, other: &Arc<Image>| Arc::clone(if replaced { &image } else { other });
                References {
                    size: coding.size,
                    scaling: coding.scaling,
                    last: or_this(inter.refreshes_last, &before.last),
                    golden: or_this(inter.golden == ReferenceUpdate::ThisFrame, golden),
                    altref: or_this(inter.altref == ReferenceUpdate::ThisFrame, altref),
                }
            }
            _ => References {
                size: coding.size,
                scaling: coding.scaling,
                last: Arc::clone(&image),
                golden: Arc::clone(&image),
                altref: image,
            },
        };
        Self {
            references: Some(references),
            probabilities: if header.keeps_probabilities { coding.probabilities } else { coding.before },
            segment_values: coding.segment_values,
            segments: coding.segments,
            filter_deltas: coding.filter_deltas,
        }
    }
}

impl Coding {
    /// Applies the header's changes.
    fn change(&mut self, header: &FrameHeader) {
        if let Some(values) = header.segmentation.and_then(|segmentation| segmentation.values) {
            self.segment_values = values.into();
        }
        if let Some(Some(DeltaUpdates { references, modes })) = header.filter.deltas {
            let updated = |old: [i8; 4], new: [Option<i8>; 4]| std::array::from_fn(|i| new[i].unwrap_or(old[i]));
            self.filter_deltas.references = updated(self.filter_deltas.references, references);
            self.filter_deltas.modes = updated(self.filter_deltas.modes, modes);
        }
        header.coefficients.apply(&mut self.probabilities.coefficients);
        if let FrameKind::Inter(inter) = &header.kind {
            self.probabilities.luma_modes = inter.luma_modes.unwrap_or(self.probabilities.luma_modes);
            self.probabilities.chroma_modes = inter.chroma_modes.unwrap_or(self.probabilities.chroma_modes);
            inter.vectors.apply(&mut self.probabilities.vectors);
        }
    }
}
