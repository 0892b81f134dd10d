//! Packetisation of temporal units, and reassembly.

use alloc::vec::Vec;
use core::fmt;

use thalweg_units::Bytes;

use super::obu::{DELIMITER, Obu, is_keyframe};
use super::{Payload, leb128};
use crate::reader::Reader;
use crate::{ParseError, WriteError};

/// Splits a temporal unit, whose OBUs have their sizes, into the payloads of its packets, of at most `limit` bytes, in
/// order; the last packet's marker bit is to be set. OBUs share packets, and one that does not fit into the rest of a
/// packet goes on in the next.
///
/// Temporal delimiters and tile lists are left out (RTP payload format, section 5). A unit with nothing else yields no
/// payloads.
///
/// # Errors
/// A `limit` below 3, or a unit that does not consist of OBUs.
pub fn fragments(unit: &[u8], limit: Bytes) -> Result<Vec<Vec<u8>>, WriteError> {
    let min = Payload::HEAD as u64 + 2;
    WriteError::check("limit of an AV1 payload in bytes", limit.get(), min, u64::MAX)?;
    let limit = usize::try_from(limit.get()).unwrap_or(usize::MAX);
    let obus = obus(unit)?;
    let mut cut = Cut { begins: is_keyframe(unit), ..Cut::default() };
    for obu in &obus {
        let mut rest = &obu[..];
        while !rest.is_empty() {
            let room = limit - cut.size;
            let (whole, part) = (leb128::size(rest.len()) + rest.len(), room.saturating_sub(leb128::size(room)));
            let (now, later) = rest.split_at(if whole <= room { rest.len() } else { part });
            cut.add(now);
            if !later.is_empty() {
                cut.finish(!now.is_empty())?;
            }
            rest = later;
        }
    }
    if !cut.elements.is_empty() {
        cut.finish(false)?;
    }
    Ok(cut.payloads)
}

/// The OBUs to send, without their sizes.
fn obus(unit: &[u8]) -> Result<Vec<Vec<u8>>, WriteError> {
    let (mut reader, mut obus) = (Reader::new(unit), Vec::new());
    while !reader.is_empty() {
        let left = reader.left() as u64;
        let what = "bytes at the end of an AV1 temporal unit that are no OBU";
        let obu = Obu::read(&mut reader).map_err(|_| WriteError { what, found: left, min: 0, max: 0 })?;
        if obu.is_sent() {
            obus.push(obu.unsized_bytes());
        }
    }
    Ok(obus)
}

/// A temporal unit that is being cut.
struct Cut<'a> {
    payloads: Vec<Vec<u8>>,
    /// The next payload: its elements, and its size if each has its length before it.
    elements: Vec<&'a [u8]>,
    size: usize,
    /// True if it begins a coded video sequence.
    begins: bool,
    /// True if its first element continues an OBU.
    continues: bool,
}

impl Default for Cut<'_> {
    fn default() -> Self {
        Cut { payloads: Vec::new(), elements: Vec::new(), size: Payload::HEAD, begins: false, continues: false }
    }
}

impl<'a> Cut<'a> {
    fn add(&mut self, element: &'a [u8]) {
        if !element.is_empty() {
            self.elements.push(element);
            self.size += leb128::size(element.len()) + element.len();
        }
    }

    /// The payload is complete; `goes_on` if its last OBU is not.
    fn finish(&mut self, goes_on: bool) -> Result<(), WriteError> {
        let elements = core::mem::take(&mut self.elements);
        let payload = Payload { continues: self.continues, goes_on, new_sequence: self.begins, elements };
        let mut bytes = Vec::with_capacity(payload.size());
        payload.write(&mut bytes)?;
        self.payloads.push(bytes);
        (self.size, self.begins, self.continues) = (Payload::HEAD, false, goes_on);
        Ok(())
    }
}

