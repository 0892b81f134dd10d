//! The unencrypted part of a packet, as far as SRTP needs it.

/// The position of an RTP packet in its stream, and the start of its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) ssrc: u32,
    pub(super) sequence: u16,
    /// In bytes, up to the payload: with contributing sources and extension.
    pub(super) length: usize,
}

impl Header {
    /// Parses the fixed header and measures the contributing sources and the extension (RFC 3550 section 5.1, 5.3.1).
    pub(super) fn read(packet: &[u8]) -> Result<Header, &'static str> {
        const SHORT: &str = "RTP header is cut short";
        let fixed = packet.first_chunk::<12>().ok_or(SHORT)?;
        if fixed[0] >> 6 != 2 {
            return Err("RTP version is not 2");
        }
        let sources = usize::from(fixed[0] & 0xf);
        let mut length = 12 + 4 * sources;
        if fixed[0] & 0x10 != 0 {
            let head = packet.get(length..).and_then(|rest| rest.first_chunk::<4>()).ok_or(SHORT)?;
            length += 4 + 4 * usize::from(u16::from_be_bytes([head[2], head[3]]));
        }
        let header = Header {
            ssrc: u32::from_be_bytes([fixed[8], fixed[9], fixed[10], fixed[11]]),
            sequence: u16::from_be_bytes([fixed[2], fixed[3]]),
            length,
        };
        if length > packet.len() { Err(SHORT) } else { Ok(header) }
    }
}

/// The SSRC under which a compound RTCP packet is protected: the sender of its first packet (RFC 3711 section 3.4).
pub(super) fn rtcp_ssrc(packet: &[u8]) -> Result<u32, &'static str> {
    let head = packet.first_chunk::<8>().ok_or("RTCP header is cut short")?;
    if head[0] >> 6 != 2 {
        return Err("RTCP version is not 2");
    }
    Ok(u32::from_be_bytes([head[4], head[5], head[6], head[7]]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_payload_begins_where_sources_and_extension_end(
            sources in 0..16usize, words in prop::option::of(0..20usize), payload in 0..40usize, sequence: u16, ssrc: u32,
        ) {
            let mut packet = vec![0x80 | sources as u8 | if words.is_some() { 0x10 } else { 0 }, 96];
            packet.extend(sequence.to_be_bytes());
            packet.extend([0; 4]);
            packet.extend(ssrc.to_be_bytes());
            packet.resize(12 + 4 * sources, 0xf0);
            if let Some(words) = words {
                packet.extend([0xbe, 0xde, 0, words as u8]);
                packet.resize(packet.len() + 4 * words, 0xf0);
            }
            let length = packet.len();
            packet.resize(length + payload, 0);
            let header = Header::read(&packet).unwrap();
            prop_assert_eq!((header.length, header.ssrc, header.sequence), (length, ssrc, sequence));
            prop_assert!(Header::read(&packet[..length - 1]).is_err());
        }
    }

    #[test]
    fn other_versions_are_refused() {
        assert!(Header::read(&[0x40; 12]).is_err());
        assert!(rtcp_ssrc(&[0x40; 8]).is_err());
        assert!(rtcp_ssrc(&[0x80; 7]).is_err());
        assert_eq!(rtcp_ssrc(&[0x80, 200, 0, 1, 0, 0, 0, 9]), Ok(9));
    }
}
