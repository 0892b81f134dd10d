//! Frames out of recorded VP8 packets.

use thalweg_wire::rtcp::is_rtcp;
use thalweg_wire::rtp::Packet;
use thalweg_wire::unwrap::SequenceUnwrapper;
use thalweg_wire::vp8::{Descriptor, assemble, is_keyframe};

use crate::{captures, corpus};

/// The frames of the packets of `payload_type`, which all came: a frame ends where the marker is.
fn frames(datagrams: &[&[u8]], payload_type: u8) -> Vec<Vec<u8>> {
    let mut sequences = SequenceUnwrapper::new();
    let mut payloads: Vec<(u64, bool, &[u8])> = Vec::new();
    for bytes in datagrams {
        let packet = Packet::parse(bytes).unwrap();
        if packet.header.payload_type == payload_type && !packet.payload.is_empty() {
            let number = sequences.unwrap(packet.header.sequence.into());
            payloads.push((number, packet.header.marker, packet.payload));
        }
    }
    payloads.sort_by_key(|(number, ..)| *number);
    payloads.dedup_by_key(|(number, ..)| *number);
    payloads
        .split_inclusive(|(_, marker, _)| *marker)
        .filter(|frame| frame.last().is_some_and(|(_, marker, _)| *marker))
        .map(|frame| assemble(frame.iter().map(|(.., payload)| *payload)).expect("one frame from its start"))
        .collect()
}

/// Width and height in a key frame's head (RFC 6386 section 9.1); its start code is checked.
fn key_frame_size(frame: &[u8]) -> (u16, u16) {
    assert_eq!(frame[3..6], [0x9d, 0x01, 0x2a], "start code");
    let side = |at: usize| u16::from_le_bytes([frame[at], frame[at + 1]]) & 0x3fff;
    (side(6), side(8))
}

fn check(frames: &[Vec<u8>], size: (u16, u16), count: usize) {
    assert!(is_keyframe(&frames[0]), "a stream begins with a key frame");
    for frame in frames {
        if is_keyframe(frame) {
            assert_eq!(key_frame_size(frame), size);
        }
        // The size of the first partition (19 bits after the 3-bit version and flags) fits the frame.
        let tag = u32::from_le_bytes([frame[0], frame[1], frame[2], 0]);
        let head = if is_keyframe(frame) { 10 } else { 3 };
        assert!((tag >> 5) as usize + head <= frame.len(), "first partition of {} bytes in {}", tag >> 5, frame.len());
    }
    assert_eq!(frames.len(), count);
}

#[test]
fn the_packets_of_str0m_reassemble_into_frames() {
    let Some(file) = corpus::file("str0m/vp8.pcap") else { return };
    check(&frames(&captures::pcap(&file), 96), (240, 180), 101);
}

#[test]
fn the_packets_of_libwebrtc_reassemble_into_frames() {
    let Some(file) = corpus::file("webrtc-corpora/rtpdump-corpus/vp8/vp8.rtpdump") else { return };
    let mut packets = captures::rtpdump(&file);
    packets.retain(|bytes| !is_rtcp(bytes));
    let payload_type = Packet::parse(packets[0]).unwrap().header.payload_type;
    check(&frames(&packets, payload_type), (640, 480), 120);
}

#[test]
fn what_parses_of_recorded_descriptors_is_written_back_byte_for_byte() {
    let Some(file) = corpus::file("str0m/vp8.pcap") else { return };
    for bytes in captures::pcap(&file) {
        let packet = Packet::parse(bytes).unwrap();
        if packet.header.payload_type == 96 {
            let (descriptor, data) = Descriptor::parse(packet.payload).unwrap();
            let mut out = Vec::new();
            descriptor.write(&mut out).unwrap();
            out.extend_from_slice(data);
            assert_eq!(out, packet.payload);
        }
    }
}
