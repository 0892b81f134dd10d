//! The packets of a block that are missing, out of the others.

use alloc::vec::Vec;

use super::{Parity, code, payload};
use crate::parity::{Corrupt, HEADER, Mask, Sums, is_packet};
use crate::reader::Reader;

/// What has come of the parity of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    ssrc: u32,
    mask: Mask,
    count: u8,
    /// Bytes of a symbol.
    size: usize,
    /// By index.
    symbols: Vec<(u8, Vec<u8>)>,
}

/// What a block's parity is good for, given what else there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recovery {
    /// All packets that were missing, in order, as their sender had them. Extensions that were blanked are zeros.
    Packets(Vec<Vec<u8>>),
    /// Nothing is missing: the block can go.
    Complete,
    /// As many more packets as this, of media or of parity, are needed.
    Missing(u32),
}

impl Block {
    /// The block of a parity packet.
    pub fn new(parity: Parity) -> Block {
        let Parity { ssrc, mask, index, count, symbol } = parity;
        let size = symbol.len();
        Block { ssrc, mask, count, size, symbols: [(index, symbol)].to_vec() }
    }

    /// The stream whose packets it protects.
    pub fn ssrc(&self) -> u32 {
        self.ssrc
    }

    /// Which of its packets.
    pub fn mask(&self) -> Mask {
        self.mask
    }

    /// Whether a parity packet is of this block.
    pub fn is_of(&self, parity: &Parity) -> bool {
        (parity.ssrc, parity.mask, parity.count, parity.symbol.len()) == (self.ssrc, self.mask, self.count, self.size)
    }

    /// Adds a parity packet; whether it was of this block and new. What a block holds is bounded by its count and its
    /// packets' size.
    pub fn add(&mut self, parity: Parity) -> bool {
        if !self.is_of(&parity) {
            return false;
        }
        let place = self.symbols.binary_search_by_key(&parity.index, |(index, _)| *index);
        place.map_err(|place| self.symbols.insert(place, (parity.index, parity.symbol))).is_err()
    }

    /// Recovers all that is missing if as many parity packets have come. `held` gives the packets that are there,
    /// plaintext RTP; which are, must not change while it is asked.
    ///
    /// # Errors
    /// When what comes out cannot be the packets: nothing of the block is to be trusted then.
    pub fn recover<'p>(&self, mut held: impl FnMut(u16) -> Option<&'p [u8]>) -> Result<Recovery, Corrupt> {
        let mut present = Vec::new();
        let mut lost = Vec::new();
        let mut payload_type = None;
        for (place, sequence) in self.mask.sequences().enumerate() {
            let Some(packet) = held(sequence) else {
                lost.push((place, sequence));
                continue;
            };
            let found = packet.get(1).map(|kind| kind & 0x7f);
            let fits = packet.len() <= largest(self.size) && is_packet(packet, sequence, self.ssrc);
            if !fits || found != *payload_type.get_or_insert(found) {
                return Err(Corrupt::Held { sequence });
            }
            present.push((place, packet));
        }
        let missing = lost.len().saturating_sub(self.symbols.len());
        match (lost.is_empty(), missing) {
            (true, _) => Ok(Recovery::Complete),
            (false, 0) => self.decode(&present, &lost, payload_type.flatten()).map(Recovery::Packets),
            (false, _) => Ok(Recovery::Missing(missing as u32)),
        }
    }

    /// The packets `lost`, by place and number, of which there are no more than symbols.
    fn decode(
        &self,
        present: &[(usize, &[u8])],
        lost: &[(usize, u16)],
        mut payload_type: Option<u8>,
    ) -> Result<Vec<Vec<u8>>, Corrupt> {
        let held: Vec<(usize, Vec<u8>)> =
            present.iter().map(|(place, packet)| (*place, payload::symbol_of(packet, self.size))).collect();
        let parity: Vec<(usize, &[u8])> =
            self.symbols.iter().take(lost.len()).map(|(index, symbol)| (usize::from(*index), &symbol[..])).collect();
        let made = code::decode(held.len() + lost.len(), self.count.into(), &held, &parity).unwrap_or_default();
        if made.len() != lost.len() {
            return Err(Corrupt::Code);
        }
        let packet = |((_, symbol), (_, sequence)): (&(usize, Vec<u8>), &(usize, u16))| {
            let mut reader = Reader::new(symbol);
            let (unused, mut sums) = Sums::parse(&mut reader).map_err(Corrupt::Packet)?;
            sums.rest = reader.rest().to_vec();
            let found = sums.kind & 0x7f;
            let expected = *payload_type.get_or_insert(found);
            if unused != 0 || found != expected {
                return Err(Corrupt::Stream { unused, found, expected });
            }
            sums.packet(*sequence, self.ssrc)
        };
        made.iter().zip(lost).map(packet).collect()
    }
}

