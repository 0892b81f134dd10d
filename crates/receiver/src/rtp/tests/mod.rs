//! A handwritten sender: uses `wire`'s packetiser and nothing of the engine.

mod call;
mod functional;
mod hostile;
mod layers;
mod path;
mod red;
mod reported;
mod video;

use super::*;
use thalweg_units::{Bytes, Ecn, Time};
use thalweg_wire::rtcp::{self, Packet as Rtcp};
use thalweg_wire::rtp::{
    Extension, ExtensionBuffer, FeedbackRequest, FragmentGrace, FrameStates, Header, Packet, TransportSequence,
};
use thalweg_wire::rtx::Retransmission;
use thalweg_wire::vp8::{Descriptor, PictureId, fragments};

const VIDEO: u8 = 96;
const RTX: u8 = 97;
const AUDIO: u8 = 111;
const MEDIA_SSRC: u32 = 50;
const RTX_SSRC: u32 = 51;
const AUDIO_SSRC: u32 = 52;
const OURS: u32 = 7;

fn at(millis: u64) -> Time {
    Time::from_millis(millis)
}

/// Video with retransmissions and all compatible feedback, and audio; the SSRCs are named.
fn config() -> Config {
    let extensions =
        ExtensionIds { transport_sequence: Some(3), grace: Some(4), states: Some(5), ..ExtensionIds::default() };
    let video = Video {
        retransmission: Some(RTX),
        ssrcs: Ssrcs { media: Some(MEDIA_SSRC), retransmission: Some(RTX_SSRC), fec: None },
        extensions,
        feedback: Feedback { nack: true, pli: true, transport: true, ..Feedback::default() },
        ..Video::new(Codec::Vp8, VIDEO)
    };
    let audio = Audio { ssrc: Some(AUDIO_SSRC), extensions, ..Audio::new(AUDIO) };
    Config { ssrc: OURS, cname: "us".into(), video: Some(video), audio: Some(audio), ..Config::default() }
}

fn with_video(change: impl Fn(&mut Video)) -> Config {
    let mut config = config();
    config.video.iter_mut().for_each(change);
    config
}

/// The content of a frame: the first bit is the frame type, the others are ignored.
fn picture(keyframe: bool, tag: u8, length: usize) -> Vec<u8> {
    (0..length).map(|place| if place == 0 { u8::from(!keyframe) | tag << 1 } else { tag ^ place as u8 }).collect()
}

struct Sender {
    sequence: u16,
    rtx: u16,
    transport: u16,
    picture: u16,
    /// The feedback request of the next packets.
    request: Option<Option<FeedbackRequest>>,
}

impl Sender {
    fn new() -> Sender {
        Sender { sequence: 65_500, rtx: 9, transport: 65_530, picture: 32_760, request: None }
    }

    fn packet(&mut self, header: Header, payload: &[u8], padding: u8, more: &[Extension<'_>]) -> Vec<u8> {
        let transport = TransportSequence { sequence: self.transport, request: self.request };
        self.transport = self.transport.wrapping_add(1);
        let bytes = transport.to_bytes().unwrap();
        let mut elements = vec![Extension { id: 3, data: &bytes[..transport.size()] }];
        elements.extend_from_slice(more);
        let block = ExtensionBuffer::of(&elements).unwrap();
        let mut out = Vec::new();
        let packet = Packet { extensions: Some(block.as_extensions()), padding, ..Packet::new(header, payload) };
        packet.write(&mut out).unwrap();
        out
    }

    fn header(&mut self, marker: bool, timestamp: u32) -> Header {
        let sequence = self.sequence;
        self.sequence = self.sequence.wrapping_add(1);
        Header { marker, payload_type: VIDEO, sequence, timestamp, ssrc: MEDIA_SSRC }
    }

    /// A frame in packets of at most 100 bytes of payload, with the additional header extensions of each.
    fn frame_saying<'a>(
        &mut self,
        timestamp: u32,
        frame: &[u8],
        says: impl Fn(u16, u16) -> Vec<(u8, Vec<u8>)> + 'a,
    ) -> Vec<Vec<u8>> {
        self.frame_described(timestamp, frame, Descriptor::default(), says)
    }

