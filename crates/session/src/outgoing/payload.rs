//! From a frame's bytes to the payload of one packet.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use thalweg_sender::frames::EncodedFrame;
use thalweg_sender::packet::Fragment;
use thalweg_transport::sdp::VideoCodec;
use thalweg_units::Bytes;
use thalweg_wire::h264::{self, ParameterSets};
use thalweg_wire::vp9;
use thalweg_wire::{WriteError, vp8};

/// Frames of which packets have yet to leave.
#[derive(Debug)]
pub(super) struct Frames {
    codec: VideoCodec,
    /// The most payload of one packet, descriptor not counted.
    most: Bytes,
    frames: BTreeMap<u64, Frame>,
    parameters: ParameterSets,
}

/// A frame, as its packets need it.
#[derive(Debug)]
enum Frame {
    /// Any piece of it makes a packet.
    Bytes(Arc<[u8]>),
    /// Its packets' payloads: H.264 is cut along its units.
    Payloads(Vec<Vec<u8>>),
}

/// The payload of one packet.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Payload {
    pub(super) bytes: Vec<u8>,
    /// Whether the frame ends with it.
    pub(super) last: bool,
}

impl Frames {
    pub(super) fn new(codec: VideoCodec, most: Bytes) -> Frames {
        Frames { codec, most, frames: BTreeMap::new(), parameters: ParameterSets::new() }
    }

    /// A frame was chosen to be sent.
    pub(super) fn keep(&mut self, frame: u64, data: Arc<[u8]>) {
        let kept = match self.codec {
            VideoCodec::Vp8 | VideoCodec::Vp9 => Frame::Bytes(data),
            VideoCodec::H264 => {
                // A keyframe is of no use to who has not the sets that came with an earlier one.
                let data = self.parameters.complete(&data);
                Frame::Payloads(units(&data, self.most).unwrap_or_default())
            }
        };
        self.frames.insert(frame, kept);
    }

    /// The payload of a fragment; `None` for one that the frame does not need. Frames leave in order, so with a frame's last fragment it
    /// and all before it can go.
    pub(super) fn payload(&mut self, fragment: &Fragment) -> Result<Option<Payload>, WriteError> {
        let payload = match self.frames.get(&fragment.frame) {
            Some(Frame::Bytes(data)) => Some(piece(self.codec, data, fragment)?),
            Some(Frame::Payloads(payloads)) => {
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

/// What the engine is to take a frame for, so that it cuts it into at least as many packets as it takes: H.264's units share packets only
/// whole, so that parameter sets before a long slice take one of their own.
pub(super) fn sized(codec: VideoCodec, frame: EncodedFrame, data: &[u8], most: Bytes) -> EncodedFrame {
    if codec != VideoCodec::H264 {
        return frame;
    }
    let packets = units(data, most).map_or(0, |payloads| payloads.len() as u64);
    let least = if packets > 1 { most * (packets - 1) + Bytes::new(1) } else { Bytes::ZERO };
    EncodedFrame { size: frame.size.max(least), ..frame }
}

fn units(data: &[u8], most: Bytes) -> Result<Vec<Vec<u8>>, WriteError> {
    let write = |fragment: h264::Fragment<'_>| {
        let mut bytes = Vec::with_capacity(fragment.payload.size());
        fragment.payload.write(&mut bytes)?;
        Ok(bytes)
    };
    h264::fragments(data, most)?.into_iter().map(write).collect()
}

fn piece(codec: VideoCodec, data: &[u8], fragment: &Fragment) -> Result<Payload, WriteError> {
    let (first, last) = (fragment.index == 0, fragment.index + 1 == fragment.count);
    let picture = fragment.frame as u16 & 0x7fff;
    let mut bytes = Vec::with_capacity(fragment.length as usize + 8);
    if codec == VideoCodec::Vp9 {
        let picture_id = Some(vp9::PictureId::Long(picture));
        let inter_predicted = !fragment.keyframe;
        let shared = vp9::Descriptor { picture_id, inter_predicted, ..vp9::Descriptor::default() };
        vp9::Descriptor { frame_start: first, frame_end: last, ..shared }.write(&mut bytes)?;
    } else {
        let picture_id = Some(vp8::PictureId::Long(picture));
        vp8::Descriptor { partition_start: first, picture_id, ..vp8::Descriptor::default() }.write(&mut bytes)?;
    }
    bytes.extend_from_slice(&part(data, fragment));
    Ok(Payload { bytes, last })
}

/// The fragment's bytes. An encoder model says how large a frame is and makes no bytes: zeros take their place, but the first says what kind of
/// frame it is, which is what receivers go by (RFC 6386 section 9.1: bit 0 of the frame tag is 0 for keyframes).
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
    use thalweg_sender::PacketSizes;
    use thalweg_units::{Size, Time};

    const MOST: Bytes = Bytes::new(1_140);

    /// Sends a frame as the engine would cut it; its payloads and which one says that it is the last.
    fn sent(codec: VideoCodec, data: &[u8]) -> Vec<Payload> {
        let encoded = EncodedFrame {
            size: Bytes::new(data.len() as u64),
            keyframe: true,
            quantizer: None,
            picture: Size::HD,
            transition: None,
        };
        let size = sized(codec, encoded, data, MOST).size;
        let sizes = PacketSizes { max_payload: MOST, ..PacketSizes::default() };
        let count = sizes.cut(size, None).packets;
        let mut frames = Frames::new(codec, MOST);
        frames.keep(7, data.into());
        let mut payloads = Vec::new();
        for index in 0..count {
            let (offset, length) = sizes.fragment(size, index, count);
            let fragment = Fragment {
                frame: 7,
                picture: 9,
                captured: Time::ZERO,
                index,
                count,
                offset,
                length,
                keyframe: true,
                depends_on: None,
                transition: None,
            };
            payloads.extend(frames.payload(&fragment).unwrap());
        }
        assert!(frames.frames.is_empty());
        payloads
    }

    fn assert_marked(payloads: &[Payload]) {
        let last = payloads.len() - 1;
        assert!(payloads.iter().enumerate().all(|(index, payload)| payload.last == (index == last)));
        assert!(payloads.iter().all(|payload| payload.bytes.len() as u64 <= MOST.get() + 4));
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
            // A slice without anything that looks like a start code, with its parameter sets before it.
            let slice: Vec<u8> = (0..length).map(|at| 1 + (at * 7 % 251) as u8).collect();
            let unit = [&[0, 0, 0, 1, 0x67, 0x42][..], &[0, 0, 0, 1, 0x68, 0xce], &[0, 0, 0, 1, 0x65], &slice].concat();
            let h264 = sent(VideoCodec::H264, &unit);
            assert_marked(&h264);
            assert_eq!(h264::assemble(h264.iter().map(|payload| &payload.bytes[..])).unwrap(), unit, "{length}");
        }
    }

    #[test]
    fn a_models_frame_is_zeros_that_say_what_kind_of_frame_they_are() {
        let fragment = |index, offset, length, keyframe| Fragment {
            frame: 1,
            picture: 1,
            captured: Time::ZERO,
            index,
            count: 2,
            offset,
            length,
            keyframe,
            depends_on: None,
            transition: None,
        };
        assert_eq!(part(&[], &fragment(0, 0, 3, true))[..], [0, 0, 0]);
        assert_eq!(part(&[], &fragment(0, 0, 3, false))[..], [1, 0, 0]);
        assert_eq!(part(&[], &fragment(1, 3, 3, false))[..], [0, 0, 0]);
    }
}
