//! Fields of an RTP packet that a pacer reads and writes (RFC 3550 section 5.1), as far as the payload.

/// The fixed header's length.
const FIXED: usize = 12;
/// RFC 8285's one-byte form of header extensions.
const ONE_BYTE: u16 = 0xBEDE;

/// The header of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// True if this is the last packet of its frame.
    pub(crate) marker: bool,
    pub(crate) sequence: u16,
    pub(crate) timestamp: u32,
    pub(crate) ssrc: u32,
    /// Where the payload begins.
    pub(crate) length: usize,
}

impl Header {
    /// `None` if this is no RTP packet.
    pub(crate) fn read(packet: &[u8]) -> Option<Header> {
        let fixed = packet.get(..FIXED)?;
        if fixed[0] >> 6 != 2 {
            return None;
        }
        let mut length = FIXED + 4 * usize::from(fixed[0] & 0x0F);
        if fixed[0] & 0x10 != 0 {
            length += 4 + 4 * usize::from(u16_at(packet, length + 2)?);
        }
        (length <= packet.len()).then_some(Header {
            marker: fixed[1] & 0x80 != 0,
            sequence: u16_at(packet, 2)?,
            timestamp: u32_at(packet, 4)?,
            ssrc: u32_at(packet, 8)?,
            length,
        })
    }
}

/// Returns true if a packet has this header extension (RFC 8285).
pub(crate) fn has_extension(packet: &[u8], id: u8) -> bool {
    let Some(header) = Header::read(packet).filter(|_| packet[0] & 0x10 != 0) else { return false };
    let begin = FIXED + 4 * usize::from(packet[0] & 0x0F);
    let (profile, elements) = (u16_at(packet, begin), &packet[begin + 4..header.length]);
    let one_byte = profile == Some(ONE_BYTE);
    let mut rest = elements;
    while let [first, tail @ ..] = rest {
        if *first == 0 {
            rest = tail;
            continue;
        }
        let (found, skip) = if one_byte {
            (first >> 4, 1 + usize::from(first & 0x0F) + 1)
        } else {
            (*first, 2 + tail.first().map_or(0, |length| usize::from(*length)))
        };
        if one_byte && found == 15 {
            return false;
        }
        if found == id {
            return true;
        }
        rest = rest.get(skip..).unwrap_or(&[]);
    }
    false
}

/// The number of the packet that a retransmission repeats (RFC 4588 section 4).
pub(crate) fn original_sequence(packet: &[u8]) -> Option<u16> {
    u16_at(packet, Header::read(packet)?.length)
}

/// Gives a packet another number.
pub(crate) fn set_sequence(packet: &mut [u8], sequence: u16) {
    if let Some(place) = packet.get_mut(2..4) {
        place.copy_from_slice(&sequence.to_be_bytes());
    }
}

/// A packet as its retransmission (RFC 4588 section 4): the original's header with its extensions, then its number, then
/// its payload.
pub(crate) fn retransmission(packet: &[u8], ssrc: u32, payload_type: u8, sequence: u16) -> Option<Vec<u8>> {
    let header = Header::read(packet)?;
    let mut bytes = Vec::with_capacity(packet.len() + 2);
    bytes.extend_from_slice(&packet[..header.length]);
    bytes[1] = bytes[1] & 0x80 | payload_type & 0x7F;
    set_sequence(&mut bytes, sequence);
    bytes[8..12].copy_from_slice(&ssrc.to_be_bytes());
    bytes.extend_from_slice(&header.sequence.to_be_bytes());
    bytes.extend_from_slice(&packet[header.length..]);
    Some(bytes)
}

/// A packet of padding alone on a stream of retransmissions, with the header of a recent packet, of at most so many bytes.
/// Never more than 255 bytes of padding, since one byte says how many there are (RFC 3550 section 5.1).
pub(crate) fn padding(recent: &[u8], ssrc: u32, payload_type: u8, sequence: u16, most: usize) -> Option<Vec<u8>> {
    let header = Header::read(recent)?;
    let padding = most.saturating_sub(header.length).clamp(1, 255);
    let mut bytes = recent[..header.length].to_vec();
    bytes[0] |= 0x20;
    bytes[1] = payload_type & 0x7F;
    set_sequence(&mut bytes, sequence);
    bytes[8..12].copy_from_slice(&ssrc.to_be_bytes());
    bytes.resize(header.length + padding, 0);
    bytes[header.length + padding - 1] = padding as u8;
    Some(bytes)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Extensions 3 (two bytes) and 5 (one byte), a padding byte between them.
    const PACKET: [u8; 27] =
        [0x90, 0xE0, 0, 7, 0, 0, 0, 9, 0, 0, 0, 4, 0xBE, 0xDE, 0, 2, 0x31, 1, 2, 0, 0x50, 8, 0, 0, 0xAA, 0xBB, 0xCC];

    #[test]
    fn a_header_ends_behind_its_extensions() {
        let expected = Header { marker: true, sequence: 7, timestamp: 9, ssrc: 4, length: 24 };
        assert_eq!(Header::read(&PACKET), Some(expected));
        assert!(has_extension(&PACKET, 3) && has_extension(&PACKET, 5) && !has_extension(&PACKET, 8));
    }

    #[test]
    fn what_is_cut_short_or_no_rtp_is_no_header() {
        for length in 0..24 {
            assert_eq!(Header::read(&PACKET[..length]), None, "{length} bytes");
            assert!(!has_extension(&PACKET[..length], 3), "{length} bytes");
        }
        assert_eq!(Header::read(&[0; 40]), None);
    }

    #[test]
    fn a_retransmission_has_the_header_the_number_and_the_payload_of_the_original() {
        let again = retransmission(&PACKET, 40, 97, 1000).unwrap();
        let header = Header::read(&again).unwrap();
        assert_eq!((header.ssrc, header.sequence, header.timestamp, header.marker), (40, 1000, 9, true));
        assert_eq!((again[1] & 0x7F, original_sequence(&again)), (97, Some(7)));
        assert!(has_extension(&again, 5) && again.ends_with(&[0, 7, 0xAA, 0xBB, 0xCC]), "{again:?}");
    }
}
