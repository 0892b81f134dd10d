//! Cuts frames into packet payloads.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use thalweg_sender::frames::EncodedFrame;
use thalweg_transport::sdp::VideoCodec;
use thalweg_types::Fragment;
use thalweg_units::Bytes;
use thalweg_wire::vp8::PictureId;
use thalweg_wire::{WriteError, av1, h264, vp8, vp9};

use super::labels::{Label, Labels, Planned};

/// Frames some of whose packets have not left yet.
#[derive(Debug)]
pub(super) struct Frames {
    codec: VideoCodec,
    /// Max payload of one packet without the descriptor.
    max: Bytes,
    frames: BTreeMap<u64, (Frame, Planned)>,
    labels: Labels,
    /// The buffer of the last payload, for the next.
    buffer: Vec<u8>,
}

/// A frame, prepared for its packets.
#[derive(Debug)]
enum Frame {
    /// The frame's bytes, which may be cut anywhere.
    Bytes(Arc<[u8]>),
    /// The payloads of its packets: H.264 and AV1 are cut along their units.
    Payloads(Vec<Vec<u8>>),
}

/// The payload of one packet.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Payload {
    pub(super) bytes: Vec<u8>,
    /// True if it is the last of its frame.
    pub(super) last: bool,
}

impl Frames {
    pub(super) fn new(codec: VideoCodec, max: Bytes) -> Frames {
        Frames { codec, max, frames: BTreeMap::new(), labels: Labels::default(), buffer: Vec::new() }
    }

    /// Stores a frame chosen to be sent, with the properties it was planned with.
    pub(super) fn keep(&mut self, frame: u64, data: Arc<[u8]>, planned: Planned) {
        let kept = match self.codec {
            VideoCodec::Vp8 | VideoCodec::Vp9 => Frame::Bytes(data),
            VideoCodec::H264 => Frame::Payloads(units(&data, self.max).unwrap_or_default()),
            VideoCodec::Av1 => Frame::Payloads(av1::fragments(&data, self.max).unwrap_or_default()),
        };
        self.frames.insert(frame, (kept, planned));
    }

    /// The properties of a frame that has not left yet.
    pub(super) fn planned(&self, frame: u64) -> Option<Planned> {
        Some(self.frames.get(&frame)?.1)
    }

    /// A payload was written: its buffer serves the next one.
    pub(super) fn reuse(&mut self, payload: Vec<u8>) {
        self.buffer = payload;
    }

    /// The payload of a fragment; `None` for one that the frame does not need. Frames leave in order, so the last
    /// fragment of a frame frees it and all earlier ones.
    pub(super) fn payload(&mut self, fragment: &Fragment) -> Result<Option<Payload>, WriteError> {
        let payload = match self.frames.get(&fragment.frame) {
            Some((Frame::Bytes(data), planned)) => {
                let label = planned.is_layered().then(|| self.labels.of(fragment, *planned));
                let mut bytes = std::mem::take(&mut self.buffer);
                bytes.clear();
                Some(piece(self.codec, data, fragment, label, bytes)?)
            }
            Some((Frame::Payloads(payloads), _)) => {
                let (index, count) = (usize::from(fragment.index), payloads.len());
                payloads.get(index).map(|bytes| Payload { bytes: bytes.clone(), last: index + 1 == count })
            }
            None => None,
        };
        if fragment.index + 1 == fragment.count {
            self.frames = self.frames.split_off(&(fragment.frame + 1));
        }
        Ok(payload)
    }
}

/// The size to give to the engine for a frame, so that it cuts the frame into at least as many packets as needed: H.264
/// units share packets only as a whole, so parameter sets before a long slice need a packet of their own; AV1 has lengths
/// in between.
pub(super) fn sized(codec: VideoCodec, frame: EncodedFrame, data: &[u8], max: Bytes) -> EncodedFrame {
    let packets = match codec {
        VideoCodec::Vp8 | VideoCodec::Vp9 => return frame,
        VideoCodec::H264 => h264::fragments(data, max).map_or(0, |fragments| fragments.len() as u64),
        VideoCodec::Av1 => av1::fragments(data, max).map_or(0, |payloads| payloads.len() as u64),
    };
    let min = if packets > 1 { max * (packets - 1) + Bytes::new(1) } else { Bytes::ZERO };
    frame.with(|it| it.size = frame.size.max(min))
}

fn units(data: &[u8], max: Bytes) -> Result<Vec<Vec<u8>>, WriteError> {
    let write = |fragment: h264::Fragment<'_>| {
        let mut bytes = Vec::with_capacity(fragment.payload.size());
        fragment.payload.write(&mut bytes)?;
        Ok(bytes)
    };
    h264::fragments(data, max)?.into_iter().map(write).collect()
}

