//! Blanks header extensions that change on sending.

use alloc::vec::Vec;
use core::ops::Range;

use super::Packet;
use crate::ParseError;

/// Fills the data of the extension elements with these `ids` with zeros, in place.
///
/// FEC protects packets before they are sent, and libwebrtc writes some extensions only on sending: the transport-wide
/// sequence number, the absolute send time, the transmission offset. Sender and receiver in libwebrtc treat them as
/// zeros (`RtpPacket::ZeroMutableExtensions`, `flexfec_receiver.cc`), and a receiver that recovers packets with
/// libwebrtc's FEC must do the same.
///
/// # Errors
/// When the bytes are not an RTP packet; they are then unchanged.
pub fn blank_extensions(packet: &mut [u8], ids: &[u8]) -> Result<(), ParseError> {
    let parsed = Packet::parse(packet)?;
    let Some(block) = parsed.extensions else { return Ok(()) };
    // Preceded by the fixed header, the contributing sources, and the block's own header.
    let start = 12 + 4 * parsed.contributors.len() + 4;
    let blanks: Vec<Range<usize>> = block
        .placed()
        .filter(|(_, element)| ids.contains(&element.id))
        .map(|(at, element)| start + at..start + at + element.data.len())
        .collect();
    blanks.into_iter().for_each(|blank| packet[blank].fill(0));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtp::{Extension, ExtensionBuffer, Header};
    use proptest::prelude::*;

    fn packet(contributors: &[u32], elements: &[Extension<'_>]) -> Vec<u8> {
        let block = ExtensionBuffer::of(elements).unwrap();
        let header = Header { marker: true, payload_type: 96, sequence: 1, timestamp: 2, ssrc: 3 };
        let extensions = (!elements.is_empty()).then(|| block.as_extensions());
        let packet =
            Packet { contributors: contributors.to_vec(), extensions, ..Packet::new(header, &[0x33, 0x44, 0x55]) };
        let mut out = Vec::new();
        packet.write(&mut out).unwrap();
        out
    }

    #[test]
    fn what_is_no_packet_and_has_no_extensions_stays_as_it_is() {
        assert!(blank_extensions(&mut [0x80; 11], &[1]).is_err());
        let mut plain = packet(&[], &[]);
        let before = plain.clone();
        assert_eq!(blank_extensions(&mut plain, &[1, 2, 3]), Ok(()));
        assert_eq!(plain, before);
    }

    proptest! {
        #[test]
        fn only_the_data_of_the_elements_named_becomes_zeros(
            contributors in prop::collection::vec(any::<u32>(), 0..16),
            elements in prop::collection::vec((1u8..=40, prop::collection::vec(any::<u8>(), 1..20)), 1..6),
            ids in prop::collection::vec(1u8..=40, 0..20),
        ) {
            let written = |blanked: &[u8]| {
                let elements: Vec<(u8, Vec<u8>)> = elements
                    .iter()
                    .map(|(id, data)| (*id, if blanked.contains(id) { [0].repeat(data.len()) } else { data.clone() }))
                    .collect();
                let borrowed: Vec<_> = elements.iter().map(|(id, data)| Extension { id: *id, data }).collect();
                packet(&contributors, &borrowed)
            };
            let mut bytes = written(&[]);
            blank_extensions(&mut bytes, &ids).unwrap();
            prop_assert_eq!(bytes, written(&ids));
        }
    }
}
