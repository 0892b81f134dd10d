//! Size of payloads on the wire, with all headers.

use thalweg_units::Bytes;

/// An IPv4 header without options (RFC 791).
pub const IPV4: Bytes = Bytes::new(20);
/// An IPv6 header without extension headers (RFC 8200).
pub const IPV6: Bytes = Bytes::new(40);
/// A UDP header (RFC 768).
pub const UDP: Bytes = Bytes::new(8);
/// An RTP header without contributing sources (RFC 3550 section 5.1).
pub const RTP: Bytes = Bytes::new(12);
/// The authentication tag of AES_CM_128_HMAC_SHA1_80 (RFC 3711, RFC 4568).
pub const SRTP_TAG_SHA1_80: Bytes = Bytes::new(10);
/// The authentication tag of AEAD_AES_128_GCM (RFC 7714), which browsers prefer.
pub const SRTP_TAG_GCM: Bytes = Bytes::new(16);
/// The index and E bit every SRTCP packet carries besides its tag (RFC 3711 section 3.4).
pub const SRTCP_INDEX: Bytes = Bytes::new(4);
/// The header of a header extension block (RFC 3550 section 5.3.1).
pub const EXTENSION_HEAD: Bytes = Bytes::new(4);
/// The original sequence number in front of a retransmitted payload (RFC 4588 section 4).
pub const RTX: Bytes = Bytes::new(2);

/// The overhead around an RTP payload on one path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overhead {
    /// The IP header: [`IPV4`] or [`IPV6`].
    pub ip: Bytes,
    /// The SRTP tag: [`SRTP_TAG_GCM`], [`SRTP_TAG_SHA1_80`] or [`Bytes::ZERO`] for plain RTP.
    pub srtp_tag: Bytes,
    /// The whole header extension block with its header and padding, as computed by [`extension_block`].
    pub extensions: Bytes,
}

impl Default for Overhead {
    /// IPv4, AES-GCM and a four-byte transport-wide-cc-02 extension in the one-byte form.
    fn default() -> Overhead {
        Overhead { ip: IPV4, srtp_tag: SRTP_TAG_GCM, extensions: extension_block(&[4]) }
    }
}

impl Overhead {
    /// Everything around a payload: IP, UDP, RTP, extensions and the SRTP tag.
    pub fn per_packet(&self) -> Bytes {
        self.ip + UDP + RTP + self.extensions + self.srtp_tag
    }
}

/// The size of a one-byte-form extension block with elements of these `lengths` (1 to 16 bytes each; RFC 8285 section
/// 4.2): header, one byte before each element, padded to whole 32-bit words. Without elements there is no block.
pub fn extension_block(lengths: &[usize]) -> Bytes {
    if lengths.is_empty() {
        return Bytes::ZERO;
    }
    let elements: usize = lengths.iter().map(|length| 1 + length).sum();
    EXTENSION_HEAD + Bytes::new(elements.next_multiple_of(4) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_packet_carries_68_bytes_around_its_payload() {
        // 20 + 8 + 12 + (4 + 8: one id byte and 4 bytes of data, padded to two words) + 16.
        assert_eq!(Overhead::default().per_packet(), Bytes::new(68));
    }

    #[test]
    fn extension_elements_fill_whole_words() {
        assert_eq!(extension_block(&[]), Bytes::ZERO);
        assert_eq!(extension_block(&[2]), Bytes::new(8));
        assert_eq!(extension_block(&[3, 2]), Bytes::new(12));
    }
}