/// The largest packet that a symbol of so many bytes can hold.
fn largest(size: usize) -> usize {
    HEADER + size.saturating_sub(Sums::FIELDS)
}

#[cfg(test)]
mod tests {
    use super::super::protect;
    use super::*;
    use crate::parity::testing::example;
    use crate::rtp::{Header, Packet};
    use alloc::collections::BTreeMap;
    use proptest::prelude::*;

    fn parities(packets: &[Vec<u8>], count: u8) -> Vec<Parity> {
        let payloads = protect(packets.iter().map(Vec::as_slice), count).unwrap();
        payloads.iter().map(|payload| Parity::parse(payload).unwrap()).collect()
    }

    fn block(parities: impl IntoIterator<Item = Parity>) -> Block {
        let mut parities = parities.into_iter();
        let mut block = Block::new(parities.next().unwrap());
        assert!(parities.all(|parity| block.add(parity)));
        block
    }

    #[test]
    fn all_are_missing_and_come_back_from_parity_alone() {
        let packets = example();
        let all = parities(&packets, 5);
        for skip in 0..2 {
            let block = block(all.iter().skip(skip).step_by(2 - skip).take(3).cloned());
            assert_eq!(block.recover(|_| None), Ok(Recovery::Packets(packets.to_vec())));
        }
    }

    #[test]
    fn what_is_still_needed_is_told_and_a_parity_packet_counts_once() {
        let packets = example();
        let all = parities(&packets, 3);
        let held = |sequence: u16| (sequence == 1001).then_some(packets[1].as_slice());
        let mut block = Block::new(all[1].clone());
        assert_eq!(block.recover(held), Ok(Recovery::Missing(1)));
        assert!(!block.add(all[1].clone()), "twice");
        assert_eq!(block.recover(held), Ok(Recovery::Missing(1)));
        assert!(!block.add(parities(&packets, 2).remove(0)), "of another code");
        assert!(!block.add(parities(&packets[..2], 3).remove(0)), "over other packets");
        assert!(block.add(all[0].clone()));
        assert_eq!(block.recover(held), Ok(Recovery::Packets([packets[0].clone(), packets[2].clone()].to_vec())));
        let whole = |sequence: u16| Some(packets[usize::from(sequence - 1000)].as_slice());
        assert_eq!(block.recover(whole), Ok(Recovery::Complete));
    }

    #[test]
    fn what_is_held_and_not_of_the_block_is_corrupt() {
        let packets = example();
        let block = block(parities(&packets, 1));
        let with = |other: &[u8]| {
            let held = |sequence| match sequence {
                1000 => Some(packets[0].as_slice()),
                1002 => Some(other),
                _ => None,
            };
            block.recover(held)
        };
        assert_eq!(with(&packets[2]), Ok(Recovery::Packets([packets[1].clone()].to_vec())));
        let mut typed = packets[2].clone();
        typed[1] ^= 1;
        let long = [&packets[2][..], &[0; 5]].concat();
        for other in [&packets[1][..], &packets[2][..11], &typed, &long, &[]] {
            assert_eq!(with(other), Err(Corrupt::Held { sequence: 1002 }));
        }
    }

    #[test]
    fn a_corrupt_parity_makes_no_packet_of_another_type_length_or_version() {
        let packets = example();
        let all = parities(&packets, 1);
        let held = |sequence: u16| (sequence != 1001).then(|| packets[usize::from(sequence - 1000)].as_slice());
        let corrupt = |at: usize, bit: u8| {
            let mut parity = all[0].clone();
            parity.symbol[at] ^= 1 << bit;
            block([parity]).recover(held)
        };
        let mut refused = [0; 14];
        for (at, refused) in refused.iter_mut().enumerate() {
            for bit in 0..8 {
                match corrupt(at, bit) {
                    Err(_) => *refused += 1,
                    Ok(Recovery::Packets(made)) => {
                        let [packet] = &made[..] else { panic!("{made:?}") };
                        let read = Packet::parse(packet).unwrap();
                        assert_eq!((read.header.payload_type, read.header.sequence), (96, 1001));
                        assert!(packet.len() <= 12 + 6);
                    }
                    Ok(other) => panic!("{other:?}"),
                }
            }
        }
        // With one parity packet the code is the sum: a bit of it is a bit of the packet. Flags, payload type, length
        // and what is beyond the end are found out; the marker, the timestamp and the payload are not.
        assert_eq!(refused, [8, 7, 8, 8, 0, 0, 0, 0, 0, 0, 0, 8, 8, 8]);
    }