/// Why payloads do not form a temporal unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssemblyError {
    /// A payload, or an OBU, is malformed.
    Payload(ParseError),
    /// The payload at `index` continues an OBU whose beginning is missing.
    NoStart {
        /// Its index among the payloads.
        index: usize,
    },
    /// The payload at `index` begins before the previous OBU is complete.
    NoEnd {
        /// Its index among the payloads, or the number of payloads.
        index: usize,
    },
    /// There is no OBU.
    Empty,
}

impl fmt::Display for AssemblyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AssemblyError::Payload(error) => error.fmt(f),
            AssemblyError::NoStart { index } => {
                write!(f, "AV1 payload {index} goes on with an OBU that did not begin: drop the temporal unit")
            }
            AssemblyError::NoEnd { index } => {
                write!(f, "the AV1 OBU before payload {index} does not end: drop the temporal unit")
            }
            AssemblyError::Empty => f.write_str("no AV1 OBU: a temporal unit has at least one"),
        }
    }
}

impl core::error::Error for AssemblyError {}

/// Reassembles a temporal unit from the payloads of all its packets, in sequence order: a temporal delimiter, then the
/// OBUs with their sizes. The caller must ensure that none is missing (by sequence numbers and the marker bit).
///
/// # Errors
/// Payloads that do not form whole OBUs.
pub fn assemble<'a>(payloads: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<u8>, AssemblyError> {
    let mut unit = DELIMITER.to_vec();
    // The OBU that is not complete yet; no element is empty.
    let mut open = Vec::new();
    let mut count = 0;
    for (index, payload) in payloads.into_iter().enumerate() {
        count = index + 1;
        let Payload { continues, goes_on, elements, .. } = Payload::parse(payload).map_err(AssemblyError::Payload)?;
        match (continues, open.is_empty()) {
            (true, true) => return Err(AssemblyError::NoStart { index }),
            (false, false) => return Err(AssemblyError::NoEnd { index }),
            _ => {}
        }
        for (place, element) in (1..).zip(&elements) {
            open.extend_from_slice(element);
            if place < elements.len() || !goes_on {
                push(&mut unit, &open).map_err(AssemblyError::Payload)?;
                open.clear();
            }
        }
    }
    match open.is_empty() {
        false => Err(AssemblyError::NoEnd { index: count }),
        true if unit.len() == DELIMITER.len() => Err(AssemblyError::Empty),
        true => Ok(unit),
    }
}

