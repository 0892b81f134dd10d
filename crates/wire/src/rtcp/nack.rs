//! Generic NACK: requests for lost packets (RFC 4585 section 6.2.1).

use alloc::vec::Vec;

use super::TRANSPORT;
use super::header::{Header, frame};
use crate::{ParseError, WriteError};

/// Feedback format of a generic NACK.
pub(super) const FORMAT: u8 = 1;

/// A request to retransmit packets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nack {
    /// SSRC of the requester.
    pub sender_ssrc: u32,
    /// SSRC of the packets' stream.
    pub media_ssrc: u32,
    /// The packets, in groups of up to 17; at least one group.
    pub pairs: Vec<NackPair>,
}

/// A lost packet, and which of the 16 after it are lost too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NackPair {
    /// PID: a lost sequence number.
    pub first: u16,
    /// BLP: bit i, the lowest being 0, stands for sequence number `first + 1 + i`.
    pub following: u16,
}

impl NackPair {
    /// The lost sequence numbers, in order.
    pub fn lost(self) -> impl Iterator<Item = u16> {
        let following = (0..16).filter(move |bit| self.following >> bit & 1 == 1);
        core::iter::once(self.first).chain(following.map(move |bit| self.first.wrapping_add(1 + bit)))
    }
}

impl Nack {
    /// A request for the `lost` sequence numbers, in the fewest groups if they are in order (including a wrap after
    /// 65535).
    pub fn of(sender_ssrc: u32, media_ssrc: u32, lost: impl IntoIterator<Item = u16>) -> Nack {
        let mut pairs: Vec<NackPair> = Vec::new();
        for sequence in lost {
            match pairs.last_mut().map(|pair| (sequence.wrapping_sub(pair.first), pair)) {
                Some((0, _)) => {}
                Some((after @ 1..=16, pair)) => pair.following |= 1 << (after - 1),
                _ => pairs.push(NackPair { first: sequence, following: 0 }),
            }
        }
        Nack { sender_ssrc, media_ssrc, pairs }
    }

    /// The lost sequence numbers, in the order of the groups.
    pub fn lost(&self) -> impl Iterator<Item = u16> + '_ {
        self.pairs.iter().flat_map(|pair| pair.lost())
    }

    pub(super) fn parse(header: &Header<'_>) -> Result<Nack, ParseError> {
        let mut reader = header.body();
        let sender_ssrc = reader.u32("NACK sender SSRC")?;
        let media_ssrc = reader.u32("NACK media SSRC")?;
        let mut pairs = Vec::new();
        while pairs.is_empty() || !reader.is_empty() {
            let first = reader.u16("NACK packet id")?;
            pairs.push(NackPair { first, following: reader.u16("NACK bitmask")? });
        }
        Ok(Nack { sender_ssrc, media_ssrc, pairs })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        frame(out, TRANSPORT, FORMAT, |out| {
            // 65535 words, of which two are SSRCs.
            WriteError::check("groups of a NACK", self.pairs.len() as u64, 1, 65_533)?;
            out.extend_from_slice(&self.sender_ssrc.to_be_bytes());
            out.extend_from_slice(&self.media_ssrc.to_be_bytes());
            for pair in &self.pairs {
                out.extend_from_slice(&pair.first.to_be_bytes());
                out.extend_from_slice(&pair.following.to_be_bytes());
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rtcp::{Packet, testing};
    use proptest::prelude::*;

    #[test]
    fn the_lowest_bit_stands_for_the_next_packet_and_the_17th_begins_a_group() {
        // 100, then 101 (bit 0), 110 (bit 9) and 116 (bit 15); 117 is one too far.
        let nack = Nack::of(1, 2, [100, 101, 110, 116, 117]);
        let bytes = [0x81, 205, 0, 4, 0, 0, 0, 1, 0, 0, 0, 2, 0, 100, 0x82, 0x01, 0, 117, 0, 0];
        testing::is_written_as(&Packet::Nack(nack), &bytes);
    }

    #[test]
    fn a_group_goes_on_through_the_wrap() {
        let nack = Nack::of(1, 2, [65_534, 65_535, 0, 14]);
        assert_eq!(nack.pairs, [NackPair { first: 65_534, following: 0x8003 }]);
        assert_eq!(nack.lost().collect::<Vec<_>>(), [65_534, 65_535, 0, 14]);
    }

    #[test]
    fn a_request_for_nothing_is_refused() {
        let mut out = Vec::new();
        assert!(Nack::of(1, 2, []).write(&mut out).is_err() && out.is_empty());
        assert!(crate::rtcp::parse(&[0x81, 205, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2]).is_err());
    }

    proptest! {
        #[test]
        fn a_nack_survives(sender_ssrc: u32, media_ssrc: u32, pairs in prop::collection::vec(any::<(u16, u16)>(), 1..50)) {
            let pairs = pairs.into_iter().map(|(first, following)| NackPair { first, following }).collect();
            testing::survives(Packet::Nack(Nack { sender_ssrc, media_ssrc, pairs }))?;
        }

        #[test]
        fn a_sorted_list_is_asked_for_completely_in_the_fewest_groups(
            start: u16, gaps in prop::collection::vec(1u16..40, 1..100),
        ) {
            let mut at = start;
            let lost: Vec<u16> = gaps.iter().map(|gap| { at = at.wrapping_add(*gap); at }).collect();
            let nack = Nack::of(1, 2, lost.iter().copied());
            prop_assert_eq!(nack.lost().collect::<Vec<_>>(), &lost[..]);
            let apart = |pair: &[NackPair]| pair[1].first.wrapping_sub(pair[0].first) > 16;
            prop_assert!(nack.pairs.windows(2).all(apart));
        }
    }
}
