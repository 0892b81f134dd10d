//! Application layer feedback (RFC 4585 section 6.4): payload-specific feedback with one format number, distinguished
//! by its first four bytes, a convention that REMB started.

use super::header::Header;

/// Feedback format of application layer feedback.
pub(super) const FORMAT: u8 = 15;

/// The four bytes after the SSRCs of application layer feedback; `None` if it is too short.
pub(super) fn identifier(header: &Header<'_>) -> Option<[u8; 4]> {
    header.body().rest().get(8..12)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtcp::{Packet, parse};
    use alloc::vec::Vec;

    #[test]
    fn the_feedback_of_other_applications_is_kept_as_it_came() {
        for identifier in [*b"DEMB", *b"SLFZ", *b"slfy", [0; 4]] {
            let bytes = [&[0x8f, 206, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0][..], &identifier].concat();
            let packets = parse(&bytes).unwrap();
            assert!(
                matches!(&packets[..], [Packet::Opaque(opaque)] if opaque.count == FORMAT && opaque.body == bytes[4..])
            );
            let mut out = Vec::new();
            packets[0].write(&mut out).unwrap();
            assert_eq!(out, bytes);
        }
        // Too short for an identifier.
        assert!(matches!(parse(&[0x8f, 206, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0]).as_deref(), Ok([Packet::Opaque(_)])));
    }
}
