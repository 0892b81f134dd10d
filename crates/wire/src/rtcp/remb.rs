//! REMB: the receiver's bandwidth estimate (draft-alvestrand-rmcat-remb-03 section 2.2).

use alloc::vec::Vec;

use thalweg_units::Rate;

use super::PAYLOAD;
use super::application_feedback::FORMAT;
use super::header::{Header, frame};
use crate::{ParseError, WriteError};

/// Identifier among application layer feedback.
pub(super) const IDENTIFIER: [u8; 4] = *b"REMB";
/// Number of mantissa bits.
const MANTISSA: u32 = 18;

/// The receiver's estimate of the maximum bitrate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remb {
    /// SSRC of the estimating receiver.
    pub sender_ssrc: u32,
    /// Max total rate of all streams. Written with 18 significant bits, rounded down (by at most 1/131072).
    pub bitrate: Rate,
    /// SSRCs of the streams, at most 255.
    pub streams: Vec<u32>,
}

impl Remb {
    pub(super) fn parse(header: &Header<'_>) -> Result<Remb, ParseError> {
        let mut reader = header.body();
        let sender_ssrc = reader.u32("REMB sender SSRC")?;
        // Unused media SSRC (the list below names the streams), then the identifier, already checked.
        reader.u64("REMB media SSRC and identifier")?;
        let count = reader.u8("REMB stream count")?;
        let at = reader.at();
        let word = reader.u24("REMB bitrate")?;
        let (exponent, mantissa) = (word >> MANTISSA, u64::from(word & ((1 << MANTISSA) - 1)));
        let max = mantissa.leading_zeros();
        if exponent > max {
            let (found, max) = (exponent.into(), max.into());
            return Err(ParseError::OutOfRange { what: "REMB exponent", at, found, min: 0, max });
        }
        let bitrate = Rate::from_bps(mantissa.checked_shl(exponent).unwrap_or(0));
        let streams = (0..count).map(|_| reader.u32("REMB stream SSRC")).collect::<Result<_, _>>()?;
        Ok(Remb { sender_ssrc, bitrate, streams })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        frame(out, PAYLOAD, FORMAT, |out| {
            WriteError::check("streams of a REMB", self.streams.len() as u64, 0, 255)?;
            let bps = self.bitrate.as_bps();
            let exponent = (u64::BITS - bps.leading_zeros()).saturating_sub(MANTISSA);
            let count = self.streams.len() as u32;
            out.extend_from_slice(&self.sender_ssrc.to_be_bytes());
            out.extend_from_slice(&[0; 4]);
            out.extend_from_slice(&IDENTIFIER);
            let word = count << 24 | exponent << MANTISSA | (bps >> exponent) as u32;
            out.extend_from_slice(&word.to_be_bytes());
            out.extend(self.streams.iter().flat_map(|ssrc| ssrc.to_be_bytes()));
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtcp::{Packet, parse, testing};
    use proptest::prelude::*;

    #[test]
    fn a_megabit_is_250000_times_4() {
        let estimate = Remb { sender_ssrc: 1, bitrate: Rate::from_kbps(1000), streams: [0x0506_0708].to_vec() };
        // 250000 = 0x3d090, which takes all 18 bits, preceded by exponent 2.
        let bytes = [0x8f, 206, 0, 5, 0, 0, 0, 1, 0, 0, 0, 0, b'R', b'E', b'M', b'B', 1, 0x0b, 0xd0, 0x90, 5, 6, 7, 8];
        testing::is_written_as(&Packet::Remb(estimate), &bytes);
    }

    #[test]
    fn a_bitrate_past_64_bits_is_refused() {
        let with = |word: u32| {
            let mut bytes = [0x8f, 206, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0, b'R', b'E', b'M', b'B'].to_vec();
            bytes.extend_from_slice(&word.to_be_bytes());
            parse(&bytes)
        };
        // 2^17 has 46 leading zeros.
        let word = |exponent: u32, mantissa: u32| exponent << 18 | mantissa;
        let expected = Remb { sender_ssrc: 1, bitrate: Rate::from_bps(1 << 63), streams: Vec::new() };
        assert_eq!(with(word(46, 1 << 17)), Ok([Packet::Remb(expected)].to_vec()));
        let error = ParseError::OutOfRange { what: "REMB exponent", at: 17, found: 47, min: 0, max: 46 };
        assert_eq!(with(word(47, 1 << 17)), Err(error));
        assert!(with(word(63, 0)).is_ok());
    }

    proptest! {
        #[test]
        fn an_estimate_survives_to_18_bits(sender_ssrc: u32, bps: u64, streams in prop::collection::vec(any::<u32>(), 0..256)) {
            let mut out = Vec::new();
            let written = Remb { sender_ssrc, bitrate: Rate::from_bps(bps), streams: streams.clone() };
            written.write(&mut out).unwrap();
            let packets = parse(&out).unwrap();
            let [Packet::Remb(read)] = &packets[..] else { panic!("{packets:?}") };
            let lost = bps - read.bitrate.as_bps();
            prop_assert!(lost <= bps >> 17, "{} of {}", lost, bps);
            prop_assert_eq!(&read.streams, &streams);
            testing::survives(packets[0].clone())?;
        }
    }
}
