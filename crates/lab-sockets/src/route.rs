//! Which datagrams go over the emulated link, and what identifies one at both peers.

/// Content of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DatagramKind {
    /// ICE and DTLS. The simulator has no handshake: it bypasses the link, whose time begins when the connection is up.
    Handshake,
    /// RTCP, over the link.
    Control,
    /// RTP, over the link.
    Media(PacketKey),
}

/// The unencrypted identity of a protected RTP packet: its SSRC and sequence number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PacketKey {
    pub(crate) ssrc: u32,
    pub(crate) sequence: u16,
}

impl DatagramKind {
    /// Classifies by the first bytes (RFC 7983 section 7, RFC 5761 section 4).
    pub(crate) fn of(datagram: &[u8]) -> DatagramKind {
        match *datagram {
            [128..=191, 192..=223, ..] => DatagramKind::Control,
            [128..=191, _, s0, s1, _, _, _, _, a, b, c, d, ..] => {
                let sequence = u16::from_be_bytes([s0, s1]);
                DatagramKind::Media(PacketKey { ssrc: u32::from_be_bytes([a, b, c, d]), sequence })
            }
            _ => DatagramKind::Handshake,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_media_and_its_reports_go_over_the_link() {
        assert_eq!(DatagramKind::of(&[0, 1, 0, 0]), DatagramKind::Handshake);
        assert_eq!(DatagramKind::of(&[22, 254, 253]), DatagramKind::Handshake);
        assert_eq!(DatagramKind::of(&[]), DatagramKind::Handshake);
        assert_eq!(DatagramKind::of(&[0x81, 205, 0, 3]), DatagramKind::Control);
        let rtp = [0x90, 96, 1, 2, 0, 0, 0, 0, 0, 0, 0, 100, 7];
        assert_eq!(DatagramKind::of(&rtp), DatagramKind::Media(PacketKey { ssrc: 100, sequence: 258 }));
    }
}