fn piece(
    codec: VideoCodec,
    data: &[u8],
    fragment: &Fragment,
    label: Option<Label>,
    mut bytes: Vec<u8>,
) -> Result<Payload, WriteError> {
    let last = fragment.index + 1 == fragment.count;
    bytes.reserve(fragment.length as usize + 8);
    if codec == VideoCodec::Vp9 {
        vp9_descriptor(fragment, label).write(&mut bytes)?;
    } else {
        vp8_descriptor(fragment, label).write(&mut bytes)?;
    }
    bytes.extend_from_slice(&part(data, fragment));
    Ok(Payload { bytes, last })
}

/// The picture id, of 15 bits.
fn picture_id(fragment: &Fragment) -> PictureId {
    PictureId::Long(fragment.frame as u16 & 0x7fff)
}

/// RFC 7741 section 4.2.
fn vp8_descriptor(fragment: &Fragment, label: Option<Label>) -> vp8::Descriptor {
    vp8::Descriptor {
        partition_start: fragment.index == 0,
        picture_id: Some(picture_id(fragment)),
        non_reference: label.is_some_and(|label| label.discardable),
        base_layer_index: label.map(|label| label.base_index),
        temporal_layer: label.map(|label| (label.layer, label.base_only)),
        ..vp8::Descriptor::default()
    }
}

/// RFC 9628 section 4.2: with layers it uses the flexible mode, in which each frame names its references; other modes
/// describe patterns in which no frame is left out.
fn vp9_descriptor(fragment: &Fragment, label: Option<Label>) -> vp9::Descriptor {
    let reference = |label: Label| match label.reference {
        None => Some(Vec::new()),
        Some(back) => u8::try_from(back).ok().filter(|back| *back < 0x80).map(|back| vec![back]),
    };
    let mode = match label {
        None => vp9::Mode::default(),
        Some(label) => match reference(label) {
            Some(references) => vp9::Mode::Flexible { references },
            // The reference is too far back to be expressed.
            None => vp9::Mode::Fixed { base_layer_index: Some(label.base_index) },
        },
    };
    vp9::Descriptor {
        picture_id: Some(picture_id(fragment)),
        inter_predicted: !fragment.keyframe,
        // No frame of a pattern refers past a frame of a lower layer, so every frame is a switching point.
        layer: label.map(|label| vp9::Layer { temporal: label.layer, switching_point: true, ..Default::default() }),
        mode,
        frame_start: fragment.index == 0,
        frame_end: fragment.index + 1 == fragment.count,
        ..vp9::Descriptor::default()
    }
}

