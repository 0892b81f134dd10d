//! Recovers the one missing packet from the others.

use alloc::vec::Vec;
use core::fmt;

use super::{Fec, HEADER, Xor};
use crate::ParseError;
use crate::rtp::Packet;

/// The result of applying an FEC packet to the packets received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recovery {
    /// The missing packet, as its sender had it. Extensions that were blanked are zeros.
    Packet(Vec<u8>),
    /// No packet is missing: the FEC packet can be dropped.
    Complete,
    /// This many packets are missing, two or more: the FEC packet waits until one remains.
    Missing(u32),
}

/// Why an FEC packet is inconsistent with its protected packets; it can be dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Corrupt {
    /// A held packet is not in the set: it is shorter than a header, longer than the XOR, or has another SSRC or
    /// sequence number.
    Held {
        /// The sequence number under which it was held.
        sequence: u16,
    },
    /// The recovered packet is longer than the XOR covers.
    Length {
        /// The recovered length, in bytes after the header.
        found: u16,
        /// The length of the XOR.
        max: usize,
    },
    /// Bytes beyond the end of the recovered packet are not all zero.
    Tail,
    /// The recovered bytes are not an RTP packet.
    Packet(ParseError),
}

impl fmt::Display for Corrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Corrupt::Held { sequence } => write!(f, "packet {sequence} is not the one under this FEC")?,
            Corrupt::Length { found, max } => {
                write!(f, "a recovered packet of {found} bytes out of an XOR of {max}, allowed is up to that many")?;
            }
            Corrupt::Tail => f.write_str("a recovered packet goes on behind its end")?,
            Corrupt::Packet(error) => write!(f, "the recovered bytes are not a packet: {error}")?,
        }
        f.write_str("; drop the FEC packet, and blank what senders change on the way")
    }
}

impl core::error::Error for Corrupt {}

impl Xor {
    /// Interprets the remainder of the XOR as the missing packet: number `sequence` of stream `ssrc`.
    ///
    /// # Errors
    /// When it cannot be that packet.
    pub(crate) fn packet(&self, sequence: u16, ssrc: u32) -> Result<Vec<u8>, Corrupt> {
        let Some((rest, tail)) = self.rest.split_at_checked(self.length.into()) else {
            return Err(Corrupt::Length { found: self.length, max: self.rest.len() });
        };
        if tail.iter().any(|byte| *byte != 0) {
            return Err(Corrupt::Tail);
        }
        let mut out = Vec::with_capacity(HEADER + rest.len());
        out.extend_from_slice(&[0x80 | self.flags, self.kind]);
        out.extend_from_slice(&sequence.to_be_bytes());
        out.extend_from_slice(&self.timestamp.to_be_bytes());
        out.extend_from_slice(&ssrc.to_be_bytes());
        out.extend_from_slice(rest);
        Packet::parse(&out).map_err(Corrupt::Packet)?;
        Ok(out)
    }
}

impl Fec {
    /// Recovers the missing packet if it is the only one. `held` returns the received packets, plaintext RTP; its
    /// results must not change during the call.
    ///
    /// # Errors
    /// When the result cannot be the packet.
    pub fn recover<'p>(&self, mut held: impl FnMut(u16) -> Option<&'p [u8]>) -> Result<Recovery, Corrupt> {
        let mut lost = None;
        let mut missing = 0;
        let mut present = Vec::new();
        for sequence in self.mask.sequences() {
            match held(sequence) {
                Some(packet) => present.push((sequence, packet)),
                None => (lost, missing) = (Some(sequence), missing + 1),
            }
        }
        match (lost, missing) {
            (None, _) => Ok(Recovery::Complete),
            (Some(lost), 1) => self.subtract(lost, &present).map(Recovery::Packet),
            _ => Ok(Recovery::Missing(missing)),
        }
    }

    /// Removes the packets `present` from the XOR; the remainder is packet `lost`.
    fn subtract(&self, lost: u16, present: &[(u16, &[u8])]) -> Result<Vec<u8>, Corrupt> {
        let mut xor = self.xor.clone();
        for (sequence, packet) in present {
            let fits = packet.len() <= HEADER + xor.rest.len() || self.covers_beginnings;
            if !fits || !is_packet(packet, *sequence, self.ssrc) {
                return Err(Corrupt::Held { sequence: *sequence });
            }
            xor.take_off(packet);
        }
        xor.packet(lost, self.ssrc)
    }
}

