//! The payload of one packet (RFC 6184 section 5.2): one NAL unit, several, or part of one.

use alloc::vec::Vec;

use crate::reader::Reader;
use crate::{ParseError, WriteError};

/// Type of a single-time aggregation packet (STAP-A).
const AGGREGATE: u8 = 24;
/// Type of a fragmentation unit without decoding order number (FU-A).
const PART: u8 = 28;
/// The bits of a NAL unit's first byte other than its type: F and NRI.
const FLAGS: u8 = 0xe0;
const TYPE: u8 = 0x1f;

/// The payload of one packet of the non-interleaved mode (`packetization-mode=1`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload<'a> {
    /// One whole unit.
    Single(&'a [u8]),
    /// Several whole units (STAP-A).
    Aggregate(Vec<&'a [u8]>),
    /// Part of a unit (FU-A).
    Part {
        /// The first byte of the whole unit.
        header: u8,
        /// S: the unit begins here.
        first: bool,
        /// E: it ends here.
        last: bool,
        /// The bytes of the unit without its first byte.
        data: &'a [u8],
    },
}

impl<'a> Payload<'a> {
    /// Header bytes before the data of a part.
    pub(super) const PART_HEAD: usize = 2;
    /// Header bytes before the units of an aggregate.
    pub(super) const AGGREGATE_HEAD: usize = 1;
    /// Header bytes before each unit of an aggregate.
    pub(super) const UNIT_HEAD: usize = 2;

    /// Parses a payload. Whole units are not empty and have types 1 to 23.
    ///
    /// # Errors
    /// A truncated field; the types 0 and 25 to 31 except FU-A (28), which the non-interleaved mode does not have.
    pub fn parse(payload: &'a [u8]) -> Result<Payload<'a>, ParseError> {
        let mut reader = Reader::new(payload);
        let header = reader.u8("H.264 payload header")?;
        match header & TYPE {
            1..AGGREGATE => Ok(Payload::Single(payload)),
            AGGREGATE => {
                let mut units = Vec::new();
                while !reader.is_empty() || units.is_empty() {
                    let length = reader.u16("length of an aggregated H.264 unit")?;
                    let at = reader.at();
                    let unit = reader.take("aggregated H.264 unit", length.into())?;
                    let kind = unit.first().map_or(0, |header| header & TYPE);
                    check_whole(kind, at)?;
                    units.push(unit);
                }
                Ok(Payload::Aggregate(units))
            }
            PART => {
                let at = reader.at();
                let part = reader.u8("H.264 fragmentation header")?;
                check_whole(part & TYPE, at)?;
                let header = header & FLAGS | part & TYPE;
                Ok(Payload::Part { header, first: part & 0x80 != 0, last: part & 0x40 != 0, data: reader.rest() })
            }
            other => check_whole(other, 0).map(|()| Payload::Single(payload)),
        }
    }

    /// Appends the payload to `out`.
    ///
    /// # Errors
    /// Empty units, an empty aggregate, units of types other than 1 to 23, an aggregated unit of more than 65,535
    /// bytes; `out` is then unchanged.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        let whole = |header: Option<&u8>| {
            WriteError::check("type of an H.264 unit", header.map_or(0, |header| header & TYPE).into(), 1, 23)
        };
        match self {
            Payload::Single(unit) => {
                whole(unit.first())?;
                out.extend_from_slice(unit);
            }
            Payload::Aggregate(units) => {
                WriteError::check("units of an aggregate", units.len() as u64, 1, u64::MAX)?;
                for unit in units {
                    whole(unit.first())?;
                    WriteError::check("bytes of an aggregated H.264 unit", unit.len() as u64, 1, u16::MAX.into())?;
                }
                // F is set if any unit has it, and NRI is the max of all units (section 5.7.1).
                let forbidden = units.iter().fold(0, |all, unit| all | unit[0] & 0x80);
                let importance = units.iter().map(|unit| unit[0] & 0x60).max().unwrap_or(0);
                out.push(forbidden | importance | AGGREGATE);
                for unit in units {
                    out.extend_from_slice(&(unit.len() as u16).to_be_bytes());
                    out.extend_from_slice(unit);
                }
            }
            Payload::Part { header, first, last, data } => {
                whole(Some(header))?;
                out.push(header & FLAGS | PART);
                out.push(u8::from(*first) << 7 | u8::from(*last) << 6 | header & TYPE);
                out.extend_from_slice(data);
            }
        }
        Ok(())
    }

    /// Length of the payload in bytes.
    pub fn size(&self) -> usize {
        match self {
            Payload::Single(unit) => unit.len(),
            Payload::Aggregate(units) => {
                Self::AGGREGATE_HEAD + units.iter().map(|unit| Self::UNIT_HEAD + unit.len()).sum::<usize>()
            }
            Payload::Part { data, .. } => Self::PART_HEAD + data.len(),
        }
    }
}

