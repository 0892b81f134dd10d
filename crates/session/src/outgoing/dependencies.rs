//! Dependency descriptors of frames in temporal layers.

use thalweg_types::Fragment;
use thalweg_wire::WriteError;
use thalweg_wire::rtp::dependency::{DependencyDescriptor, Structure, Template};

use super::labels::Layered;

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
    /// Max bytes of an element with three layers: a keyframe's, with the structure.
    pub(super) const LONGEST: usize = 16;

    /// Returns true if packets carry descriptors.
    pub(super) fn are_said(&self) -> bool {
        self.structure.is_some()
    }

    /// The element for a fragment's packet; `None` if no structure has been sent.
    ///
    /// # Errors
    /// When there are more layers than a structure supports.
    pub(super) fn element(&mut self, fragment: &Fragment, layered: Layered) -> Result<Option<Vec<u8>>, WriteError> {
        let before = self.latest.as_ref().map(|(frame, _)| *frame);
        if before != Some(fragment.frame) {
            if fragment.keyframe {
                self.begin(layered)?;
            }
            self.describe(fragment);
        }
        let Some((structure, (_, descriptor))) = self.structure.as_ref().zip(self.latest.as_ref()) else {
            return Ok(None);
        };
        let (starts, ends) = (fragment.index == 0, fragment.index + 1 == fragment.count);
        let new = (starts && fragment.keyframe).then(|| structure.clone());
        let descriptor = DependencyDescriptor { starts, ends, structure: new, ..descriptor.clone() };
        descriptor.to_bytes(Some(structure)).map(Some)
    }

    /// A keyframe begins a new structure. If it differs from the previous one, its template numbers differ too.
    fn begin(&mut self, layered: Layered) -> Result<(), WriteError> {
        let next = Structure::hierarchical(layered.layers())?;
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

    fn describe(&mut self, fragment: &Fragment) {
        let back = |frame: Option<u64>| frame.map_or(0, |frame| fragment.frame.saturating_sub(frame));
        let base = self.base.filter(|_| !fragment.keyframe);
        if fragment.keyframe || fragment.layer == 0 {
            self.base = Some(fragment.frame);
        }
        let Some(structure) = &self.structure else { return };
        let (reference, chain) = (fragment.depends_on.map(|_| back(fragment.depends_on)), back(base));
        let fits = |kind: &Template| {
            let references = kind.references.iter().map(|back| u64::from(*back));
            references.eq(reference) && kind.chains.iter().all(|back| u64::from(*back) == chain)
        };
        let mut of_layer = (0u8..).zip(&structure.templates).filter(|(_, kind)| kind.temporal == fragment.layer);
        let first = of_layer.clone().next().map_or(0, |(index, _)| index);
        let fitting = of_layer.find(|(_, kind)| fits(kind)).map(|(index, _)| index);
        let number = (structure.first_template + fitting.unwrap_or(first)) % 64;
        let plain = DependencyDescriptor::new(number, fragment.frame as u16);
        // If frames were left out before they were sent, references are closer than in the pattern.
        let descriptor = if fitting.is_some() {
            plain
        } else {
            DependencyDescriptor {
                references: Some(reference.iter().map(|back| (*back).clamp(1, 4096) as u16).collect()),
                chains: Some(vec![chain.min(255) as u8]),
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
    use thalweg_sender::frames::EncodePlan;
    use thalweg_types::layers::Config;
    use thalweg_units::{Size, Span};

    /// Descriptors of the pattern's frames at these places, one packet each, numbered in sending order.
    fn described(places: &[u32]) -> Vec<Vec<u8>> {
        let pattern = Config::default().build().unwrap();
        let mut dependencies = Dependencies::default();
        let number = |place: u32| places.iter().position(|sent| *sent == place).map(|number| number as u64);
        let element = |place: &u32| {
            let mut plan = EncodePlan::new(Vec::new(), Size::HD, Span::from_millis(33));
            pattern.plan(*place, Some(0), &mut plan);
            let fragment = Fragment {
                picture: (*place).into(),
                keyframe: plan.keyframe,
                layer: plan.layer.number,
                depends_on: pattern.refers_to(*place).map(|place| number(place).unwrap()),
                ..fragment(number(*place).unwrap(), (0, 1))
            };
            dependencies.element(&fragment, Layered::of(&plan).unwrap()).unwrap().unwrap()
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
}