/// The fragment's bytes. An encoder model has a frame size but no bytes: zeros take their place, except that the first
/// byte has the kind of frame, which receivers need (RFC 6386 section 9.1: bit 0 of the frame tag is 0 for keyframes).
fn part<'a>(data: &'a [u8], fragment: &Fragment) -> Cow<'a, [u8]> {
    let (from, length) = (fragment.offset as usize, fragment.length as usize);
    if let Some(part) = data.get(from..from + length) {
        return Cow::Borrowed(part);
    }
    let mut part = data.get(from..).unwrap_or_default().to_vec();
    part.resize(length, 0);
    if from == 0 && data.is_empty() && length > 0 {
        part[0] = u8::from(!fragment.keyframe);
    }
    Cow::Owned(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fragment;
    use thalweg_sender::PacketSizes;
    use thalweg_types::EncodePlan;
    use thalweg_units::{Size, Span};

    const MAX: Bytes = Bytes::new(1_140);

    /// Sends a frame as the engine would cut it; returns its payloads and which one is marked as last.
    fn sent(codec: VideoCodec, data: &[u8]) -> Vec<Payload> {
        let encoded = EncodedFrame::new(Bytes::new(data.len() as u64), Size::HD).with(|frame| frame.keyframe = true);
        let size = sized(codec, encoded, data, MAX).size;
        let sizes = PacketSizes { max_payload: MAX, ..PacketSizes::default() };
        let count = sizes.cut(size, None).packets;
        let mut frames = Frames::new(codec, MAX);
        let plan = EncodePlan::new(Vec::new(), Size::HD, Span::from_millis(33));
        frames.keep(7, data.into(), Planned::of(&plan, false));
        let mut payloads = Vec::new();
        for index in 0..count {
            let (offset, length) = sizes.fragment(size, index, count);
            let fragment = Fragment { offset, length, ..fragment(7, (index, count)) };
            payloads.extend(frames.payload(&fragment).unwrap());
        }
        assert!(frames.frames.is_empty());
        payloads
    }

    fn assert_marked(payloads: &[Payload]) {
        let last = payloads.len() - 1;
        assert!(payloads.iter().enumerate().all(|(index, payload)| payload.last == (index == last)));
        assert!(payloads.iter().all(|payload| payload.bytes.len() as u64 <= MAX.get() + 4));
    }

    #[test]
    fn frames_of_every_codec_come_out_of_their_packets_as_they_went_in() {
        for length in [1, 2, 1_139, 1_140, 1_141, 2_280, 2_281, 50_000] {
            let data: Vec<u8> = (0..length).map(|at| (at * 7 % 251) as u8).collect();
            let vp8 = sent(VideoCodec::Vp8, &data);
            assert_marked(&vp8);
            assert_eq!(vp8::assemble(vp8.iter().map(|payload| &payload.bytes[..])).unwrap(), data);
            let vp9 = sent(VideoCodec::Vp9, &data);
            assert_marked(&vp9);
            assert_eq!(vp9::assemble(vp9.iter().map(|payload| &payload.bytes[..])).unwrap(), data);
            // A slice without anything that resembles a start code, with its parameter sets before it.
            let slice: Vec<u8> = (0..length).map(|at| 1 + (at * 7 % 251) as u8).collect();
            let unit = [&[0, 0, 0, 1, 0x67, 0x42][..], &[0, 0, 0, 1, 0x68, 0xce], &[0, 0, 0, 1, 0x65], &slice].concat();
            let h264 = sent(VideoCodec::H264, &unit);
            assert_marked(&h264);
            assert_eq!(h264::assemble(h264.iter().map(|payload| &payload.bytes[..])).unwrap(), unit, "{length}");
            // A temporal delimiter, a sequence header, and a frame of 2 bytes more, with its size in as few bytes as possible.
            let size = length + 2;
            let size: &[u8] = match size {
                0..0x80 => &[size as u8],
                0x80..0x4000 => &[size as u8 | 0x80, (size >> 7) as u8],
                _ => &[size as u8 | 0x80, (size >> 7) as u8 | 0x80, (size >> 14) as u8],
            };
            let unit = [&[0x12, 0, 0x0a, 2, 0, 1, 0x32][..], size, &[0x10, 0], &data].concat();
            let av1 = sent(VideoCodec::Av1, &unit);
            assert_marked(&av1);
            assert_eq!(av1::assemble(av1.iter().map(|payload| &payload.bytes[..])).unwrap(), unit, "{length}");
        }
    }

    /// The descriptors of the packets of one frame.
    fn described(codec: VideoCodec, label: Option<Label>) -> Vec<Vec<u8>> {
        let fragment = |index| Fragment { keyframe: false, length: 0, ..fragment(0x1_0203, (index, 2)) };
        let write = |index| piece(codec, &[], &fragment(index), label, Vec::new()).unwrap().bytes;
        (0..2).map(write).collect()
    }

    #[test]
    fn with_layers_descriptors_have_them_and_without_they_are_as_they_were() {
        let label = Label { layer: 2, base_index: 7, base_only: true, discardable: true, reference: Some(3) };
        assert_eq!(described(VideoCodec::Vp8, None), [vec![0x90, 0x80, 0x82, 0x03], vec![0x80, 0x80, 0x82, 0x03]]);
        // X N S, I L T, the picture, TL0PICIDX, TID 2 and Y.
        assert_eq!(described(VideoCodec::Vp8, Some(label))[0], [0xb0, 0xe0, 0x82, 0x03, 7, 0xa0]);
        assert_eq!(described(VideoCodec::Vp9, None), [vec![0xc8, 0x82, 0x03], vec![0xc4, 0x82, 0x03]]);
        // I P L F B, the picture, TID 2 and U, P_DIFF 3.
        assert_eq!(described(VideoCodec::Vp9, Some(label))[0], [0xf8, 0x82, 0x03, 0x50, 0x06]);
        let far = Label { reference: Some(200), ..label };
        assert_eq!(described(VideoCodec::Vp9, Some(far))[0], [0xe8, 0x82, 0x03, 0x50, 7]);
    }

    #[test]
    fn a_models_frame_is_zeros_that_say_what_kind_of_frame_they_are() {
        let fragment =
            |index, offset, length, keyframe| Fragment { offset, length, keyframe, ..fragment(1, (index, 2)) };
        assert_eq!(part(&[], &fragment(0, 0, 3, true))[..], [0, 0, 0]);
        assert_eq!(part(&[], &fragment(0, 0, 3, false))[..], [1, 0, 0]);
        assert_eq!(part(&[], &fragment(1, 3, 3, false))[..], [0, 0, 0]);
    }
}
