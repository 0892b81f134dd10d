//! The scalability structure (RFC 9628 section 4.2.1): the layers, and the references between pictures.

use alloc::vec::Vec;

use thalweg_units::Size;

use crate::reader::Reader;
use crate::{ParseError, WriteError};

/// The layers of a stream, valid until the next structure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Structure {
    /// Spatial layers, 1 to 8.
    pub spatial_layers: u8,
    /// The size of each spatial layer, lowest first, if present.
    pub sizes: Option<Vec<Size>>,
    /// The pictures of the repeating group, if present; at most 255.
    pub group: Option<Vec<GroupPicture>>,
}

/// A picture of the picture group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupPicture {
    /// Its temporal layer, 0 to 7.
    pub temporal: u8,
    /// U: switching point to higher temporal layers.
    pub switching_point: bool,
    /// Distances of its reference pictures; at most 3.
    pub references: Vec<u8>,
}

impl Structure {
    pub(super) fn parse(reader: &mut Reader<'_>) -> Result<Structure, ParseError> {
        let head = reader.u8("VP9 scalability structure")?;
        let spatial_layers = (head >> 5) + 1;
        let mut size = || Ok(Size::new(reader.u16("VP9 layer width")?, reader.u16("VP9 layer height")?));
        let sizes = (head & 0x10 != 0).then(|| (0..spatial_layers).map(|_| size()).collect()).transpose()?;
        let group = if head & 0x08 != 0 {
            let count = reader.u8("pictures of a VP9 group")?;
            Some((0..count).map(|_| GroupPicture::parse(reader)).collect::<Result<_, _>>()?)
        } else {
            None
        };
        Ok(Structure { spatial_layers, sizes, group })
    }

    /// Checks that the format can represent the structure.
    pub(super) fn check(&self) -> Result<(), WriteError> {
        let layers = u64::from(self.spatial_layers);
        WriteError::check("spatial layers of VP9", layers, 1, 8)?;
        if let Some(sizes) = &self.sizes {
            WriteError::check("sizes of VP9 layers", sizes.len() as u64, layers, layers)?;
        }
        let group = self.group.as_deref().unwrap_or_default();
        WriteError::check("pictures of a VP9 group", group.len() as u64, 0, 255)?;
        group.iter().try_for_each(|picture| {
            WriteError::check("temporal layer of VP9", picture.temporal.into(), 0, 7)?;
            WriteError::check("references of a picture of VP9", picture.references.len() as u64, 0, 3)
        })
    }

    /// Appends the structure, which must have been checked.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let said = u8::from(self.sizes.is_some()) << 4 | u8::from(self.group.is_some()) << 3;
        out.push((self.spatial_layers - 1) << 5 | said);
        for size in self.sizes.iter().flatten() {
            out.extend_from_slice(&size.width.to_be_bytes());
            out.extend_from_slice(&size.height.to_be_bytes());
        }
        if let Some(group) = &self.group {
            out.push(group.len() as u8);
            for picture in group {
                let (switch, references) = (u8::from(picture.switching_point), picture.references.len() as u8);
                out.push(picture.temporal << 5 | switch << 4 | references << 2);
                out.extend_from_slice(&picture.references);
            }
        }
    }

    /// Size in bytes.
    pub(super) fn size(&self) -> usize {
        let sizes = self.sizes.as_ref().map_or(0, |sizes| 4 * sizes.len());
        let pictures =
            |group: &Vec<GroupPicture>| group.iter().map(|picture| 1 + picture.references.len()).sum::<usize>();
        1 + sizes + self.group.as_ref().map_or(0, |group| 1 + pictures(group))
    }
}

impl GroupPicture {
    fn parse(reader: &mut Reader<'_>) -> Result<GroupPicture, ParseError> {
        let head = reader.u8("picture of a VP9 group")?;
        let references = reader.take("references of a VP9 picture", usize::from(head >> 2 & 3))?.to_vec();
        Ok(GroupPicture { temporal: head >> 5, switching_point: head & 0x10 != 0, references })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_field_has_its_place() {
        // Two spatial layers with their sizes; a group of two: the base picture, and a switching point of temporal
        // layer 1 that refers to the previous picture and the one before that.
        let structure = Structure {
            spatial_layers: 2,
            sizes: Some([Size::new(320, 180), Size::new(640, 360)].to_vec()),
            group: Some(
                [
                    GroupPicture { temporal: 0, switching_point: false, references: [2].to_vec() },
                    GroupPicture { temporal: 1, switching_point: true, references: [1, 2].to_vec() },
                ]
                .to_vec(),
            ),
        };
        let mut out = Vec::new();
        structure.write(&mut out);
        assert_eq!(out, [0x38, 1, 0x40, 0, 180, 2, 0x80, 1, 0x68, 2, 0x04, 2, 0x38, 1, 2]);
        assert_eq!(out.len(), structure.size());
        assert_eq!(Structure::parse(&mut Reader::new(&out)), Ok(structure));
        for length in 0..out.len() {
            assert!(Structure::parse(&mut Reader::new(&out[..length])).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn what_there_is_no_room_for_is_refused() {
        let one = Structure { spatial_layers: 1, sizes: None, group: None };
        let picture = GroupPicture { temporal: 0, switching_point: false, references: Vec::new() };
        assert_eq!(one.check(), Ok(()));
        for bad in [
            Structure { spatial_layers: 0, ..one.clone() },
            Structure { spatial_layers: 9, ..one.clone() },
            Structure { sizes: Some(Vec::new()), ..one.clone() },
            Structure { sizes: Some([Size::new(1, 1); 2].to_vec()), ..one.clone() },
            Structure { group: Some(alloc::vec![picture.clone(); 256]), ..one.clone() },
            Structure { group: Some([GroupPicture { temporal: 8, ..picture.clone() }].to_vec()), ..one.clone() },
            Structure {
                group: Some([GroupPicture { references: [1; 4].to_vec(), ..picture }].to_vec()),
                ..one.clone()
            },
        ] {
            assert!(bad.check().is_err(), "{bad:?}");
        }
    }

    pub(in crate::vp9) fn any_structure() -> impl Strategy<Value = Structure> {
        let picture = (0u8..8, any::<bool>(), prop::collection::vec(any::<u8>(), 0..4))
            .prop_map(|(temporal, switching_point, references)| GroupPicture { temporal, switching_point, references });
        let group = prop::option::of(prop::collection::vec(picture, 0..10));
        (1u8..=8, prop::option::of(any::<[(u16, u16); 8]>()), group).prop_map(|(spatial_layers, sizes, group)| {
            let size = |(width, height): &(u16, u16)| Size::new(*width, *height);
            let sizes = sizes.map(|sizes| sizes[..usize::from(spatial_layers)].iter().map(size).collect());
            Structure { spatial_layers, sizes, group }
        })
    }
}