    #[test]
    fn as_many_as_there_can_be_come_back() {
        let packets: Vec<Vec<u8>> = (0..109u16)
            .map(|place| {
                let sequence = 65_500u16.wrapping_add(place);
                let header = Header { marker: place == 108, payload_type: 96, sequence, timestamp: 7, ssrc: 5 };
                let mut out = Vec::new();
                Packet::new(header, &[place as u8].repeat(usize::from(place))).write(&mut out).unwrap();
                out
            })
            .collect();
        let all = parities(&packets, 255);
        let block = block(all.into_iter().rev().take(109));
        assert_eq!(block.recover(|_| None), Ok(Recovery::Packets(packets)));
    }

    /// Marker, padding, payload, and whether it is to be lost.
    fn any_payload() -> impl Strategy<Value = (bool, u8, Vec<u8>, bool)> {
        (any::<bool>(), 0u8..20, prop::collection::vec(any::<u8>(), 0..60), any::<bool>())
    }

    proptest! {
        #[test]
        fn any_that_are_missing_come_back_from_as_many_parities(
            first: u16, timestamp: u32, ssrc: u32, payload_type in 0u8..128, count in 1u8..40,
            places in prop::collection::btree_set(0u16..109, 1..30),
            payloads in prop::collection::vec(any_payload(), 30),
            order in prop::collection::vec(any::<prop::sample::Index>(), 40),
        ) {
            let lowest = *places.first().unwrap();
            let mut packets = BTreeMap::new();
            for (place, (marker, padding, payload, _)) in places.iter().zip(&payloads) {
                let sequence = first.wrapping_add(place - lowest);
                let header = Header { marker: *marker, payload_type, sequence, timestamp, ssrc };
                let mut out = Vec::new();
                Packet { padding: *padding, ..Packet::new(header, payload) }.write(&mut out).unwrap();
                packets.insert(*place, (sequence, out));
            }
            let whole: Vec<Vec<u8>> = packets.values().map(|(_, packet)| packet.clone()).collect();
            let mut all = parities(&whole, count);
            // As many of those that are to be lost as there is parity for.
            let losses = |places: &[(bool, u8, Vec<u8>, bool)]| places.iter().filter(|payload| payload.3).count();
            let is_lost = |place: usize| payloads[place].3 && losses(&payloads[..place]) < usize::from(count);
            let lost = packets.values().enumerate().filter(|(place, _)| is_lost(*place));
            let lost: Vec<&(u16, Vec<u8>)> = lost.map(|(_, packet)| packet).collect();
            let held = |sequence: u16| {
                let (place, (_, packet)) = packets.values().enumerate().find(|(_, (number, _))| *number == sequence)?;
                (!is_lost(place)).then_some(packet.as_slice())
            };
            let mut block: Option<Block> = None;
            for (step, index) in order.iter().enumerate().take(lost.len().max(1)) {
                if let Some(block) = &block {
                    prop_assert_eq!(block.recover(held), Ok(Recovery::Missing((lost.len() - step) as u32)));
                }
                let parity = all.remove(index.index(all.len()));
                match &mut block {
                    Some(block) => prop_assert!(block.add(parity)),
                    None => block = Some(Block::new(parity)),
                }
            }
            let expected = match lost.is_empty() {
                true => Recovery::Complete,
                false => Recovery::Packets(lost.iter().map(|(_, packet)| packet.clone()).collect()),
            };
            prop_assert_eq!(block.unwrap().recover(held), Ok(expected));
        }

        #[test]
        fn no_bytes_panic_and_what_comes_out_is_of_the_stream(payload: Vec<u8>, held: Vec<u8>, fixed: bool) {
            let header = [0xc0, 0, 3, 1, 0, 0, 0, 7, 0, 9, 0xa0, 0];
            let payload = if fixed { [&header[..], &payload].concat() } else { payload };
            let held = |sequence: u16| (sequence & 1 == 0).then_some(&held[..]);
            if let Ok(parity) = Parity::parse(&payload)
                && let Ok(Recovery::Packets(packets)) = Block::new(parity).recover(held)
            {
                prop_assert!(packets.iter().all(|packet| Packet::parse(packet).is_ok()));
            }
        }
    }
}
