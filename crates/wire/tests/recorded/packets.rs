//! RTP packets of other implementations.

use thalweg_wire::rtp::{Packet, uri};

use crate::{captures, corpus};

/// The bytes of `packet` when written.
pub fn bytes_of(packet: &Packet<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    packet.write(&mut out).expect("what was parsed can be written");
    out
}

/// `bytes` with the padding bytes as we write them: zeros and the count. The content of padding has no meaning (RFC
/// 3550 section 5.1) and is not kept.
fn with_plain_padding(bytes: &[u8], padding: u8) -> Vec<u8> {
    let mut plain = bytes.to_vec();
    let at = plain.len() - usize::from(padding);
    plain[at..].fill(0);
    if padding > 0 {
        *plain.last_mut().unwrap() = padding;
    }
    plain
}

pub fn aiortc_packets_are_read_and_written_back_byte_for_byte() {
    let files = corpus::files("aiortc");
    let mut count = 0;
    for (path, bytes) in files {
        let name = path.file_name().unwrap().to_str().unwrap();
        if !name.starts_with("rtp") || name.starts_with("rtcp") {
            continue;
        }
        let packet = Packet::parse(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(bytes_of(&packet), with_plain_padding(&bytes, packet.padding), "{name}");
        let expected = match name {
            "rtp.bin" => (0, 15743, 160, 0),
            "rtp_dtmf.bin" => (101, 24152, 4, 0),
            "rtp_only_padding.bin" => (120, 27759, 0, 224),
            "rtp_only_padding_with_header_extensions.bin" => (98, 22138, 0, 224),
            "rtp_with_csrc.bin" => (0, 16082, 160, 0),
            "rtp_with_sdes_mid.bin" => (111, 14156, 54, 0),
            other => panic!("{other} is new: say what is in it"),
        };
        let header = packet.header;
        assert_eq!((header.payload_type, header.sequence, packet.payload.len(), packet.padding), expected, "{name}");
        let contributors: &[u32] = if name == "rtp_with_csrc.bin" { &[0xabcd_ef01, 0xdead_beef] } else { &[] };
        assert_eq!(packet.contributors, contributors, "{name}");
        if name == "rtp_with_sdes_mid.bin" {
            assert_eq!(packet.extensions.unwrap().get(9), Some(&b"0"[..]), "{}", uri::MID);
        }
        count += 1;
    }
    assert_eq!(count, 6);
}

pub fn every_packet_of_str0m_is_read_and_written_back_byte_for_byte() {
    for (name, packets) in [("vp8", 104), ("vp9", 316), ("h264", 298)] {
        let file = corpus::file(&format!("str0m/{name}.pcap"));
        let datagrams = captures::pcap(&file);
        assert_eq!(datagrams.len(), packets);
        for bytes in datagrams {
            let packet = Packet::parse(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(bytes_of(&packet), with_plain_padding(bytes, packet.padding), "{name}");
            let block = packet.extensions.expect("extensions");
            assert!(block.profile() == 0xbede && block.iter().count() >= 2, "{name}: {block:?}");
        }
    }
}

pub fn what_parses_of_the_webrtc_corpora_parses_again_after_writing() {
    let files = corpus::files("webrtc-corpora");
    let mut parsed = 0;
    for (path, bytes) in files {
        let Ok(packet) = Packet::parse(&bytes) else { continue };
        assert_eq!(Packet::parse(&bytes_of(&packet)).as_ref(), Ok(&packet), "{}", path.display());
        parsed += 1;
    }
    assert!(parsed > 10, "{parsed} parsed");
}
