//! Which part of a frame a payload is, according to the payload format.

use thalweg_wire::h264::{self, UnitKind};
use thalweg_wire::vp8::{self, PictureId};
use thalweg_wire::{ParseError, av1, vp9};

use super::config::Codec;
use super::references::{ByFrame, ByLayer, Depends};

/// Begin of a frame as far as a payload shows it, when the previous packet is not known to belong to the same frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// The payload says that it does.
    Yes,
    /// The payload says that it does not.
    No,
    /// It does if the previous packet belonged to another frame; the payload itself does not tell.
    AfterAnother,
}

/// Properties that a payload reveals before the frame is complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Glimpse {
    /// Begin of a frame, if known.
    pub(super) start: Start,
    /// The picture id, 7 or 15 bits, if present.
    pub(super) picture: Option<u16>,
    /// The frame's references, if frames are in layers.
    pub(super) depends: Option<Depends>,
}

impl Glimpse {
    fn new(starts: bool, picture: Option<PictureId>, depends: Option<Depends>) -> Glimpse {
        let picture = picture.map(|id| match id {
            PictureId::Short(id) => id.into(),
            PictureId::Long(id) => id,
        });
        Glimpse { start: if starts { Start::Yes } else { Start::No }, picture, depends }
    }

    /// H.264 has no descriptor. An access unit delimiter precedes everything else of its access unit, and parameter
    /// sets precede everything but that (ISO/IEC 14496-10 section 7.4.1.2.3); slices may follow other units.
    fn of_h264(payload: &h264::Payload<'_>) -> Glimpse {
        let first = match payload {
            h264::Payload::Single(unit) => unit.first(),
            h264::Payload::Aggregate(units) => units.first().and_then(|unit| unit.first()),
            h264::Payload::Part { header, first, .. } => first.then_some(header),
        };
        let start = match first.map(|header| UnitKind::of(*header)) {
            Some(UnitKind::Delimiter | UnitKind::SequenceParameters) => Start::Yes,
            Some(_) => Start::AfterAnother,
            None => Start::No,
        };
        Glimpse { start, picture: None, depends: None }
    }

    /// AV1 has no descriptor either: of the first packet of a coded video sequence it is known that it begins a temporal
    /// unit (RTP payload format, section 4.4). What frames refer to is in the dependency descriptor.
    fn of_av1(payload: &av1::Payload<'_>) -> Glimpse {
        let start = match payload {
            av1::Payload { new_sequence: true, .. } => Start::Yes,
            av1::Payload { continues: true, .. } => Start::No,
            _ => Start::AfterAnother,
        };
        Glimpse { start, picture: None, depends: None }
    }
}

/// TL0PICIDX, TID and Y (RFC 7741 section 4.2).
fn by_vp8(descriptor: &vp8::Descriptor) -> Option<Depends> {
    let ((layer, base_only), base) = descriptor.temporal_layer.zip(descriptor.base_layer_index)?;
    Some(Depends::Layers(ByLayer { base, layer, base_only, switching_point: false }))
}

/// P_DIFF, or TL0PICIDX, TID and U (RFC 9628 section 4.2).
fn by_vp9(descriptor: &vp9::Descriptor) -> Option<Depends> {
    match &descriptor.mode {
        vp9::Mode::Flexible { references } => {
            let (number, turn) = match descriptor.picture_id? {
                PictureId::Short(id) => (id.into(), 1 << 7),
                PictureId::Long(id) => (id.into(), 1 << 15),
            };
            let back = references.iter().map(|back| u32::from(*back)).collect();
            Some(Depends::Frames(ByFrame { number, turn, back }))
        }
        vp9::Mode::Fixed { base_layer_index } => {
            let (layer, base) = descriptor.layer.zip(*base_layer_index)?;
            let (layer, switching_point) = (layer.temporal, layer.switching_point);
            Some(Depends::Layers(ByLayer { base, layer, base_only: false, switching_point }))
        }
    }
}

/// A frame as the encoder made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Assembled {
    pub(super) data: Vec<u8>,
    pub(super) keyframe: bool,
}

impl Codec {
    /// Parses what a payload reveals about its frame.
    ///
    /// # Errors
    /// A malformed descriptor.
    pub(super) fn glimpse(self, payload: &[u8]) -> Result<Glimpse, ParseError> {
        match self {
            Codec::Vp8 => {
                let (descriptor, _) = vp8::Descriptor::parse(payload)?;
                let starts = descriptor.partition_start && descriptor.partition == 0;
                Ok(Glimpse::new(starts, descriptor.picture_id, by_vp8(&descriptor)))
            }
            Codec::Vp9 => {
                let (descriptor, _) = vp9::Descriptor::parse(payload)?;
                let lowest = descriptor.layer.is_none_or(|layer| layer.spatial == 0);
                Ok(Glimpse::new(descriptor.frame_start && lowest, descriptor.picture_id, by_vp9(&descriptor)))
            }
            Codec::H264 => Ok(Glimpse::of_h264(&h264::Payload::parse(payload)?)),
            Codec::Av1 => Ok(Glimpse::of_av1(&av1::Payload::parse(payload)?)),
        }
    }

