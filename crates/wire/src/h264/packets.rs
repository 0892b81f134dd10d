//! Packetisation of access units, and reassembly.

use alloc::vec::Vec;
use core::fmt;

use thalweg_units::Bytes;

use super::{Payload, UnitKind, units};
use crate::split::about_equal;
use crate::{ParseError, WriteError};

/// Written before every unit: the form of four bytes is valid everywhere (Annex B section B.1.1).
const START_CODE: [u8; 4] = [0, 0, 0, 1];

/// The part of an access unit in one packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fragment<'a> {
    /// The packet's payload.
    pub payload: Payload<'a>,
    /// True for the last one: the packet's marker bit.
    pub last: bool,
}

/// Splits an access unit (a frame, Annex B) into payloads of at most `limit` bytes, in order: consecutive units that
/// fit into one packet share it (STAP-A), a unit that does not fit is split into about equal parts, the larger ones
/// last (FU-A).
///
/// Access unit delimiters and filler are left out: marker bit and timestamp already mark the end of a frame, and RTP
/// has its own padding. An access unit with nothing else yields no payloads.
///
/// # Errors
/// A `limit` below 3, or a unit of a type reserved for RTP (0, 24 to 31).
pub fn fragments(access_unit: &[u8], limit: Bytes) -> Result<Vec<Fragment<'_>>, WriteError> {
    let min = Payload::PART_HEAD as u64 + 1;
    WriteError::check("limit of an H.264 payload in bytes", limit.get(), min, u64::MAX)?;
    let limit = usize::try_from(limit.get()).unwrap_or(usize::MAX);
    let mut payloads = Vec::new();
    // Units that may still share a packet, and the bytes they take in it.
    let (mut small, mut size) = (Vec::new(), Payload::AGGREGATE_HEAD);
    for unit in units(access_unit) {
        WriteError::check("type of an H.264 unit", u64::from(unit[0] & 0x1f), 1, 23)?;
        if matches!(UnitKind::of(unit[0]), UnitKind::Delimiter | UnitKind::Filler) {
            continue;
        }
        let more = Payload::UNIT_HEAD + unit.len();
        if size + more > limit || unit.len() > usize::from(u16::MAX) {
            flush(&mut small, &mut payloads);
            size = Payload::AGGREGATE_HEAD;
        }
        if unit.len() <= limit {
            small.push(unit);
            size += more;
        } else {
            let (header, data) = (unit[0], &unit[1..]);
            payloads.extend(about_equal(data.len(), limit - Payload::PART_HEAD).map(|part| Payload::Part {
                header,
                first: part.start == 0,
                last: part.end == data.len(),
                data: &data[part],
            }));
        }
    }
    flush(&mut small, &mut payloads);
    let count = payloads.len();
    Ok(payloads.into_iter().enumerate().map(|(at, payload)| Fragment { payload, last: at + 1 == count }).collect())
}

/// Moves the units that share a packet into a payload.
fn flush<'a>(small: &mut Vec<&'a [u8]>, payloads: &mut Vec<Payload<'a>>) {
    match small[..] {
        [] => {}
        [unit] => payloads.push(Payload::Single(unit)),
        _ => payloads.push(Payload::Aggregate(small.clone())),
    }
    small.clear();
}

/// Why payloads do not form an access unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssemblyError {
    /// A payload is malformed.
    Payload(ParseError),
    /// The payload at `index` continues a unit whose beginning is missing.
    NoStart {
        /// Its index among the payloads.
        index: usize,
    },
    /// The payload at `index` begins before the previous unit is complete.
    NoEnd {
        /// Its index among the payloads, or the number of payloads.
        index: usize,
    },
    /// There is no unit.
    Empty,
}

impl fmt::Display for AssemblyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AssemblyError::Payload(error) => error.fmt(f),
            AssemblyError::NoStart { index } => {
                write!(f, "H.264 payload {index} goes on with a unit that did not begin: drop the frame")
            }
            AssemblyError::NoEnd { index } => {
                write!(f, "the H.264 unit before payload {index} does not end: drop the frame")
            }
            AssemblyError::Empty => f.write_str("no H.264 payload: an access unit has at least one"),
        }
    }
}

impl core::error::Error for AssemblyError {}

/// Reassembles an access unit (Annex B) from the payloads of all its packets, in sequence order. The caller must ensure
/// that none is missing (by sequence numbers and the marker bit).
///
/// # Errors
/// Payloads that do not form whole units.
pub fn assemble<'a>(payloads: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<u8>, AssemblyError> {
    let mut access_unit = Vec::new();
    // The first byte of the incomplete unit.
    let mut open: Option<u8> = None;
    let mut count = 0;
    for (index, payload) in payloads.into_iter().enumerate() {
        count = index + 1;
        let payload = Payload::parse(payload).map_err(AssemblyError::Payload)?;
        let goes_on = matches!(payload, Payload::Part { first: false, .. });
        if open.is_some() && !goes_on {
            return Err(AssemblyError::NoEnd { index });
        }
        match payload {
            Payload::Single(unit) => push(&mut access_unit, unit),
            Payload::Aggregate(units) => units.iter().for_each(|unit| push(&mut access_unit, unit)),
            Payload::Part { header, first, last, data } => {
                if first {
                    push(&mut access_unit, &[header]);
                } else if open != Some(header) {
                    return Err(AssemblyError::NoStart { index });
                }
                access_unit.extend_from_slice(data);
                open = (!last).then_some(header);
            }
        }
    }
    match open {
        Some(_) => Err(AssemblyError::NoEnd { index: count }),
        None if access_unit.is_empty() => Err(AssemblyError::Empty),
        None => Ok(access_unit),
    }
}

