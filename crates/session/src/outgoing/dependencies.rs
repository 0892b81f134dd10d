//! Dependency descriptors of frames that do not simply refer to the one before: those of temporal layers, and those that
//! recover from pictures in long-term buffers.

use thalweg_types::Fragment;
use thalweg_wire::WriteError;
use thalweg_wire::rtp::dependency::{DependencyDescriptor, Structure, Template};

use super::labels::Planned;

/// The farthest reference that can be expressed, in frames (A.8.5: 12 bits).
const FARTHEST: u64 = 4096;

/// Describes frames in sending order. A structure applies from its keyframe to the next; before the first structure
/// there are no descriptors.
#[derive(Debug, Default)]
pub(super) struct Dependencies {
    structure: Option<Structure>,
    /// The newest frame of the base layer.
    base: Option<u64>,
    /// The newest frame, with the descriptor of its first packet without the structure.
    latest: Option<(u64, DependencyDescriptor)>,
}

impl Dependencies {
    /// Max bytes of an element with three layers: a keyframe's, with the structure. So it fits a one-byte header (RFC
    /// 8285 section 4.2: 16 bytes), which every peer takes.
    pub(super) const LONGEST: usize = 16;

    /// Returns true if packets carry descriptors.
    pub(super) fn are_said(&self) -> bool {
        self.structure.is_some()
    }

    /// The element for a fragment's packet; `None` if no structure has been sent.
    ///
    /// # Errors
    /// When there are more layers than a structure supports.
    pub(super) fn element(&mut self, fragment: &Fragment, planned: Planned) -> Result<Option<Vec<u8>>, WriteError> {
        let before = self.latest.as_ref().map(|(frame, _)| *frame);
        if before != Some(fragment.frame) {
            if fragment.keyframe {
                self.begin(planned)?;
            }
            self.describe(fragment, planned);
        }
        let Some((structure, (_, descriptor))) = self.structure.as_ref().zip(self.latest.as_ref()) else {
            return Ok(None);
        };
        let (starts, ends) = (fragment.index == 0, fragment.index + 1 == fragment.count);
        let new = (starts && fragment.keyframe).then(|| structure.clone());
        let descriptor = DependencyDescriptor { starts, ends, structure: new, ..descriptor.clone() };
        descriptor.to_bytes(Some(structure)).map(Some)
    }

    /// A keyframe begins a new structure. If it differs from the previous one, its template numbers differ too: packets
    /// that come before the keyframe's first can be read if it does not.
    fn begin(&mut self, planned: Planned) -> Result<(), WriteError> {
        let next = if planned.is_layered() { Structure::hierarchical(planned.layers)? } else { Structure::free() };
        self.structure = Some(match self.structure.take() {
            Some(same) if same.targets == next.targets => same,
            Some(before) => {
                let first_template = (before.first_template + before.templates.len() as u8) % 64;
                Structure { first_template, ..next }
            }
            None => next,
        });
        Ok(())
    }

