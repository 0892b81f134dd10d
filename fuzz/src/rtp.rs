//! RTP packets and their header extensions.

use thalweg_wire::rtp::{Extension, ExtensionBuffer, Packet, PlayoutDelay, TransportSequence};
use thalweg_wire::rtx::Retransmission;

use crate::functional::elements;

/// Parses a packet, writes it and parses that; takes its extensions apart and puts them together.
pub fn rtp(data: &[u8]) {
    let Ok(packet) = Packet::parse(data) else { return };
    let mut out = Vec::new();
    packet.write(&mut out).expect("what was read can be written");
    assert_eq!(out.len(), data.len());
    assert_eq!(packet.size(), out.len());
    assert_eq!(Packet::parse(&out).as_ref(), Ok(&packet));

    if let Some(block) = packet.extensions {
        let listed: Vec<Extension<'_>> = block.iter().collect();
        for element in &listed {
            let first = listed.iter().find(|other| other.id == element.id).map(|first| first.data);
            assert_eq!(block.get(element.id), first);
            extension(element.data);
        }
        // It may need more space than before: one element in two-byte form makes all of them two-byte.
        if let Ok(buffer) = ExtensionBuffer::of(&listed) {
            assert_eq!(buffer.as_extensions().iter().collect::<Vec<_>>(), listed);
        }
    }
    if let Ok(packet) = Retransmission::parse(packet.payload) {
        let mut out = Vec::new();
        packet.write(&mut out);
        assert_eq!(Retransmission::parse(&out), Ok(packet));
    }
}

fn extension(data: &[u8]) {
    if let Ok(sequence) = TransportSequence::parse(data) {
        let bytes = sequence.to_bytes().expect("what was read can be written");
        assert_eq!(TransportSequence::parse(&bytes[..sequence.size()]), Ok(sequence));
    }
    if let Ok(delay) = PlayoutDelay::parse(data) {
        assert_eq!(delay.to_bytes().as_ref().map(|bytes| &bytes[..]), Ok(data));
    }
    elements(data);
}