    /// The same, with the other fields of its descriptor.
    fn frame_described<'a>(
        &mut self,
        timestamp: u32,
        frame: &[u8],
        descriptor: Descriptor,
        says: impl Fn(u16, u16) -> Vec<(u8, Vec<u8>)> + 'a,
    ) -> Vec<Vec<u8>> {
        let picture_id = Some(PictureId::Long(self.picture));
        self.picture = (self.picture + 1) & 0x7fff;
        let descriptor = Descriptor { picture_id, ..descriptor };
        let pieces: Vec<_> = fragments(frame, descriptor, Bytes::new(100)).unwrap().collect();
        let count = pieces.len() as u16;
        let packet = |(index, piece): (usize, &thalweg_wire::vp8::Fragment<'_>)| {
            let mut payload = Vec::new();
            piece.descriptor.write(&mut payload).unwrap();
            payload.extend_from_slice(piece.data);
            let said = says(index as u16, count);
            let said: Vec<_> = said.iter().map(|(id, data)| Extension { id: *id, data }).collect();
            let header = self.header(piece.last, timestamp);
            self.packet(header, &payload, 0, &said)
        };
        pieces.iter().enumerate().map(packet).collect()
    }

    fn frame(&mut self, timestamp: u32, frame: &[u8]) -> Vec<Vec<u8>> {
        self.frame_saying(timestamp, frame, |_, _| Vec::new())
    }

    fn padding(&mut self) -> Vec<u8> {
        let header = self.header(false, 0);
        self.packet(header, &[], 50, &[])
    }

    fn rtx_header(&mut self, marker: bool, timestamp: u32) -> Header {
        let sequence = self.rtx;
        self.rtx = self.rtx.wrapping_add(1);
        Header { marker, payload_type: RTX, sequence, timestamp, ssrc: RTX_SSRC }
    }

    /// `packet` as an RFC 4588 retransmission.
    fn retransmission(&mut self, packet: &[u8]) -> Vec<u8> {
        let packet = Packet::parse(packet).unwrap();
        let mut payload = Vec::new();
        let original_sequence = packet.header.sequence;
        Retransmission { original_sequence, payload: packet.payload }.write(&mut payload);
        let header = self.rtx_header(packet.header.marker, packet.header.timestamp);
        self.packet(header, &payload, 0, &[])
    }
}

fn drain(reception: &mut Reception) -> Vec<Output> {
    let mut outputs = Vec::new();
    loop {
        match reception.poll() {
            Output::Wait { .. } => return outputs,
            output => outputs.push(output),
        }
    }
}

fn frames(outputs: &[Output]) -> Vec<&VideoFrame> {
    outputs.iter().filter_map(|output| if let Output::Frame(frame) = output { Some(frame) } else { None }).collect()
}

fn rtcp(outputs: &[Output]) -> Vec<Rtcp> {
    let sent = outputs.iter().filter_map(|output| if let Output::Rtcp(bytes) = output { Some(bytes) } else { None });
    sent.flat_map(|bytes| rtcp::parse(bytes).unwrap()).collect()
}

/// The packets that were requested, and the number of keyframe requests.
fn requests(outputs: &[Output]) -> (Vec<u16>, usize) {
    let sent = rtcp(outputs);
    let missing = sent.iter().filter_map(|packet| if let Rtcp::Nack(nack) = packet { Some(nack) } else { None });
    let keyframes = sent.iter().filter(|packet| matches!(packet, Rtcp::Pli(_))).count();
    (missing.flat_map(|nack| nack.lost().collect::<Vec<_>>()).collect(), keyframes)
}

/// Feeds the packets at this time; returns the outputs.
fn give<'a>(reception: &mut Reception, millis: u64, packets: impl IntoIterator<Item = &'a Vec<u8>>) -> Vec<Output> {
    packets.into_iter().for_each(|packet| reception.on_rtp(at(millis), Ecn::NotCapable, packet));
    drain(reception)
}
