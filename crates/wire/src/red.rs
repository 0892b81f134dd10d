//! RED: several payloads in one packet (RFC 2198).
//!
//! The last payload is the primary one, to which the packet's sequence number and timestamp belong. The payloads before
//! it are copies of earlier ones, or FEC (RFC 5109 section 14.2). Browsers put a single payload into it, media or
//! [`ulpfec`](crate::ulpfec), to have both in one stream.
//!
//! ```
//! use thalweg_wire::red::{Earlier, Red};
//!
//! let earlier = Earlier { payload_type: 111, timestamp_offset: 960, payload: b"before" };
//! let red = Red { earlier: vec![earlier], payload_type: 111, payload: b"now" };
//! let mut bytes = Vec::new();
//! red.write(&mut bytes)?;
//! assert_eq!(bytes.len(), 4 + 1 + 6 + 3);
//! assert_eq!(Red::parse(&bytes)?, red);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use alloc::vec::Vec;

use crate::reader::Reader;
use crate::{ParseError, WriteError};

/// Another block's header follows this one (F).
const MORE: u8 = 0x80;
/// Bits of a length, which follows the timestamp offset.
const LENGTH_BITS: u32 = 10;
/// Max bytes of a payload before the last.
const LONGEST: u32 = (1 << LENGTH_BITS) - 1;
/// Max timestamp offset in ticks.
const FARTHEST: u16 = (1 << 14) - 1;

/// The parsed payload of a RED packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Red<'a> {
    /// The payloads before the last, in order.
    pub earlier: Vec<Earlier<'a>>,
    /// The last payload's type, 0 to 127.
    pub payload_type: u8,
    /// The last payload, to the end of the packet: the primary payload.
    pub payload: &'a [u8],
}

/// A payload before the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Earlier<'a> {
    /// Its type, 0 to 127.
    pub payload_type: u8,
    /// How much earlier its timestamp is than the packet's, in ticks of the media clock: at most 16,383.
    pub timestamp_offset: u16,
    /// The payload, at most 1023 bytes.
    pub payload: &'a [u8],
}

impl<'a> Red<'a> {
    /// A single payload without earlier ones.
    pub fn alone(payload_type: u8, payload: &'a [u8]) -> Red<'a> {
        Red { earlier: Vec::new(), payload_type, payload }
    }

    /// Parses a RED packet's payload, without RTP padding.
    ///
    /// # Errors
    /// A truncated header or payload.
    pub fn parse(payload: &'a [u8]) -> Result<Red<'a>, ParseError> {
        let mut reader = Reader::new(payload);
        let mut heads = Vec::new();
        let payload_type = loop {
            let first = reader.u8("RED payload type")?;
            if first & MORE == 0 {
                break first;
            }
            let offset_and_length = reader.u24("RED timestamp offset and block length")?;
            heads.push((first & !MORE, offset_and_length));
        };
        let earlier = heads.into_iter().map(|(payload_type, offset_and_length)| {
            let timestamp_offset = (offset_and_length >> LENGTH_BITS) as u16;
            let payload = reader.take("RED block", (offset_and_length & LONGEST) as usize)?;
            Ok(Earlier { payload_type, timestamp_offset, payload })
        });
        let earlier = earlier.collect::<Result<_, ParseError>>()?;
        Ok(Red { earlier, payload_type, payload: reader.rest() })
    }

    /// Appends the packet's payload to `out`.
    ///
    /// # Errors
    /// A payload type above 127, an offset or a length too large for the header; `out` is then unchanged.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        for block in &self.earlier {
            WriteError::check("RED payload type", block.payload_type.into(), 0, 127)?;
            WriteError::check("RED timestamp offset", block.timestamp_offset.into(), 0, FARTHEST.into())?;
            WriteError::check("bytes of a RED block before the last", block.payload.len() as u64, 0, LONGEST.into())?;
        }
        WriteError::check("RED payload type", self.payload_type.into(), 0, 127)?;
        out.reserve(self.size());
        for block in &self.earlier {
            let length = block.payload.len() as u32;
            let head = u32::from(MORE | block.payload_type) << 24 | u32::from(block.timestamp_offset) << LENGTH_BITS;
            out.extend_from_slice(&(head | length).to_be_bytes());
        }
        out.push(self.payload_type);
        self.earlier.iter().for_each(|block| out.extend_from_slice(block.payload));
        out.extend_from_slice(self.payload);
        Ok(())
    }