/// Appends a start code and the unit.
pub(super) fn push(access_unit: &mut Vec<u8>, unit: &[u8]) {
    access_unit.extend_from_slice(&START_CODE);
    access_unit.extend_from_slice(unit);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stream(units: &[&[u8]]) -> Vec<u8> {
        let mut out = Vec::new();
        units.iter().for_each(|unit| push(&mut out, unit));
        out
    }

    fn payloads(access_unit: &[u8], limit: u64) -> Vec<Vec<u8>> {
        let fragments = fragments(access_unit, Bytes::new(limit)).unwrap();
        assert!(fragments.iter().rev().skip(1).all(|fragment| !fragment.last));
        assert!(fragments.last().is_none_or(|fragment| fragment.last));
        let write = |fragment: &Fragment<'_>| {
            let mut out = Vec::new();
            fragment.payload.write(&mut out).unwrap();
            assert!(out.len() as u64 <= limit && out.len() == fragment.payload.size());
            out
        };
        fragments.iter().map(write).collect()
    }

    #[test]
    fn parameter_sets_share_a_packet_and_a_large_slice_is_cut() {
        let slice = [&[0x65][..], &[7; 20]].concat();
        let access_unit = stream(&[&[0x09, 0xf0], &[0x67, 1, 2], &[0x68, 3], &slice]);
        let payloads = payloads(&access_unit, 12);
        assert_eq!(payloads[0], [0x78, 0, 3, 0x67, 1, 2, 0, 2, 0x68, 3]);
        assert_eq!(payloads[1], [0x7c, 0x85, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7]);
        assert_eq!(payloads[2], [0x7c, 0x45, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7]);
        assert_eq!(assemble(payloads.iter().map(Vec::as_slice)), Ok(stream(&[&[0x67, 1, 2], &[0x68, 3], &slice])));
    }

    #[test]
    fn a_unit_of_the_limit_is_whole_and_one_byte_more_is_not() {
        let unit = [&[0x41][..], &[7; 9]].concat();
        assert_eq!(payloads(&stream(&[&unit]), 10), core::slice::from_ref(&unit));
        assert_eq!(payloads(&stream(&[&unit]), 9), [&[0x5c, 0x81, 7, 7, 7, 7][..], &[0x5c, 0x41, 7, 7, 7, 7, 7]]);
        // Two units whose total is one byte too long.
        assert_eq!(payloads(&stream(&[&unit, &[0x41, 8]]), 15), [unit, [0x41, 8].to_vec()]);
    }

    #[test]
    fn an_access_unit_without_units_gives_nothing_and_others_units_are_refused() {
        assert_eq!(fragments(&[], Bytes::new(3)), Ok(Vec::new()));
        assert_eq!(fragments(&stream(&[&[9, 0xf0], &[12, 0xff]]), Bytes::new(3)), Ok(Vec::new()));
        assert!(fragments(&[], Bytes::new(2)).is_err());
        assert!(fragments(&stream(&[&[0x78, 1]]), Bytes::new(100)).is_err());
    }

    #[test]
    fn parts_without_their_beginning_or_end_are_no_access_unit() {
        let (first, middle, last) = (&[0x7c, 0x85, 1][..], &[0x7c, 0x05, 2][..], &[0x7c, 0x45, 3][..]);
        assert_eq!(assemble([first, middle, last]), Ok([0, 0, 0, 1, 0x65, 1, 2, 3].to_vec()));
        assert_eq!(assemble([middle, last]), Err(AssemblyError::NoStart { index: 0 }));
        assert_eq!(assemble([first, middle]), Err(AssemblyError::NoEnd { index: 2 }));
        assert_eq!(assemble([first, first]), Err(AssemblyError::NoEnd { index: 1 }));
        assert_eq!(assemble([first, &[0x41, 9]]), Err(AssemblyError::NoEnd { index: 1 }));
        assert_eq!(assemble([first, &[0x7c, 0x41, 3]]), Err(AssemblyError::NoStart { index: 1 }), "of another unit");
        assert_eq!(assemble([]), Err(AssemblyError::Empty));
    }

    /// No byte below 2, so that nothing in a unit looks like a start code.
    fn rest() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![prop::collection::vec(2u8..=255, 0..40), prop::collection::vec(2u8..=255, 1000..3000)]
    }

    proptest! {
        #[test]
        fn an_access_unit_survives_being_cut_and_put_together(
            units in prop::collection::vec((0u8..4, 1u8..24, rest()), 1..8),
            limit in prop_oneof![3u64..50, 1000u64..1300],
        ) {
            let units: Vec<Vec<u8>> = units
                .iter()
                .filter(|(_, kind, _)| *kind != 9 && *kind != 12)
                .map(|(importance, kind, rest)| [&[importance << 5 | kind][..], rest].concat())
                .collect();
            prop_assume!(!units.is_empty());
            let access_unit = stream(&units.iter().map(Vec::as_slice).collect::<Vec<_>>());
            let payloads = payloads(&access_unit, limit);
            prop_assert_eq!(assemble(payloads.iter().map(Vec::as_slice)), Ok(access_unit));
        }
    }
}
