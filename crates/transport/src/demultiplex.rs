//! Classifies datagrams by their first bytes, and finds the connection that a STUN request addresses.

/// Content of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Stun,
    Dtls,
    Rtp,
    Rtcp,
}

impl Kind {
    /// Classified by the first byte (RFC 7983 section 7), and RTCP from RTP by the second (RFC 5761 section 4: packet
    /// types 192 to 223). `None` for datagrams not supported here: TURN channels, ZRTP, QUIC, empty ones.
    pub(crate) fn of(datagram: &[u8]) -> Option<Kind> {
        match *datagram {
            [0..=3, ..] => Some(Kind::Stun),
            [20..=63, ..] => Some(Kind::Dtls),
            [128..=191, 192..=223, ..] => Some(Kind::Rtcp),
            [128..=191, _, ..] => Some(Kind::Rtp),
            _ => None,
        }
    }
}

/// The ufrag that a STUN binding request addresses: the receiver's, the part of its USERNAME before the colon (RFC 8445
/// section 7.2.2). `None` for any other datagram.
///
/// It lets one UDP port serve many connections, and is only an address: the [`crate::Connection`] decides whether the
/// request is authentic.
pub fn ufrag_of(datagram: &[u8]) -> Option<&str> {
    const BINDING_REQUEST: [u8; 2] = [0, 1];
    const MAGIC_COOKIE: [u8; 4] = [0x21, 0x12, 0xa4, 0x42];
    const USERNAME: u16 = 6;
    let (header, mut attributes) = datagram.split_at_checked(20)?;
    let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
    if header[..2] != BINDING_REQUEST || header[4..8] != MAGIC_COOKIE || length != attributes.len() {
        return None;
    }
    while let Some((head, rest)) = attributes.split_at_checked(4) {
        let length = usize::from(u16::from_be_bytes([head[2], head[3]]));
        let value = rest.get(..length)?;
        if u16::from_be_bytes([head[0], head[1]]) == USERNAME {
            let (ufrag, _) = std::str::from_utf8(value).ok()?.split_once(':')?;
            return (!ufrag.is_empty()).then_some(ufrag);
        }
        attributes = rest.get(length.next_multiple_of(4)..)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A binding request with these attributes.
    fn request(attributes: &[(u16, &[u8])]) -> Vec<u8> {
        let mut body = Vec::new();
        for (kind, value) in attributes {
            body.extend(kind.to_be_bytes());
            body.extend((value.len() as u16).to_be_bytes());
            body.extend_from_slice(value);
            body.resize(body.len().next_multiple_of(4), 0);
        }
        let mut out = vec![0, 1];
        out.extend((body.len() as u16).to_be_bytes());
        out.extend([0x21, 0x12, 0xa4, 0x42]);
        out.extend([7; 12]);
        out.extend(body);
        out
    }

    #[test]
    fn the_first_bytes_tell_what_a_datagram_is() {
        let cases: [(&[u8], Option<Kind>); 14] = [
            (&[], None),
            (&[0], Some(Kind::Stun)),
            (&[3, 1], Some(Kind::Stun)),
            (&[4], None),
            (&[19], None),
            (&[20], Some(Kind::Dtls)),
            (&[63], Some(Kind::Dtls)),
            (&[64], None),
            (&[127, 200], None),
            (&[128, 191], Some(Kind::Rtp)),
            (&[128, 192], Some(Kind::Rtcp)),
            (&[191, 223], Some(Kind::Rtcp)),
            (&[191, 224], Some(Kind::Rtp)),
            (&[192, 200], None),
        ];
        for (datagram, kind) in cases {
            assert_eq!(Kind::of(datagram), kind, "{datagram:?}");
        }
    }

    #[test]
    fn a_binding_request_names_whom_it_is_for() {
        assert_eq!(ufrag_of(&request(&[(0x24, &[1, 2, 3, 4]), (6, b"ours:theirs")])), Some("ours"));
        assert_eq!(ufrag_of(&request(&[(0x8022, b"odd"), (6, b"a:b:c")])), Some("a"));
        for username in [&b"nocolon"[..], b":empty", b"\xff\xfe:x", b""] {
            assert_eq!(ufrag_of(&request(&[(6, username)])), None, "{username:?}");
        }
        assert_eq!(ufrag_of(&request(&[])), None);
        let good = request(&[(6, b"ours:theirs")]);
        for (at, with) in [(0, 1), (1, 0x11), (3, 0), (4, 0)] {
            let mut bad = good.clone();
            bad[at] = with;
            assert_eq!(ufrag_of(&bad), None, "byte {at}");
        }
        assert!((0..good.len()).all(|length| ufrag_of(&good[..length]).is_none()));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(start in prop::bool::ANY, bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut datagram = bytes.clone();
            if start {
                datagram = request(&[]);
                datagram[2..4].copy_from_slice(&(bytes.len() as u16).to_be_bytes());
                datagram.extend(bytes);
            }
            if let Some(ufrag) = ufrag_of(&datagram) {
                prop_assert!(datagram.windows(ufrag.len()).any(|window| window == ufrag.as_bytes()));
            }
        }
    }
}
