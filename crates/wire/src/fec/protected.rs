//! A set of packets being protected by an FEC packet.

use super::{HEADER, Mask, Xor};
use crate::WriteError;

/// The contents of an FEC packet over a set of packets.
#[derive(Debug)]
pub(crate) struct Protected {
    /// The SSRC of their stream.
    pub(crate) ssrc: u32,
    pub(crate) mask: Mask,
    pub(crate) xor: Xor,
}

impl Protected {
    /// Protects `packets`: plaintext RTP of one stream in ascending order of sequence numbers (with wrap-around), the
    /// last of them less than `longest` numbers after the first.
    ///
    /// # Errors
    /// No packet, an invalid one (12 to 65,547 bytes, version 2), one of another stream, one that does not follow the
    /// previous, one too far from the first.
    pub(crate) fn of<'a>(longest: u16, packets: impl IntoIterator<Item = &'a [u8]>) -> Result<Protected, WriteError> {
        let mut xor = Xor::default();
        let mut start: Option<(u16, u32)> = None;
        let mut places = 0u128;
        for packet in packets {
            let max = (HEADER + usize::from(u16::MAX)) as u64;
            WriteError::check("bytes of a packet under FEC", packet.len() as u64, HEADER as u64, max)?;
            WriteError::check("RTP version of a packet under FEC", u64::from(packet[0] >> 6), 2, 2)?;
            let sequence = u16::from_be_bytes([packet[2], packet[3]]);
            let ssrc = u32::from_be_bytes([packet[8], packet[9], packet[10], packet[11]]);
            let (first, stream) = *start.get_or_insert((sequence, ssrc));
            WriteError::check("stream of a packet under FEC", ssrc.into(), stream.into(), stream.into())?;
            let place = u64::from(sequence.wrapping_sub(first));
            let next = u64::from(u128::BITS - places.leading_zeros());
            let what = "distance of a packet under FEC from the first";
            WriteError::check(what, place, next, u64::from(longest) - 1)?;
            places |= 1 << place;
            xor.add(packet);
        }
        let (first, ssrc) = start.unwrap_or_default();
        Ok(Protected { ssrc, mask: Mask::within(longest, first, places)?, xor })
    }
}
