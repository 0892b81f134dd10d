//! The payload descriptor before every part of a frame (RFC 7741 section 4.2).

use alloc::vec::Vec;

use crate::reader::Reader;
use crate::{ParseError, WriteError};

/// The picture id of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureId {
    /// 7 bits, 0 to 127.
    Short(u8),
    /// 15 bits, 0 to 32767.
    Long(u16),
}

/// The payload descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Descriptor {
    /// N: no other frame refers to this one.
    pub non_reference: bool,
    /// S: a partition starts here.
    pub partition_start: bool,
    /// PID: the partition the payload's first byte belongs to, 0 to 7.
    pub partition: u8,
    /// I: the picture id.
    pub picture_id: Option<PictureId>,
    /// L: TL0PICIDX, a running number of the frames of the lowest temporal layer. RFC 7741 recommends sending the
    /// temporal layer with it.
    pub base_layer_index: Option<u8>,
    /// T: the temporal layer, 0 to 3, and Y: whether the frame refers only to frames of layer 0.
    pub temporal_layer: Option<(u8, bool)>,
    /// K: a running number of the keyframes, 0 to 31.
    pub key_frame_index: Option<u8>,
}

impl Descriptor {
    /// Parses the descriptor; returns it and the part of the frame after it, which may be empty.
    ///
    /// # Errors
    /// A truncated descriptor.
    pub fn parse(payload: &[u8]) -> Result<(Descriptor, &[u8]), ParseError> {
        let mut reader = Reader::new(payload);
        let first = reader.u8("VP8 payload descriptor")?;
        let mut descriptor = Descriptor {
            non_reference: first & 0x20 != 0,
            partition_start: first & 0x10 != 0,
            partition: first & 0x07,
            ..Descriptor::default()
        };
        if first & 0x80 != 0 {
            let flags = reader.u8("VP8 descriptor extension flags")?;
            if flags & 0x80 != 0 {
                let high = reader.u8("VP8 picture id")?;
                descriptor.picture_id = Some(if high & 0x80 == 0 {
                    PictureId::Short(high)
                } else {
                    let low = reader.u8("VP8 picture id, second byte")?;
                    PictureId::Long(u16::from(high & 0x7f) << 8 | u16::from(low))
                });
            }
            if flags & 0x40 != 0 {
                descriptor.base_layer_index = Some(reader.u8("VP8 TL0PICIDX")?);
            }
            if flags & 0x30 != 0 {
                let byte = reader.u8("VP8 temporal layer and key frame index")?;
                descriptor.temporal_layer = (flags & 0x20 != 0).then_some((byte >> 6, byte & 0x20 != 0));
                descriptor.key_frame_index = (flags & 0x10 != 0).then_some(byte & 0x1f);
            }
        }
        Ok((descriptor, reader.rest()))
    }

    /// Appends the descriptor to `out`.
    ///
    /// # Errors
    /// A partition above 7, a picture id above 127 or 32767, a layer above 3, a keyframe index above 31; `out` is then
    /// unchanged.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        WriteError::check("VP8 partition", self.partition.into(), 0, 7)?;
        match self.picture_id {
            Some(PictureId::Short(id)) => WriteError::check("7-bit VP8 picture id", id.into(), 0, 0x7f)?,
            Some(PictureId::Long(id)) => WriteError::check("15-bit VP8 picture id", id.into(), 0, 0x7fff)?,
            None => {}
        }
        let (layer, base_only) = self.temporal_layer.unwrap_or_default();
        WriteError::check("VP8 temporal layer", layer.into(), 0, 3)?;
        let key = self.key_frame_index.unwrap_or(0);
        WriteError::check("VP8 key frame index", key.into(), 0, 31)?;