/// Appends an OBU, unless receivers ignore it.
fn push(unit: &mut Vec<u8>, bytes: &[u8]) -> Result<(), ParseError> {
    let mut reader = Reader::new(bytes);
    let obu = Obu::read(&mut reader)?;
    if !reader.is_empty() {
        let (what, found) = ("bytes behind an AV1 OBU in its element", reader.left() as u64);
        return Err(ParseError::OutOfRange { what, at: reader.at(), found, min: 0, max: 0 });
    }
    if obu.is_sent() {
        obu.write(unit);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A temporal unit of OBUs with these types and lengths.
    fn unit_of(obus: &[(u8, usize)]) -> Vec<u8> {
        let mut unit = DELIMITER.to_vec();
        for (kind, length) in obus {
            unit.push(kind << 3 | 2);
            leb128::write(*length, &mut unit);
            unit.extend((0..*length).map(|at| (at * 7 % 251) as u8));
        }
        unit
    }

    fn assembled(payloads: &[Vec<u8>]) -> Result<Vec<u8>, AssemblyError> {
        assemble(payloads.iter().map(Vec::as_slice))
    }

    #[test]
    fn a_sequence_header_shares_its_packet_with_the_beginning_of_a_frame() {
        let unit = [&DELIMITER[..], &[0x0a, 2, 0, 1], &[0x32, 9, 0x10, 1, 2, 3, 4, 5, 6, 7, 8]].concat();
        let payloads = fragments(&unit, Bytes::new(10)).unwrap();
        // Y, two elements, N; three bytes of sequence header, and what remains of the ten. Then Z and the rest.
        assert_eq!(payloads[0], [0x68, 3, 0x08, 0, 1, 0x30, 0x10, 1, 2]);
        assert_eq!(payloads[1], [0x90, 3, 4, 5, 6, 7, 8]);
        assert_eq!(assembled(&payloads), Ok(unit));
    }

    #[test]
    fn an_obu_goes_on_over_as_many_packets_as_it_needs() {
        let unit = unit_of(&[(6, 50)]);
        let payloads = fragments(&unit, Bytes::new(22)).unwrap();
        let heads: Vec<_> = payloads.iter().map(|payload| (payload[0], payload.len())).collect();
        assert_eq!(heads, [(0x50, 21), (0xd0, 21), (0x90, 12)]);
        assert_eq!(assembled(&payloads), Ok(unit));
    }

    #[test]
    fn sizes_delimiters_and_tile_lists_in_packets_are_taken_as_they_may_be() {
        // Three elements: a delimiter, a sequence header with its size, a frame without; then a tile list.
        let payloads = [[0x38, 2, 0x12, 0, 3, 0x0a, 1, 0, 0x30, 0x10].to_vec(), [0x10, 0x40, 9].to_vec()];
        assert_eq!(assembled(&payloads), Ok([0x12, 0, 0x0a, 1, 0, 0x32, 1, 0x10].to_vec()));
    }

    #[test]
    fn parts_without_beginning_or_end_are_no_unit() {
        let assemble = |payloads: &[&[u8]]| assemble(payloads.iter().copied());
        let (first, middle, last) = (&[0x50, 0x30, 1][..], &[0xd0, 2][..], &[0x90, 3][..]);
        assert_eq!(assemble(&[first, middle, last]), Ok([0x12, 0, 0x32, 3, 1, 2, 3].to_vec()));
        assert_eq!(assemble(&[middle, last]), Err(AssemblyError::NoStart { index: 0 }));
        assert_eq!(assemble(&[first, middle]), Err(AssemblyError::NoEnd { index: 2 }));
        assert_eq!(assemble(&[first, first]), Err(AssemblyError::NoEnd { index: 1 }));
        assert_eq!(assemble(&[first, last, last]), Err(AssemblyError::NoStart { index: 2 }));
        assert_eq!(assemble(&[]), Err(AssemblyError::Empty));
        assert_eq!(assemble(&[&[0x10, 0x12, 0]]), Err(AssemblyError::Empty), "a delimiter alone");
        // An OBU that is cut off, forbidden, or followed by something else.
        for bad in [&[0x10, 0x32, 9, 1][..], &[0x10, 0xb0, 1], &[0x10, 0x34], &[0x10, 0x32, 1, 0x10, 0]] {
            assert!(matches!(assemble(&[bad]), Err(AssemblyError::Payload(_))), "{bad:x?}");
        }
    }

    #[test]
    fn a_unit_that_is_none_and_a_packet_without_room_are_refused() {
        let unit = unit_of(&[(1, 1), (6, 1)]);
        assert!(fragments(&unit, Bytes::new(2)).is_err() && fragments(&unit, Bytes::new(3)).is_ok());
        assert!(fragments(&[0x32, 9, 1], Bytes::new(100)).is_err());
        assert_eq!(fragments(&DELIMITER, Bytes::new(100)), Ok(Vec::new()));
    }

    proptest! {
        #[test]
        fn a_unit_survives_being_cut_and_put_together(
            obus in prop::collection::vec((prop_oneof![Just(1u8), 3u8..8, Just(15)], 0usize..2000), 1..6), limit in 3u64..1500,
        ) {
            let unit = unit_of(&obus);
            let payloads = fragments(&unit, Bytes::new(limit)).unwrap();
            prop_assert!(payloads.iter().all(|payload| payload.len() as u64 <= limit));
            prop_assert!(payloads.iter().skip(1).all(|payload| payload[0] & 8 == 0));
            prop_assert_eq!(assembled(&payloads), Ok(unit));
        }

        #[test]
        fn any_payloads_are_a_unit_or_refused(
            payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..4),
        ) {
            if let Ok(unit) = assembled(&payloads) {
                let again = fragments(&unit, Bytes::new(20)).unwrap();
                prop_assert_eq!(assembled(&again), Ok(unit));
            }
        }
    }
}