    /// Number of bytes when written.
    pub fn size(&self) -> usize {
        self.earlier.iter().map(|block| 4 + block.payload.len()).sum::<usize>() + 1 + self.payload.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(red: &Red<'_>) -> Result<Vec<u8>, WriteError> {
        let mut out = Vec::new();
        red.write(&mut out).map(|()| out)
    }

    #[test]
    fn a_payload_alone_has_one_byte_before_it() {
        let red = Red::alone(96, &[1, 2, 3]);
        assert_eq!(bytes(&red).unwrap(), [96, 1, 2, 3]);
        assert_eq!(Red::parse(&[96, 1, 2, 3]), Ok(red));
        assert_eq!(Red::parse(&[96]), Ok(Red::alone(96, &[])));
    }

    #[test]
    fn an_earlier_payload_has_offset_and_length_in_three_bytes() {
        // RFC 2198 section 5: DVI4 (5) after LPC (7); the example does not specify the numbers.
        let earlier = Earlier { payload_type: 7, timestamp_offset: 0x2abc, payload: &[9; 0x155] };
        let written = bytes(&Red { earlier: [earlier].to_vec(), payload_type: 5, payload: &[8, 8] }).unwrap();
        // 10 1010 1011 1100 and 01 0101 0101.
        assert_eq!(written[..5], [0x87, 0xaa, 0xf1, 0x55, 0x05]);
        assert_eq!((written.len(), &written[5 + 0x155..]), (5 + 0x155 + 2, &[8, 8][..]));
    }

    #[test]
    fn what_is_cut_short_is_refused() {
        let written = [0x87, 0, 4, 2, 0x87, 0, 0, 1, 5, 1, 2, 3, 4];
        let read = Red::parse(&written).unwrap();
        assert_eq!((read.earlier[0].timestamp_offset, read.earlier[0].payload), (1, &[1, 2][..]));
        assert_eq!((read.earlier[1].payload, read.payload), (&[3][..], &[4][..]));
        for length in 0..12 {
            assert!(Red::parse(&written[..length]).is_err(), "{length} bytes");
        }
        assert!(Red::parse(&[0x80; 1000]).is_err(), "no last block");
    }

    #[test]
    fn what_the_header_has_no_room_for_is_refused() {
        let good = Earlier { payload_type: 127, timestamp_offset: 16_383, payload: &[0; 1023] };
        let with = |earlier| Red { earlier: [earlier].to_vec(), payload_type: 127, payload: &[0; 3000] };
        assert!(bytes(&with(good)).is_ok());
        let mut out = [7].to_vec();
        for wrong in [
            Earlier { payload_type: 128, ..good },
            Earlier { timestamp_offset: 16_384, ..good },
            Earlier { payload: &[0; 1024], ..good },
        ] {
            assert!(with(wrong).write(&mut out).is_err());
        }
        assert!(Red::alone(128, &[]).write(&mut out).is_err());
        assert_eq!(out, [7]);
    }

    proptest! {
        #[test]
        fn payloads_survive_being_written_and_read(
            earlier in prop::collection::vec((0u8..128, 0u16..16_384, prop::collection::vec(any::<u8>(), 0..40)), 0..5),
            payload_type in 0u8..128, payload: Vec<u8>,
        ) {
            let earlier = earlier.iter().map(|(payload_type, timestamp_offset, payload)| {
                Earlier { payload_type: *payload_type, timestamp_offset: *timestamp_offset, payload }
            });
            let red = Red { earlier: earlier.collect(), payload_type, payload: &payload };
            let written = bytes(&red).unwrap();
            prop_assert_eq!(written.len(), red.size());
            prop_assert_eq!(Red::parse(&written), Ok(red));
        }

        #[test]
        fn no_bytes_panic(payload: Vec<u8>) {
            if let Ok(red) = Red::parse(&payload) {
                prop_assert_eq!(bytes(&red), Ok(payload.clone()));
            }
        }
    }
}