        let bit = |set: bool, place: u8| u8::from(set) << place;
        let shared = self.temporal_layer.is_some() || self.key_frame_index.is_some();
        let extended = self.picture_id.is_some() || self.base_layer_index.is_some() || shared;
        out.push(bit(extended, 7) | bit(self.non_reference, 5) | bit(self.partition_start, 4) | self.partition);
        if extended {
            let (picture, base) = (self.picture_id.is_some(), self.base_layer_index.is_some());
            let (temporal, key) = (self.temporal_layer.is_some(), self.key_frame_index.is_some());
            out.push(bit(picture, 7) | bit(base, 6) | bit(temporal, 5) | bit(key, 4));
        }
        match self.picture_id {
            Some(PictureId::Short(id)) => out.push(id),
            Some(PictureId::Long(id)) => out.extend_from_slice(&(0x8000 | id).to_be_bytes()),
            None => {}
        }
        out.extend(self.base_layer_index);
        if shared {
            out.push(layer << 6 | bit(base_only, 5) | key);
        }
        Ok(())
    }

    /// Size of the descriptor in bytes, 1 to 6.
    pub fn size(&self) -> usize {
        let picture = match self.picture_id {
            None => 0,
            Some(PictureId::Short(_)) => 1,
            Some(PictureId::Long(_)) => 2,
        };
        let base = usize::from(self.base_layer_index.is_some());
        let shared = usize::from(self.temporal_layer.is_some() || self.key_frame_index.is_some());
        let optional = picture + base + shared;
        if optional == 0 { 1 } else { 2 + optional }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_15_bit_picture_id_takes_the_marked_two_bytes() {
        let descriptor =
            Descriptor { partition_start: true, picture_id: Some(PictureId::Long(0x1234)), ..Descriptor::default() };
        let mut out = Vec::new();
        descriptor.write(&mut out).unwrap();
        assert_eq!(out, [0x90, 0x80, 0x92, 0x34]);
    }

    #[test]
    fn every_optional_field_has_its_place() {
        // RFC 7741 section 4.2: X and N and S with PID 5; I, L, T and K; a 7-bit picture id; TL0PICIDX; TID 2, Y,
        // KEYIDX 3.
        let descriptor = Descriptor {
            non_reference: true,
            partition_start: true,
            partition: 5,
            picture_id: Some(PictureId::Short(0x12)),
            base_layer_index: Some(0xab),
            temporal_layer: Some((2, true)),
            key_frame_index: Some(3),
        };
        let mut out = Vec::new();
        descriptor.write(&mut out).unwrap();
        assert_eq!(out, [0xb5, 0xf0, 0x12, 0xab, 0xa3]);
        assert_eq!(Descriptor::parse(&out), Ok((descriptor, &[][..])));
        for length in 0..out.len() {
            assert!(Descriptor::parse(&out[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn reserved_bits_are_ignored() {
        let plain = Descriptor::parse(&[0x90, 0x80, 0x12, 7]).unwrap();
        assert_eq!(Descriptor::parse(&[0xd8, 0x8f, 0x12, 7]), Ok(plain));
    }

    #[test]
    fn what_the_descriptor_has_no_room_for_is_refused() {
        let none = Descriptor::default();
        for bad in [
            Descriptor { partition: 8, ..none },
            Descriptor { picture_id: Some(PictureId::Short(128)), ..none },
            Descriptor { picture_id: Some(PictureId::Long(32_768)), ..none },
            Descriptor { temporal_layer: Some((4, false)), ..none },
            Descriptor { key_frame_index: Some(32), ..none },
        ] {
            let mut out = Vec::new();
            assert!(bad.write(&mut out).is_err() && out.is_empty(), "{bad:?}");
        }
    }

    fn any_descriptor() -> impl Strategy<Value = Descriptor> {
        let picture_id = prop_oneof![
            Just(None),
            (0u8..128).prop_map(|id| Some(PictureId::Short(id))),
            (0u16..32768).prop_map(|id| Some(PictureId::Long(id))),
        ];
        let layers = (prop::option::of(any::<u8>()), prop::option::of((0u8..4, any::<bool>())));
        (any::<bool>(), any::<bool>(), 0u8..8, picture_id, layers, prop::option::of(0u8..32)).prop_map(
            |(non_reference, partition_start, partition, picture_id, layers, key_frame_index)| Descriptor {
                non_reference,
                partition_start,
                partition,
                picture_id,
                base_layer_index: layers.0,
                temporal_layer: layers.1,
                key_frame_index,
            },
        )
    }

    proptest! {
        #[test]
        fn a_descriptor_survives_being_written_and_read(descriptor in any_descriptor(), rest: Vec<u8>) {
            let mut out = Vec::new();
            descriptor.write(&mut out).unwrap();
            prop_assert_eq!(out.len(), descriptor.size());
            out.extend_from_slice(&rest);
            prop_assert_eq!(Descriptor::parse(&out), Ok((descriptor, &rest[..])));
        }
    }
}
