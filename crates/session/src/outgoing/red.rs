//! A single payload in RED (RFC 2198): a byte before it has its payload type.

use thalweg_wire::WriteError;
use thalweg_wire::red::Red;

/// The bytes of a RED payload that contains only this one.
///
/// # Errors
/// When the payload type is above 127.
pub(super) fn payload(payload_type: u8, payload: &[u8]) -> Result<Vec<u8>, WriteError> {
    let mut out = Vec::with_capacity(payload.len() + 1);
    Red::alone(payload_type, payload).write(&mut out)?;
    Ok(out)
}

/// An RTP packet whose payload begins at `payload_from`, encapsulated in RED with payload type `red`.
pub(super) fn wrapped(mut packet: Vec<u8>, payload_from: usize, red: u8) -> Vec<u8> {
    // The marker is in the same byte as the payload type and stays as it is.
    let (marker, payload_type) = (packet[1] & 0x80, packet[1] & 0x7f);
    packet[1] = marker | red;
    packet.insert(payload_from, payload_type);
    packet
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_wire::rtp::{Extension, ExtensionBuffer, Header, Packet};

    #[test]
    fn a_packet_in_red_is_the_packet_but_for_its_type_and_one_byte() {
        let block = ExtensionBuffer::of(&[Extension { id: 3, data: &[1, 2] }]).unwrap();
        let header = |payload_type| Header { marker: true, payload_type, sequence: 5, timestamp: 7, ssrc: 9 };
        let packet = |payload_type, payload: &[u8]| {
            let packet =
                Packet { extensions: Some(block.as_extensions()), ..Packet::new(header(payload_type), payload) };
            let mut out = Vec::new();
            packet.write(&mut out).unwrap();
            out
        };
        let plain = packet(96, b"media");
        let wrapped = wrapped(plain.clone(), plain.len() - 5, 116);
        assert_eq!(wrapped, packet(116, &payload(96, b"media").unwrap()));
        let red = Red::parse(Packet::parse(&wrapped).unwrap().payload).unwrap();
        assert_eq!(red, Red::alone(96, b"media"));
    }
}
