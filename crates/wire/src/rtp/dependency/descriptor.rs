//! The dependency descriptor of a packet.

use alloc::vec::Vec;

use super::structure::{Indication, Structure};
use crate::bits::{BitReader, BitWriter};
use crate::{ParseError, WriteError};

/// Size of a descriptor with only the mandatory fields.
const SHORT: usize = 3;

/// The dependency descriptor of a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DependencyDescriptor {
    /// True if this is the first packet of its frame.
    pub starts: bool,
    /// True if this is the last packet of its frame.
    pub ends: bool,
    /// The number of the frame's template, 0 to 63.
    pub template: u8,
    /// The frame number, modulo 65536.
    pub frame: u16,
    /// A new structure, valid from this frame on.
    pub structure: Option<Structure>,
    /// Bit mask of the active decode targets, the first in bit 0; all targets of a new structure are active.
    pub active_targets: Option<u32>,
    /// The frame's indication for each decode target, where it differs from the template.
    pub indications: Option<Vec<Indication>>,
    /// Distance of each reference in frames, 1 to 4096, where it differs from the template.
    pub references: Option<Vec<u16>>,
    /// Distance in frames to the last frame of each chain, where it differs from the template.
    pub chains: Option<Vec<u8>>,
}

/// The fields that can be parsed without a structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameNumber {
    /// True if this is the first packet of its frame.
    pub starts: bool,
    /// The frame number, modulo 65536.
    pub frame: u16,
}

impl FrameNumber {
    /// Parses the mandatory fields at the start of every descriptor.
    ///
    /// # Errors
    /// Fewer than three bytes.
    pub fn parse(data: &[u8]) -> Result<FrameNumber, ParseError> {
        let (starts, _, _, frame) = mandatory(&mut BitReader::new(data))?;
        Ok(FrameNumber { starts, frame })
    }
}

/// First packet, last packet, template number and frame number.
fn mandatory(reader: &mut BitReader<'_>) -> Result<(bool, bool, u8, u16), ParseError> {
    let starts = reader.flag("dependency descriptor")?;
    let ends = reader.flag("dependency descriptor")?;
    let template = reader.bits("template of a frame", 6)? as u8;
    Ok((starts, ends, template, reader.bits("number of a frame", 16)? as u16))
}

impl DependencyDescriptor {
    /// A descriptor for a frame of this template, without optional fields.
    pub fn new(template: u8, frame: u16) -> DependencyDescriptor {
        DependencyDescriptor {
            starts: true,
            ends: true,
            template,
            frame,
            structure: None,
            active_targets: None,
            indications: None,
            references: None,
            chains: None,
        }
    }

    /// Parses a descriptor of a stream whose newest structure was `latest`; ignores the padding of the last byte.
    ///
    /// # Errors
    /// A truncated descriptor; more than three bytes without a structure to parse them by; a template that is not in
    /// the structure.
    pub fn parse(data: &[u8], latest: Option<&Structure>) -> Result<DependencyDescriptor, ParseError> {
        let mut reader = BitReader::new(data);
        let (starts, ends, template, frame) = mandatory(&mut reader)?;
        let mut read = DependencyDescriptor { starts, ends, ..DependencyDescriptor::new(template, frame) };
        if data.len() == SHORT {
            latest.map_or(Ok(()), |structure| read.check_template(structure))?;
            return Ok(read);
        }
        let [structure, targets, indications, references, chains] = flags(&mut reader)?;
        read.structure = structure.then(|| Structure::read(&mut reader)).transpose()?;
        let Some(known) = read.structure.as_ref().or(latest) else {
            let what = "dependency structure before a descriptor that needs one, present";
            return Err(ParseError::OutOfRange { what, at: SHORT, found: 0, min: 1, max: 1 });
        };
        read.check_template(known)?;
        let (count, chain_count) = (known.targets, known.chains());
        if targets {
            read.active_targets = Some(reader.bits("active decode targets", count.into())?);
        }
        if indications {
            read.indications = Some((0..count).map(|_| Indication::read(&mut reader)).collect::<Result<_, _>>()?);
        }
        if references {
            read.references = Some(distances(&mut reader)?);
        }
        if chains {
            let chain = |_| reader.bits("distance to a chain", 8).map(|back| back as u8);
            read.chains = Some((0..chain_count).map(chain).collect::<Result<_, _>>()?);
        }
        Ok(read)
    }

    fn check_template(&self, structure: &Structure) -> Result<(), ParseError> {
        if structure.template(self.template).is_some() {
            return Ok(());
        }
        let (min, max) = (structure.first_template.into(), structure.templates.len() as u64 - 1);
        let what = "template of a frame, numbered round from the first";
        Err(ParseError::OutOfRange { what, at: 0, found: self.template.into(), min, max: (min + max) % 64 })
    }

