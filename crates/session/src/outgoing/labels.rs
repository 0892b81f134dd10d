//! Properties of frames that their fragments lack, and the temporal layer information in payload descriptors, with which a
//! relay can drop frames and a receiver knows which frames it does not need.

use thalweg_sender::frames::{Basis, Buffers, EncodePlan};
use thalweg_types::Fragment;

/// Properties of a frame from its plan that its fragments lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Planned {
    /// The number of layers.
    pub(super) layers: u8,
    /// True if no frame will refer to it.
    discardable: bool,
    /// The frame in a long-term buffer that it may refer to.
    pub(super) long_term: Option<u64>,
    /// True if its packets are to say what it refers to.
    pub(super) described: bool,
}

impl Planned {
    /// The properties of a frame encoded by this plan, of a policy that names references or does not.
    pub(super) fn of(plan: &EncodePlan, described: bool) -> Planned {
        let kept = |basis| match basis {
            Basis::Buffers(Buffers { becomes_last, kept_in, .. }) => becomes_last || kept_in.is_some(),
            Basis::Latest | Basis::After(_) => true,
        };
        let long_term = match plan.basis {
            Basis::Buffers(Buffers { long_term, .. }) => long_term.map(|(_, frame)| frame),
            Basis::Latest | Basis::After(_) => None,
        };
        Planned { layers: plan.layer.count, discardable: !plan.keyframe && !kept(plan.basis), long_term, described }
    }

    /// Returns true if there are several layers.
    pub(super) fn is_layered(&self) -> bool {
        self.layers > 1
    }
}

/// The layer information in the descriptors of a frame's packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Label {
    /// The temporal layer (TID).
    pub(super) layer: u8,
    /// A running number of the frames of the base layer (TL0PICIDX).
    pub(super) base_index: u8,
    /// True if it depends only on the newest frame of the base layer, or on none (RFC 7741 section 4.2: Y).
    pub(super) base_only: bool,
    /// True if no other frame refers to it (N).
    pub(super) discardable: bool,
    /// How many frames back the frame it depends on is.
    pub(super) reference: Option<u64>,
}

/// Labels frames in sending order: only frames that leave are counted.
#[derive(Debug, Default)]
pub(super) struct Labels {
    /// The newest frame of the base layer.
    base: Option<u64>,
    base_index: u8,
    latest: Option<(u64, Label)>,
}

impl Labels {
    /// The label of a fragment's frame.
    pub(super) fn of(&mut self, fragment: &Fragment, planned: Planned) -> Label {
        if let Some((_, label)) = self.latest.filter(|(frame, _)| *frame == fragment.frame) {
            return label;
        }
        let base_only = fragment.keyframe || fragment.layer > 0 && fragment.depends_on == self.base;
        if fragment.layer == 0 {
            self.base_index = self.base_index.wrapping_add(u8::from(self.base.is_some()));
            self.base = Some(fragment.frame);
        }
        let label = Label {
            layer: fragment.layer,
            base_index: self.base_index,
            base_only,
            discardable: planned.discardable && !fragment.keyframe,
            reference: fragment.depends_on.map(|frame| fragment.frame - frame),
        };
        self.latest = Some((fragment.frame, label));
        label
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fragment;
    use thalweg_types::layers::Config;
    use thalweg_units::{Size, Span};

    #[test]
    fn frames_of_a_pattern_say_their_layer_and_what_they_depend_on() {
        let pattern = Config { group: 4, period: 8 }.build().unwrap();
        let mut labels = Labels::default();
        let mut said = Vec::new();
        for place in 0..9u32 {
            let mut plan = EncodePlan::new(Vec::new(), Size::HD, Span::from_millis(33));
            pattern.plan(place, Some(0), &mut plan);
            let depends_on = pattern.refers_to(place).map(u64::from);
            let (keyframe, layer) = (depends_on.is_none(), plan.layer.number);
            let frame = Fragment { keyframe, layer, depends_on, ..fragment(place.into(), (0, 1)) };
            let label = labels.of(&frame, Planned::of(&plan, true));
            assert_eq!(labels.of(&Fragment { index: 1, ..frame }, Planned::of(&plan, true)), label);
            said.push((label.layer, label.base_index, label.base_only, label.discardable, label.reference));
        }
        assert_eq!(
            said,
            [
                (0, 0, true, false, None),
                (2, 0, true, true, Some(1)),
                (1, 0, true, false, Some(2)),
                (2, 0, false, true, Some(1)),
                (0, 1, false, false, Some(4)),
                (2, 1, true, true, Some(1)),
                (1, 1, true, false, Some(2)),
                (2, 1, false, true, Some(1)),
                (0, 2, true, false, None),
            ]
        );
    }

    #[test]
    fn without_layers_there_is_nothing_to_say() {
        let planned = Planned::of(&EncodePlan::new(Vec::new(), Size::HD, Span::from_millis(33)), false);
        assert_eq!((planned.is_layered(), planned.discardable, planned.long_term), (false, false, None));
    }
}