/// Returns true if `packet` is long enough for a header, and is number `sequence` of stream `ssrc`.
fn is_packet(packet: &[u8], sequence: u16, ssrc: u32) -> bool {
    packet.len() >= HEADER && packet[2..4] == sequence.to_be_bytes() && packet[8..12] == ssrc.to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fec::testing::example;
    use crate::flexfec::{parse, protect};
    use crate::rtp;
    use proptest::prelude::*;

    fn fec() -> ([Vec<u8>; 3], Fec) {
        let packets = example();
        let payload = protect(packets.iter().map(Vec::as_slice)).unwrap();
        (packets, parse(&payload).unwrap())
    }

    #[test]
    fn each_packet_of_the_example_comes_back_from_the_others() {
        let (packets, fec) = fec();
        for lost in 1000..1003 {
            let held = |sequence: u16| (sequence != lost).then(|| packets[usize::from(sequence - 1000)].as_slice());
            let expected = packets[usize::from(lost - 1000)].clone();
            assert_eq!(fec.recover(held), Ok(Recovery::Packet(expected)), "{lost}");
        }
    }

    #[test]
    fn two_missing_wait_until_one_comes_and_none_missing_needs_no_fec() {
        let (packets, fec) = fec();
        let only = |sequence: u16| (sequence == 1001).then_some(packets[1].as_slice());
        assert_eq!(fec.recover(only), Ok(Recovery::Missing(2)));
        // A retransmission of 1002 provides it.
        let repaired = |sequence: u16| (sequence > 1000).then(|| packets[usize::from(sequence - 1000)].as_slice());
        assert_eq!(fec.recover(repaired), Ok(Recovery::Packet(packets[0].clone())));
        let all = |sequence: u16| Some(packets[usize::from(sequence - 1000)].as_slice());
        assert_eq!(fec.recover(all), Ok(Recovery::Complete));
    }

    #[test]
    fn what_does_not_belong_together_is_corrupt() {
        let (packets, fec) = fec();
        let with = |fec: &Fec, other: &[u8]| {
            let held = |sequence| match sequence {
                1000 => Some(packets[0].as_slice()),
                1002 => Some(other),
                _ => None,
            };
            fec.recover(held).unwrap_err()
        };
        let foreign = Corrupt::Held { sequence: 1002 };
        assert_eq!(with(&fec, &packets[1]), foreign, "another number");
        assert_eq!(with(&fec, &packets[2][..11]), foreign, "shorter than a header");
        assert_eq!(with(&fec, &[&packets[2][..], &[0; 4]].concat()), foreign, "longer than the XOR");
        assert_eq!(with(&fec, &[&packets[2][..], &[0; 1]].concat()), Corrupt::Tail, "2 bytes are left of 3");
        let mut other = packets[2].clone();
        other[0] |= 0x0f;
        assert!(matches!(with(&fec, &other), Corrupt::Packet(_)), "sources that are not there");
        let mut long = fec.clone();
        long.xor.length ^= 8;
        assert_eq!(with(&long, &packets[2]), Corrupt::Length { found: 3 + 8, max: 5 });
    }

    proptest! {
        #[test]
        fn any_packet_of_any_set_comes_back_from_the_others(
            first: u16, timestamp: u32, ssrc: u32,
            places in prop::collection::btree_set(0u16..109, 1..30),
            payloads in prop::collection::vec((any::<bool>(), 0u8..128, 0u8..20, prop::collection::vec(any::<u8>(), 0..60)), 30),
            lost in any::<prop::sample::Index>(),
        ) {
            let lowest = *places.first().unwrap();
            let packets: Vec<(u16, Vec<u8>)> = places
                .iter()
                .zip(&payloads)
                .map(|(place, (marker, payload_type, padding, payload))| {
                    let sequence = first.wrapping_add(place - lowest);
                    let header = rtp::Header { marker: *marker, payload_type: *payload_type, sequence, timestamp, ssrc };
                    let mut out = Vec::new();
                    let contributors = [7].repeat(usize::from(padding % 3));
                    let packet = Packet { contributors, padding: *padding, ..Packet::new(header, payload) };
                    packet.write(&mut out).unwrap();
                    (sequence, out)
                })
                .collect();
            let fec = parse(&protect(packets.iter().map(|(_, packet)| packet.as_slice())).unwrap()).unwrap();
            let (lost, expected) = lost.get(&packets);
            let held = |sequence: u16| {
                packets.iter().find(|(number, _)| *number == sequence && number != lost).map(|(_, packet)| packet.as_slice())
            };
            prop_assert_eq!(fec.recover(held), Ok(Recovery::Packet(expected.clone())));
        }
    }
}