    /// The distance of each reference in frames, in a stream whose newest structure was `latest`; `None` if the
    /// template is not in the structure.
    pub fn references<'a>(&'a self, latest: Option<&'a Structure>) -> Option<Vec<u16>> {
        if let Some(references) = &self.references {
            return Some(references.clone());
        }
        let template = self.structure.as_ref().or(latest)?.template(self.template)?;
        Some(template.references.iter().map(|back| u16::from(*back)).collect())
    }

    /// Serialises the descriptor, in a stream whose newest structure was `latest`.
    ///
    /// # Errors
    /// Values beyond what the format can represent; lists whose length differs from the structure's; optional fields
    /// without a structure.
    pub fn to_bytes(&self, latest: Option<&Structure>) -> Result<Vec<u8>, WriteError> {
        WriteError::check("template of a frame", self.template.into(), 0, 63)?;
        let mut out = BitWriter::default();
        out.flag(self.starts);
        out.flag(self.ends);
        out.bits(self.template.into(), 6);
        out.bits(self.frame.into(), 16);
        let more = [
            self.structure.is_some(),
            self.active_targets.is_some(),
            self.indications.is_some(),
            self.references.is_some(),
            self.chains.is_some(),
        ];
        if !more.contains(&true) {
            return Ok(out.finish());
        }
        let known = self.structure.as_ref().or(latest);
        WriteError::check("dependency structure, present", known.is_some().into(), 1, 1)?;
        let Some(known) = known else { return Ok(out.finish()) };
        more.into_iter().for_each(|flag| out.flag(flag));
        self.structure.as_ref().map_or(Ok(()), |structure| structure.write(&mut out))?;
        let length =
            |what, found: usize, wanted: usize| WriteError::check(what, found as u64, wanted as u64, wanted as u64);
        if let Some(targets) = self.active_targets {
            let max = (1u64 << known.targets) - 1;
            WriteError::check("active decode targets", targets.into(), 0, max)?;
            out.bits(targets, known.targets.into());
        }
        if let Some(indications) = &self.indications {
            length("indications of a frame", indications.len(), known.targets.into())?;
            indications.iter().for_each(|indication| indication.write(&mut out));
        }
        if let Some(references) = &self.references {
            for back in references {
                WriteError::check("reference of a frame", (*back).into(), 1, 4096)?;
                let less = u32::from(*back) - 1;
                let size = if less < 1 << 4 {
                    1
                } else if less < 1 << 8 {
                    2
                } else {
                    3
                };
                out.bits(size, 2);
                out.bits(less, 4 * size as usize);
            }
            out.bits(0, 2);
        }
        if let Some(chains) = &self.chains {
            length("chains of a frame", chains.len(), known.chains())?;
            chains.iter().for_each(|back| out.bits((*back).into(), 8));
        }
        let mut bytes = out.finish();
        // Three bytes would be parsed as a descriptor without optional fields.
        bytes.resize(bytes.len().max(SHORT + 1), 0);
        Ok(bytes)
    }
}

fn flags(reader: &mut BitReader<'_>) -> Result<[bool; 5], ParseError> {
    let mut flags = [false; 5];
    for flag in &mut flags {
        *flag = reader.flag("flags of a dependency descriptor")?;
    }
    Ok(flags)
}

