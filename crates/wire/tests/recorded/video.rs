//! Frames from recorded packets.

use thalweg_units::Bytes;
use thalweg_wire::rtp::Packet;
use thalweg_wire::unwrap::SequenceUnwrapper;
use thalweg_wire::vp8::{Descriptor, assemble, is_keyframe};
use thalweg_wire::{ParseError, h264, vp9};

use crate::{captures, corpus};

/// The payloads of each picture of `payload_type` whose packets are all present: it ends at a marker, and begins after
/// the end of another.
fn pictures<'a>(datagrams: &[&'a [u8]], payload_type: u8) -> Vec<Vec<&'a [u8]>> {
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
    let mut next = payloads.first().map_or(0, |(number, ..)| *number);
    payloads
        .split_inclusive(|(_, marker, _)| *marker)
        .filter(|picture| {
            let (first, last) = (picture[0].0, picture[picture.len() - 1].0);
            let whole = first == next && last - first + 1 == picture.len() as u64;
            next = last + 1;
            whole && picture[picture.len() - 1].1
        })
        .map(|picture| picture.iter().map(|(.., payload)| *payload).collect())
        .collect()
}

/// The VP8 frames from the packets of `payload_type`.
fn frames(datagrams: &[&[u8]], payload_type: u8) -> Vec<Vec<u8>> {
    pictures(datagrams, payload_type)
        .into_iter()
        .map(|payloads| assemble(payloads).expect("one frame from its start"))
        .collect()
}

/// Width and height in a keyframe's header (RFC 6386 section 9.1); checks its start code.
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
        // The size of the first partition (19 bits after the 3-bit version and flags) does not exceed the frame.
        let tag = u32::from_le_bytes([frame[0], frame[1], frame[2], 0]);
        let head = if is_keyframe(frame) { 10 } else { 3 };
        assert!((tag >> 5) as usize + head <= frame.len(), "first partition of {} bytes in {}", tag >> 5, frame.len());
    }
    assert_eq!(frames.len(), count);
}

pub fn the_packets_of_str0m_reassemble_into_frames() {
    let file = corpus::file("str0m/vp8.pcap");
    check(&frames(&captures::pcap(&file), 96), (240, 180), 101);
}

pub fn the_packets_of_libwebrtc_reassemble_into_frames() {
    let file = corpus::file("webrtc-corpora/rtpdump-corpus/vp8/vp8.rtpdump");
    let mut packets = captures::rtpdump(&file);
    packets.retain(|bytes| !is_rtcp(bytes));
    let payload_type = Packet::parse(packets[0]).unwrap().header.payload_type;
    check(&frames(&packets, payload_type), (640, 480), 120);
}

pub fn what_parses_of_recorded_descriptors_is_written_back_byte_for_byte() {
    let file = corpus::file("str0m/vp8.pcap");
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

/// Returns true if a datagram is RTCP rather than RTP, by its packet type (RFC 5761 section 4).
pub fn is_rtcp(datagram: &[u8]) -> bool {
    (192..=223).contains(&datagram[1])
}

/// The RTP packets of a dump, and the payload type of the first.
fn media(file: &[u8]) -> (Vec<&[u8]>, u8) {
    let mut packets = captures::rtpdump(file);
    packets.retain(|bytes| !is_rtcp(bytes));
    let payload_type = Packet::parse(packets[0]).unwrap().header.payload_type;
    (packets, payload_type)
}

/// Reassembles VP9 pictures; the descriptors and the frames must agree on key pictures. Returns the number of pictures
/// and of key pictures.
fn check_vp9(datagrams: &[&[u8]], payload_type: u8) -> (usize, usize) {
    let pictures = pictures(datagrams, payload_type);
    let mut keys = 0;
    for payloads in &pictures {
        let picture = vp9::assemble(payloads.iter().copied()).expect("whole frames");
        let (descriptor, _) = vp9::Descriptor::parse(payloads[0]).unwrap();
        let keyframe = vp9::is_keyframe(&picture);
        assert_eq!(!descriptor.inter_predicted, keyframe);
        keys += usize::from(keyframe);
        for payload in payloads {
            let (descriptor, data) = vp9::Descriptor::parse(payload).unwrap();
            let mut out = Vec::new();
            descriptor.write(&mut out).unwrap();
            out.extend_from_slice(data);
            assert_eq!(&out, payload);
        }
    }
    (pictures.len(), keys)
}

pub fn vp9_packets_of_others_reassemble_into_pictures() {
    let file = corpus::file("str0m/vp9.pcap");
    assert_eq!(check_vp9(&captures::pcap(&file), 98), (16, 1));
    let file = corpus::file("webrtc-corpora/rtpdump-corpus/vp9/vp9.rtpdump");
    let (packets, payload_type) = media(&file);
    assert_eq!(check_vp9(&packets, payload_type), (119, 1));
}

pub fn h264_packets_of_others_reassemble_into_access_units() {
    let file = corpus::file("str0m/h264.pcap");
    let datagrams = captures::pcap(&file);
    let (mut sets, mut keys, mut count) = (h264::ParameterSets::new(), 0, 0);
    for payloads in pictures(&datagrams, 126) {
        let access_unit = match h264::assemble(payloads) {
            Ok(access_unit) => access_unit,
            // The sender truncated the last unit of packet 19388 by 27 bytes.
            Err(error) => {
                let what = "aggregated H.264 unit";
                let short = ParseError::Short { what, at: 25, needed: 1021, found: 994 };
                assert_eq!(error, h264::AssemblyError::Payload(short));
                continue;
            }
        };
        keys += usize::from(h264::is_keyframe(&access_unit));
        count += 1;
        // Their keyframes contain their parameter sets.
        assert_eq!(sets.complete(&access_unit), access_unit);
        let mut again = Vec::new();
        for fragment in h264::fragments(&access_unit, Bytes::new(300)).unwrap() {
            let mut payload = Vec::new();
            fragment.payload.write(&mut payload).unwrap();
            again.push(payload);
        }
        assert_eq!(h264::assemble(again.iter().map(Vec::as_slice)), Ok(access_unit));
    }
    assert_eq!((count, keys), (263, 7));
}
