//! Which datagrams go over the emulated link, and how one is known at both of its ends.

/// What a datagram is to a rehearsal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cargo {
    /// ICE and DTLS. The simulator knows of no handshake: it goes round the link, which begins when the connection stands.
    Handshake,
    /// RTCP, over the link.
    Control,
    /// RTP, over the link.
    Media(Label),
}

/// What a protected RTP packet says in the clear: its SSRC and sequence number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Label {
    pub(super) ssrc: u32,
    pub(super) sequence: u16,
}

impl Cargo {
    /// By the first bytes (RFC 7983 section 7, RFC 5761 section 4).
    pub(super) fn of(datagram: &[u8]) -> Cargo {
        match *datagram {
            [128..=191, 192..=223, ..] => Cargo::Control,
            [128..=191, _, s0, s1, _, _, _, _, a, b, c, d, ..] => {
                let sequence = u16::from_be_bytes([s0, s1]);
                Cargo::Media(Label { ssrc: u32::from_be_bytes([a, b, c, d]), sequence })
            }
            _ => Cargo::Handshake,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_media_and_its_reports_go_over_the_link() {
        assert_eq!(Cargo::of(&[0, 1, 0, 0]), Cargo::Handshake);
        assert_eq!(Cargo::of(&[22, 254, 253]), Cargo::Handshake);
        assert_eq!(Cargo::of(&[]), Cargo::Handshake);
        assert_eq!(Cargo::of(&[0x81, 205, 0, 3]), Cargo::Control);
        let rtp = [0x90, 96, 1, 2, 0, 0, 0, 0, 0, 0, 0, 100, 7];
        assert_eq!(Cargo::of(&rtp), Cargo::Media(Label { ssrc: 100, sequence: 258 }));
    }
}