    fn describe(&mut self, fragment: &Fragment, planned: Planned) {
        let back = |frame: u64| fragment.frame.saturating_sub(frame);
        let base = self.base.filter(|_| !fragment.keyframe);
        if fragment.keyframe || fragment.layer == 0 {
            self.base = Some(fragment.frame);
        }
        let Some(structure) = &self.structure else { return };
        let mut references: Vec<u64> = fragment.depends_on.into_iter().chain(planned.long_term).map(back).collect();
        references.retain(|back| !fragment.keyframe && (1..=FARTHEST).contains(back));
        references.sort_unstable();
        references.dedup();
        let chain = base.map_or(0, back);
        let fits = |kind: &Template| {
            let named = kind.references.iter().map(|back| u64::from(*back));
            named.eq(references.iter().copied()) && kind.chains.iter().all(|back| u64::from(*back) == chain)
        };
        let mut of_layer = (0u8..).zip(&structure.templates).filter(|(_, kind)| kind.temporal == fragment.layer);
        let last = of_layer.clone().last().map_or(0, |(index, _)| index);
        let fitting = of_layer.find(|(_, kind)| fits(kind)).map(|(index, _)| index);
        let number = (structure.first_template + fitting.unwrap_or(last)) % 64;
        let plain = DependencyDescriptor::new(number, fragment.frame as u16);
        // Frames that were left out before they were sent bring references closer than in the pattern, and a long-term
        // buffer may be of any age.
        let descriptor = if fitting.is_some() {
            plain
        } else {
            DependencyDescriptor {
                references: Some(references.iter().map(|back| *back as u16).collect()),
                chains: (structure.chains() > 0).then(|| vec![chain.min(255) as u8]),
                ..plain
            }
        };
        self.latest = Some((fragment.frame, descriptor));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fragment;
    use thalweg_sender::frames::{Basis, Buffers, EncodePlan, LongTerm};
    use thalweg_types::layers::Config;
    use thalweg_units::{Size, Span};

    /// Descriptors of the pattern's frames at these places, one packet each, numbered in sending order.
    fn described(places: &[u32]) -> Vec<Vec<u8>> {
        let pattern = Config::default().build().unwrap();
        let mut dependencies = Dependencies::default();
        let number = |place: u32| places.iter().position(|sent| *sent == place).map(|number| number as u64);
        let element = |place: &u32| {
            let mut plan = EncodePlan::new(Vec::new(), Size::HD, Span::from_millis(33));
            let depends_on = pattern.refers_to(*place).map(|place| number(place).unwrap());
            pattern.plan(*place, depends_on, &mut plan);
            let fragment = Fragment {
                picture: (*place).into(),
                keyframe: plan.keyframe,
                layer: plan.layer.number,
                depends_on,
                ..fragment(number(*place).unwrap(), (0, 1))
            };
            dependencies.element(&fragment, Planned::of(&plan, true)).unwrap().unwrap()
        };
        places.iter().map(element).collect()
    }

    #[test]
    fn a_pattern_that_is_sent_whole_takes_three_bytes_a_packet() {
        let elements = described(&[0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(elements[0].len(), Dependencies::LONGEST);
        let templates: Vec<u8> = elements.iter().map(|bytes| bytes[0] & 0x3f).collect();
        assert_eq!(templates, [0, 3, 2, 4, 1, 3, 2, 4, 1]);
        assert!(elements[1..].iter().all(|bytes| bytes.len() == 3));
    }

    #[test]
    fn where_frames_were_not_sent_the_references_say_so() {
        let elements = described(&[0, 2, 3, 4, 8, 9]);
        let structure = DependencyDescriptor::parse(&elements[0], None).unwrap().structure;
        let references: Vec<Option<Vec<u16>>> = elements
            .iter()
            .map(|bytes| {
                let read = DependencyDescriptor::parse(bytes, structure.as_ref()).unwrap();
                read.references(structure.as_ref())
            })
            .collect();
        let expected = [&[][..], &[1], &[1], &[3], &[1], &[1]];
        assert_eq!(references, expected.map(|references: &[u16]| Some(references.to_vec())));
    }

    /// A frame in one packet that refers to another, and to one in a long-term buffer.
    fn sent(dependencies: &mut Dependencies, frame: u64, depends_on: Option<u64>, long_term: Option<u64>) -> Vec<u8> {
        let buffers = Buffers {
            last: depends_on != long_term,
            long_term: long_term.map(|frame| (LongTerm(0), frame)),
            kept_in: None,
            becomes_last: true,
            sendable: true,
        };
        let plan = EncodePlan::new(Vec::new(), Size::HD, Span::from_millis(33))
            .with(|plan| plan.basis = Basis::Buffers(buffers));
        let fragment = Fragment { keyframe: depends_on.is_none(), depends_on, ..fragment(frame, (0, 1)) };
        dependencies.element(&fragment, Planned::of(&plan, true)).unwrap().unwrap()
    }

    #[test]
    fn a_frame_says_the_one_before_it_and_the_one_in_the_long_term_buffer() {
        let mut dependencies = Dependencies::default();
        let keyframe = sent(&mut dependencies, 3, None, None);
        assert_eq!(keyframe, [0xc0, 0, 3, 0x80, 0, 0x3b, 0x40, 0]);
        let structure = DependencyDescriptor::parse(&keyframe, None).unwrap().structure;
        // The keyframe is the one before and the one in the buffer: the template says that.
        assert_eq!(sent(&mut dependencies, 4, Some(3), Some(3)), [0xc1, 0, 4]);
        // Both; then a recovery from the keyframe alone, after a gap in the numbers.
        let after = [(5, Some(4), &[1u16, 2][..], 6), (9, Some(3), &[6], 5), (10, Some(9), &[1, 7], 6)];
        for (frame, depends_on, expected, length) in after {
            let bytes = sent(&mut dependencies, frame, depends_on, Some(3));
            let read = DependencyDescriptor::parse(&bytes, structure.as_ref()).unwrap();
            assert_eq!(read.references(structure.as_ref()).as_deref(), Some(expected));
            assert_eq!((read.template, read.frame, bytes.len()), (1, frame as u16, length));
        }
        // A reference that cannot be expressed is left out.
        let far = sent(&mut dependencies, 5000, Some(4999), Some(3));
        assert_eq!(far, [0xc1, 0x13, 0x88]);
        // The next keyframe has the same structure, so packets of either order can be read.
        assert_eq!(sent(&mut dependencies, 5001, None, Some(3))[3..], keyframe[3..]);
    }

    #[test]
    fn a_stream_that_turns_to_layers_numbers_its_templates_after_the_others() {
        let mut dependencies = Dependencies::default();
        sent(&mut dependencies, 0, None, None);
        let mut plan = EncodePlan::new(Vec::new(), Size::HD, Span::from_millis(33));
        Config::default().build().unwrap().plan(0, None, &mut plan);
        let bytes = dependencies.element(&fragment(1, (0, 1)), Planned::of(&plan, true)).unwrap().unwrap();
        let read = DependencyDescriptor::parse(&bytes, None).unwrap();
        assert_eq!((read.template, read.structure.unwrap().first_template), (2, 2));
        assert_eq!(bytes.len(), Dependencies::LONGEST);
    }
}