    /// Assembles these payloads, in order, into a frame; `None` if they do not form one.
    pub(super) fn assemble<'a>(self, payloads: impl Iterator<Item = &'a [u8]>) -> Option<Assembled> {
        let data = match self {
            Codec::Vp8 => vp8::assemble(payloads).ok()?,
            Codec::H264 => h264::assemble(payloads).ok()?,
            Codec::Vp9 => vp9::assemble(payloads).ok()?,
            Codec::Av1 => av1::assemble(payloads).ok()?,
        };
        let keyframe = match self {
            Codec::Vp8 => vp8::is_keyframe(&data),
            Codec::H264 => h264::is_keyframe(&data),
            Codec::Vp9 => vp9::is_keyframe(&data),
            Codec::Av1 => av1::is_keyframe(&data),
        };
        (!data.is_empty()).then_some(Assembled { data, keyframe })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(codec: Codec, payload: &[u8]) -> Start {
        codec.glimpse(payload).unwrap().start
    }

    #[test]
    fn a_vp8_frame_begins_with_its_first_partition() {
        assert_eq!(start(Codec::Vp8, &[0x10, 1]), Start::Yes);
        assert_eq!((start(Codec::Vp8, &[0x11, 1]), start(Codec::Vp8, &[0x00, 1])), (Start::No, Start::No));
        assert_eq!(Codec::Vp8.glimpse(&[0x90, 0x80, 0x92, 0x34, 1]).unwrap().picture, Some(0x1234));
        assert!(Codec::Vp8.glimpse(&[0x80]).is_err());
    }

    #[test]
    fn a_vp9_picture_begins_with_its_lowest_layer() {
        // L and B; then the layer in bits 3 to 1, and TL0PICIDX.
        assert_eq!(
            (start(Codec::Vp9, &[0x28, 0x00, 9, 1]), start(Codec::Vp9, &[0x28, 0x02, 9, 1])),
            (Start::Yes, Start::No)
        );
        assert_eq!((start(Codec::Vp9, &[0x08, 1]), start(Codec::Vp9, &[0x00, 1])), (Start::Yes, Start::No));
    }

    #[test]
    fn layers_and_references_are_read_from_the_descriptor() {
        let depends = |codec: Codec, payload| codec.glimpse(payload).unwrap().depends;
        let layers = |base, layer, base_only, switching_point| {
            Some(Depends::Layers(ByLayer { base, layer, base_only, switching_point }))
        };
        assert_eq!(depends(Codec::Vp8, &[0xb0, 0xe0, 0x82, 0x03, 7, 0xa0, 1]), layers(7, 2, true, false));
        assert_eq!(depends(Codec::Vp8, &[0x90, 0x80, 0x82, 0x03, 1]), None);
        assert_eq!(depends(Codec::Vp9, &[0xe8, 0x82, 0x03, 0x50, 7, 1]), layers(7, 2, false, true));
        let frames = |number, turn, back: &[u32]| Some(Depends::Frames(ByFrame { number, turn, back: back.to_vec() }));
        assert_eq!(depends(Codec::Vp9, &[0xf8, 0x82, 0x03, 0x50, 0x06, 1]), frames(0x203, 1 << 15, &[3]));
        assert_eq!(depends(Codec::Vp9, &[0xf8, 0x03, 0x50, 0x07, 0x08, 1]), frames(3, 1 << 7, &[3, 4]));
        assert_eq!(depends(Codec::Vp9, &[0x8c, 0x82, 0x03, 1]), None);
    }

    #[test]
    fn an_h264_slice_may_have_something_before_it_and_a_delimiter_has_not() {
        assert_eq!((start(Codec::H264, &[0x09, 0xf0]), start(Codec::H264, &[0x67, 1])), (Start::Yes, Start::Yes));
        assert_eq!(start(Codec::H264, &[24, 0, 2, 0x67, 1, 0, 2, 0x68, 1]), Start::Yes);
        assert_eq!(
            (start(Codec::H264, &[0x41, 1]), start(Codec::H264, &[0x06, 1])),
            (Start::AfterAnother, Start::AfterAnother)
        );
        // The first part of a slice, and another.
        assert_eq!(
            (start(Codec::H264, &[0x7c, 0x85, 1]), start(Codec::H264, &[0x7c, 0x05, 1])),
            (Start::AfterAnother, Start::No)
        );
    }

    #[test]
    fn an_av1_unit_begins_with_a_coded_video_sequence_or_after_another() {
        assert_eq!(start(Codec::Av1, &[0x28, 2, 0x08, 0, 0x30, 0x10]), Start::Yes);
        assert_eq!((start(Codec::Av1, &[0x10, 0x30]), start(Codec::Av1, &[0x90, 1])), (Start::AfterAnother, Start::No));
        assert!(Codec::Av1.glimpse(&[0x10]).is_err());
    }

    #[test]
    fn payloads_that_are_no_frame_are_none() {
        assert_eq!(Codec::Vp8.assemble([&[0x10][..]].into_iter()), None);
        assert_eq!(Codec::H264.assemble([&[0x7c, 0x85, 1][..]].into_iter()), None);
        assert_eq!(Codec::Vp9.assemble([&[0x08, 0x82][..]].into_iter()), None);
        assert_eq!(Codec::Av1.assemble([&[0x50, 0x30, 1][..]].into_iter()), None);
        let whole = Codec::Av1.assemble([&[0x68, 2, 0x08, 0, 0x30, 0x10][..], &[0x90, 7]].into_iter()).unwrap();
        assert_eq!((whole.data, whole.keyframe), (vec![0x12, 0, 0x0a, 1, 0, 0x32, 2, 0x10, 7], true));
        let whole = Codec::H264.assemble([&[0x67, 1][..], &[0x7c, 0x85, 1], &[0x7c, 0x45, 2]].into_iter()).unwrap();
        assert_eq!((whole.data, whole.keyframe), (vec![0, 0, 0, 1, 0x67, 1, 0, 0, 0, 1, 0x65, 1, 2], true));
    }
}