/// Each distance begins with its length in units of four bits; zero ends the list.
fn distances(reader: &mut BitReader<'_>) -> Result<Vec<u16>, ParseError> {
    let mut references = Vec::new();
    loop {
        match reader.bits("length of a reference", 2)? {
            0 => return Ok(references),
            size => references.push(reader.bits("reference less one", 4 * size as usize)? as u16 + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    #[test]
    fn three_layers_with_their_keyframe_take_sixteen_bytes() {
        let structure = Structure::hierarchical(3).unwrap();
        let first = DependencyDescriptor {
            ends: false,
            structure: Some(structure.clone()),
            ..DependencyDescriptor::new(0, 0x1234)
        };
        let bytes = first.to_bytes(None).unwrap();
        // Start, template 0, number; structure only; offset 0, 3 targets; layers 0 0 1 2 2; SSS SSS -DS --D --D;
        // references none, 4, 2, 1, 1; one chain, distances 0 4 2 1 3; no resolutions.
        let expected = [
            0x80,
            0x12,
            0x34,
            0b1000_0000,
            0b0000_0010,
            0b0001_0100,
            0b1110_1010,
            0b1010_1000,
            0b0110_0000,
            0b0100_0001,
            0b0100_1101,
            0b0001_0100,
            0b0001_0000,
            0b0010_0000,
            0b1000_0100,
            0b0010_0110,
        ];
        assert_eq!(bytes, expected);
        assert_eq!(DependencyDescriptor::parse(&bytes, None), Ok(first));
        let next = DependencyDescriptor::new(3, 0x1235);
        assert_eq!(next.to_bytes(Some(&structure)).unwrap(), [0xc3, 0x12, 0x35]);
        assert_eq!(next.references(Some(&structure)), Some(vec![1]));
        assert_eq!(FrameNumber::parse(&[0xc3, 0x12, 0x35]), Ok(FrameNumber { starts: true, frame: 0x1235 }));
    }

    #[test]
    fn one_layer_of_free_references_takes_eight_bytes_with_its_keyframe_and_six_where_a_frame_names_two() {
        let structure = Structure::free();
        let first = DependencyDescriptor { structure: Some(structure.clone()), ..DependencyDescriptor::new(0, 0x1234) };
        let bytes = first.to_bytes(None).unwrap();
        // Start and end, template 0, number; structure only; offset 0, 1 target; layers 0 0; S, R; references none, 1; no
        // chain (one bit of ns(2)); no resolutions; padding.
        let expected = [0xc0, 0x12, 0x34, 0b1000_0000, 0b0000_0000, 0b0011_1011, 0b0100_0000, 0b0000_0000];
        assert_eq!(bytes, expected);
        assert_eq!(DependencyDescriptor::parse(&bytes, None), Ok(first));
        // Start and end, template 1, number; references only; 1 (size 1, 0), 19 (size 2, 18), end; padding.
        let two = DependencyDescriptor { references: Some(vec![1, 19]), ..DependencyDescriptor::new(1, 0x1235) };
        let bytes = two.to_bytes(Some(&structure)).unwrap();
        assert_eq!(bytes, [0xc1, 0x12, 0x35, 0b0001_0010, 0b0001_0000, 0b1001_0000]);
        assert_eq!(DependencyDescriptor::parse(&bytes, Some(&structure)), Ok(two));
    }

    #[test]
    fn a_frame_may_refer_to_others_than_its_template_has() {
        let structure = Structure::hierarchical(3).unwrap();
        let descriptor = DependencyDescriptor {
            references: Some(vec![1, 17, 300]),
            chains: Some(vec![200]),
            ..DependencyDescriptor::new(2, 9)
        };
        let bytes = descriptor.to_bytes(Some(&structure)).unwrap();
        assert_eq!(DependencyDescriptor::parse(&bytes, Some(&structure)), Ok(descriptor.clone()));
        assert_eq!(descriptor.references(None), Some(vec![1, 17, 300]));
    }

    #[test]
    fn what_cannot_be_understood_is_refused_with_the_reason() {
        let structure = Structure::hierarchical(2).unwrap();
        let unknown = DependencyDescriptor::parse(&[0xc3, 0, 1], Some(&structure)).unwrap_err();
        assert!(matches!(unknown, ParseError::OutOfRange { found: 3, max: 2, .. }), "{unknown}");
        let without = DependencyDescriptor::parse(&[0xc0, 0, 1, 0x10], None).unwrap_err();
        assert!(matches!(without, ParseError::OutOfRange { found: 0, at: 3, .. }), "{without}");
        for length in 0..3 {
            assert!(matches!(DependencyDescriptor::parse(&[0; 3][..length], None), Err(ParseError::Short { .. })));
        }
        // A structure whose list of layers has no end.
        assert!(DependencyDescriptor::parse(&[[0xc0, 0, 1, 0x80].as_slice(), &[0; 60]].concat(), None).is_err());
        let wrong = DependencyDescriptor { chains: Some(vec![1, 2]), ..DependencyDescriptor::new(0, 1) };
        assert!(wrong.to_bytes(Some(&structure)).is_err() && wrong.to_bytes(None).is_err());
        assert!(Structure::hierarchical(4).is_err());
    }

    #[test]
    fn a_structure_in_another_one_s_place_has_other_numbers() {
        let structure = Structure { first_template: 62, ..Structure::hierarchical(3).unwrap() };
        assert_eq!(structure.template(62).map(|template| template.references.len()), Some(0));
        assert_eq!(structure.template(2).map(|template| template.temporal), Some(2));
        assert_eq!((structure.template(3), structure.template(61)), (None, None));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused_and_what_was_read_can_be_written(
            data in prop::collection::vec(any::<u8>(), 0..80), layers in 0u8..=3,
        ) {
            let latest = Structure::hierarchical(layers).ok();
            if let Ok(read) = DependencyDescriptor::parse(&data, latest.as_ref()) {
                let bytes = read.to_bytes(latest.as_ref()).unwrap();
                prop_assert!(bytes.len() <= data.len().max(4));
                prop_assert_eq!(DependencyDescriptor::parse(&bytes, latest.as_ref()), Ok(read));
            }
        }
    }
}
