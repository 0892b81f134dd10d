//! Compound RTCP packets.

use thalweg_wire::rtcp::{self, Compound, Packet};

/// Parses packets up to the first malformed one, writes them and parses that.
pub fn rtcp(data: &[u8]) {
    let mut packets = Vec::new();
    for packet in Compound::new(data) {
        match packet {
            Ok(packet) => packets.push(packet),
            Err(error) => assert_eq!(rtcp::parse(data), Err(error)),
        }
    }
    if packets.is_empty() {
        return;
    }
    survive(&packets);
    for packet in &packets {
        if let Packet::Nack(nack) = packet {
            let again = rtcp::Nack::of(nack.sender_ssrc, nack.media_ssrc, nack.lost());
            assert!(again.pairs.len() <= nack.pairs.len());
            assert!(nack.lost().all(|sequence| again.lost().any(|other| other == sequence)));
        }
    }
}

/// Asserts that `packets` are the same after writing and parsing.
pub fn survive(packets: &[Packet]) {
    let mut out = Vec::new();
    rtcp::write(packets, &mut out).expect("what was read can be written");
    assert_eq!(out.len() % 4, 0);
    assert_eq!(rtcp::parse(&out).as_deref(), Ok(packets));
}

/// A transport feedback packet of this `format`, with the whole words of `body`.
pub fn transport(format: u8, body: &[u8]) -> Vec<u8> {
    feedback(205, format, body)
}

/// A packet of this `kind` and `format`, with the whole words of `body`.
pub fn feedback(kind: u8, format: u8, body: &[u8]) -> Vec<u8> {
    let words = (body.len() / 4).min(65_535);
    let mut out = vec![0x80 | format, kind];
    out.extend_from_slice(&(words as u16).to_be_bytes());
    out.extend_from_slice(&body[..4 * words]);
    out
}
