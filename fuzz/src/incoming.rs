//! A receiver of RTP.

use thalweg_receiver::rtp::{
    Audio, Codec, Config, ExtensionIds, Feedback, Output, Reception, Redundancy, Ssrcs, Video,
};
use thalweg_units::{Ecn, Span, Time};
use thalweg_wire::rtcp;
use thalweg_wire::rtp::{Extension, ExtensionBuffer, Header, Packet};

use crate::steps::Steps;

/// Payload types of video, its retransmissions, its FEC, and audio; each stream's SSRC equals its payload type.
const KINDS: [u8; 4] = [96, 97, 98, 111];
/// The payload types of those in RED.
const REDUNDANCY: Redundancy = Redundancy { red: 116, ulpfec: 117, retransmission: Some(118) };

fn reception(style: u8) -> Reception {
    let extensions = ExtensionIds {
        transport_sequence: Some(3),
        transport_on_request: style & 1 != 0,
        grace: Some(4),
        states: Some(5),
        dependencies: Some(6),
        bytes_before: Some(7),
        ..ExtensionIds::default()
    };
    let named = style & 2 != 0;
    let ssrc = |kind: usize| named.then_some(KINDS[kind].into());
    let codec = [Codec::Vp8, Codec::H264, Codec::Vp9, Codec::Av1][usize::from(style >> 2 & 3)];
    let video = Video {
        retransmission: Some(KINDS[1]),
        fec: Some(KINDS[2]),
        ssrcs: Ssrcs { media: ssrc(0), retransmission: ssrc(1), fec: ssrc(2) },
        extensions,
        feedback: Feedback {
            nack: true,
            pli: true,
            fir: true,
            transport: style & 0x60 != 0x60,
            congestion: style & 0x10 != 0,
            frames: style & 0x80 != 0,
            bitrate: true,
            round_trip: style & 0x80 != 0,
            extended: true,
            path: true,
        },
        stateful: (style & 0x2c == 0x20).then(Default::default),
        ..Video::new(codec, KINDS[0])
    };
    let audio = Audio { ssrc: ssrc(3), extensions, ..Audio::new(KINDS[3]) };
    let reduced_size = style & 0x40 != 0;
    let redundancy = (style & 0x80 != 0).then_some(REDUNDANCY);
    let config = Config { video: Some(video), redundancy, audio: Some(audio), reduced_size, ..Config::default() };
    Reception::new(config).expect("a good configuration")
}

/// Packets made from the bytes, or equal to them, are received one after another.
pub fn incoming(data: &[u8]) {
    let mut steps = Steps(data);
    let style = steps.byte();
    let mut reception = reception(style);
    // If streams are named and of one kind, sequence numbers never restart.
    let in_order = style & 0x22 == 2;
    let (mut now, mut end, mut number) = (Time::ZERO, 0, 0);
    let mut sequences = [65_500u16; 4];
    let mut timestamp = 0u32;
    while steps.more() {
        let what = steps.byte();
        now += Span::from_millis(i64::from(what >> 4));
        match what & 7 {
            0 => reception.on_timeout(now),
            1 => reception.on_rtcp(now, take(&mut steps)),
            2 => reception.on_rtp(now, Ecn::NotCapable, take(&mut steps)),
            3 => reception.on_recovered(now, take(&mut steps)),
            _ => {
                let kind = usize::from(what & 3);
                sequences[kind] = sequences[kind].wrapping_add_signed(i16::from(steps.byte() as i8) * 7 / 8 + 1);
                timestamp = timestamp.wrapping_add(3000 * u32::from(what >> 3 & 1));
                let flags = steps.byte();
                let payload_type = match (kind, flags & 2 != 0) {
                    (0, true) => 116,
                    (1, true) => 118,
                    _ => KINDS[kind],
                };
                let header = Header {
                    marker: flags & 1 != 0,
                    payload_type,
                    sequence: sequences[kind],
                    timestamp,
                    ssrc: KINDS[kind].into(),
                };
                let element = take(&mut steps);
                let payload = take(&mut steps);
                let id = 3 + steps.byte() % 5;
                let block = ExtensionBuffer::of(&[Extension { id, data: element }]).expect("short enough");
                let packet = Packet { extensions: Some(block.as_extensions()), ..Packet::new(header, payload) };
                let mut bytes = Vec::new();
                packet.write(&mut bytes).expect("in range");
                reception.on_rtp(now, Ecn::NotCapable, &bytes);
            }
        }
        loop {
            match reception.poll() {
                Output::Wait { until } => {
                    assert!(until > now, "what was due is done");
                    break;
                }
                Output::Frame(frame) => {
                    assert!(
                        !frame.data.is_empty() && frame.number == number && frame.first_arrival <= frame.last_arrival
                    );
                    // No packet belongs to two frames.
                    assert!(!in_order || *frame.sequences.start() >= end);
                    (end, number) = (end.max(*frame.sequences.end() + 1), number + 1);
                }
                Output::Rtcp(datagram) => assert!(rtcp::parse(&datagram).is_ok()),
                Output::Audio(packet) => assert!(!packet.data.is_empty()),
                Output::Abandoned(frames) => assert!(frames > 0),
            }
        }
    }
}

/// Takes as many bytes as the next one says, at most 31.
fn take<'a>(steps: &mut Steps<'a>) -> &'a [u8] {
    let count = usize::from(steps.byte() & 31).min(steps.0.len());
    let (taken, rest) = steps.0.split_at(count);
    steps.0 = rest;
    taken
}
