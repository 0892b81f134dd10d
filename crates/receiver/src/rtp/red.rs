//! Contents of a RED packet (RFC 2198): media as it would be without RED, and FEC over such media (RFC 5109 section
//! 14).

use thalweg_wire::ParseError;
use thalweg_wire::red::Red;
use thalweg_wire::rtp::Packet;

use super::config::Redundancy;

/// The parsed payload of a RED packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Opened<'a> {
    /// The payload of the primary media block, which is the last one. Redundant copies of earlier media are not used,
    /// because their sequence numbers are unknown.
    pub(super) media: Option<&'a [u8]>,
    /// The payload of the last FEC block.
    pub(super) fec: Option<&'a [u8]>,
}

/// Parses the payload of a RED packet; `media` is the payload type of media.
///
/// # Errors
/// A truncated block.
pub(super) fn open<'a>(types: Redundancy, media: u8, payload: &'a [u8]) -> Result<Opened<'a>, ParseError> {
    let red = Red::parse(payload)?;
    let earlier = red.earlier.iter().rfind(|block| block.payload_type == types.ulpfec);
    let last = (!red.payload.is_empty()).then_some(red.payload);
    Ok(Opened {
        media: last.filter(|_| red.payload_type == media),
        fec: last.filter(|_| red.payload_type == types.ulpfec).or(earlier.map(|block| block.payload)),
    })
}

/// Rebuilds packet `rtp`, with these `bytes`, as it was before its `media` of this payload type was put into RED: the
/// form that FEC protects.
pub(super) fn without_red(rtp: &Packet<'_>, bytes: &[u8], payload_type: u8, media: &[u8]) -> Vec<u8> {
    let padding = bytes.len() - usize::from(rtp.padding);
    let (header, padding) = (&bytes[..padding - rtp.payload.len()], &bytes[padding..]);
    let mut out = [header, media, padding].concat();
    out[1] = out[1] & 0x80 | payload_type;
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_wire::red::Earlier;
    use thalweg_wire::rtp::{Extension, ExtensionBuffer, Header};

    const REDUNDANCY: Redundancy = Redundancy { red: 116, ulpfec: 117, retransmission: None };

    fn written(red: &Red<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        red.write(&mut out).unwrap();
        out
    }

    fn opened(red: &Red<'_>) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
        let payload = written(red);
        let Opened { media, fec } = open(REDUNDANCY, 96, &payload).unwrap();
        (media.map(<[u8]>::to_vec), fec.map(<[u8]>::to_vec))
    }

    #[test]
    fn media_or_fec_or_both_are_in_a_packet() {
        assert_eq!(opened(&Red::alone(96, b"media")), (Some(b"media".to_vec()), None));
        assert_eq!(opened(&Red::alone(117, b"fec")), (None, Some(b"fec".to_vec())));
        assert_eq!(opened(&Red::alone(111, b"audio")), (None, None));
        assert_eq!(opened(&Red::alone(96, b"")), (None, None));
        let earlier = |payload_type, payload| Earlier { payload_type, timestamp_offset: 0, payload };
        let both = vec![earlier(96, &b"before"[..]), earlier(117, b"fec")];
        let both = Red { earlier: both, payload_type: 96, payload: b"media" };
        assert_eq!(opened(&both), (Some(b"media".to_vec()), Some(b"fec".to_vec())));
        assert!(open(REDUNDANCY, 96, &[0x80 | 96]).is_err());
    }

    #[test]
    fn without_red_a_packet_is_as_its_sender_had_it() {
        let block = ExtensionBuffer::of(&[Extension { id: 3, data: &[1, 2] }]).unwrap();
        let packet = |payload_type, payload: &[u8]| {
            let header = Header { marker: true, payload_type, sequence: 5, timestamp: 7, ssrc: 9 };
            let packet = Packet { extensions: Some(block.as_extensions()), padding: 3, ..Packet::new(header, payload) };
            let mut out = Vec::new();
            packet.write(&mut out).unwrap();
            out
        };
        let bytes = packet(116, &written(&Red::alone(96, b"media")));
        let rtp = Packet::parse(&bytes).unwrap();
        let media = open(REDUNDANCY, 96, rtp.payload).unwrap().media.unwrap();
        assert_eq!(without_red(&rtp, &bytes, 96, media), packet(96, b"media"));
    }
}