/// Checks the type of a whole NAL unit; an empty unit counts as type 0.
fn check_whole(kind: u8, at: usize) -> Result<(), ParseError> {
    match kind {
        1..AGGREGATE => Ok(()),
        _ => Err(ParseError::OutOfRange { what: "type of an H.264 unit", at, found: kind.into(), min: 1, max: 23 }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(payload: &Payload<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        payload.write(&mut out).unwrap();
        assert_eq!(out.len(), payload.size());
        out
    }

    #[test]
    fn parameter_sets_share_a_packet() {
        // RFC 6184 figure 7, with the max NRI.
        let payload = Payload::Aggregate([&[0x67, 1, 2][..], &[0x28, 3]].to_vec());
        let bytes = [0x78, 0, 3, 0x67, 1, 2, 0, 2, 0x28, 3];
        assert_eq!(written(&payload), bytes);
        assert_eq!(Payload::parse(&bytes), Ok(payload));
        // A cut between two units is undetectable; every other cut is detected.
        for length in (0..bytes.len()).filter(|length| *length != 6) {
            assert!(Payload::parse(&bytes[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn the_first_byte_of_a_unit_is_spread_over_the_two_of_its_parts() {
        // RFC 6184 figures 15 and 16: F and NRI in the indicator, the type in the header.
        let part = |first, last| Payload::Part { header: 0x65, first, last, data: &[9] };
        assert_eq!(written(&part(true, false)), [0x7c, 0x85, 9]);
        assert_eq!(written(&part(false, false)), [0x7c, 0x05, 9]);
        assert_eq!(written(&part(false, true)), [0x7c, 0x45, 9]);
        assert_eq!(Payload::parse(&[0x7c, 0x85, 9]), Ok(part(true, false)));
    }

    #[test]
    fn types_of_other_modes_and_empty_units_are_refused() {
        for kind in [0, 25, 26, 27, 29, 30, 31] {
            assert!(Payload::parse(&[0x60 | kind, 1, 2, 3]).is_err(), "type {kind}");
        }
        assert!(Payload::parse(&[0x78, 0, 0]).is_err() && Payload::parse(&[0x78, 0, 1, 0x78]).is_err());
        assert!(Payload::parse(&[0x7c, 0x80]).is_err() && Payload::parse(&[0x7c]).is_err());
        let mut out = Vec::new();
        for bad in [
            Payload::Single(&[]),
            Payload::Single(&[0x78]),
            Payload::Aggregate(Vec::new()),
            Payload::Aggregate([&[][..]].to_vec()),
            Payload::Part { header: 0x60, first: true, last: false, data: &[1] },
        ] {
            assert!(bad.write(&mut out).is_err() && out.is_empty(), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn a_payload_survives_being_written_and_read(
            units in prop::collection::vec((0u8..8, 1u8..24, prop::collection::vec(any::<u8>(), 0..40)), 1..5),
            first: bool, last: bool, data: Vec<u8>,
        ) {
            let units: Vec<Vec<u8>> =
                units.iter().map(|(flags, kind, rest)| [&[flags << 5 | kind][..], rest].concat()).collect();
            let header = units[0][0];
            for payload in [
                Payload::Single(&units[0]),
                Payload::Aggregate(units.iter().map(Vec::as_slice).collect()),
                Payload::Part { header, first, last, data: &data },
            ] {
                let bytes = written(&payload);
                prop_assert_eq!(Payload::parse(&bytes), Ok(payload));
            }
        }
    }
}
