//! Compound RTCP packets.

use thalweg_wire::rtcp::{self, Compound, Packet};

/// Reads packets up to the first that is broken, writes them, reads that.
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

/// That `packets` come back from their bytes.
pub fn survive(packets: &[Packet]) {
    let mut out = Vec::new();
    rtcp::write(packets, &mut out).expect("what was read can be written");
    assert_eq!(out.len() % 4, 0);
    assert_eq!(rtcp::parse(&out).as_deref(), Ok(packets));
}

/// A packet of transport feedback in this `format` whose body is `body`, as far as it is whole words.
pub fn transport(format: u8, body: &[u8]) -> Vec<u8> {
    feedback(205, format, body)
}

/// A packet of this `kind` and `format` whose body is `body`, as far as it is whole words.
pub fn feedback(kind: u8, format: u8, body: &[u8]) -> Vec<u8> {
    let words = (body.len() / 4).min(65_535);
    let mut out = vec![0x80 | format, kind];
    out.extend_from_slice(&(words as u16).to_be_bytes());
    out.extend_from_slice(&body[..4 * words]);
    out
}
