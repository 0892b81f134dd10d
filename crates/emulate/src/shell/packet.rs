//! An IPv4 packet of a shell, whose ECN field queues may write.

use thalweg_netsim::{MarkReason, Packet, flow_of};
use thalweg_units::Ecn;

const TCP: u8 = 6;
const UDP: u8 = 17;

/// A whole IPv4 packet, of at least the version and the type of service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ipv4Packet {
    bytes: Vec<u8>,
    marked: Option<MarkReason>,
}

impl Ipv4Packet {
    /// The packet with these bytes; `None` if it is not IPv4 (RFC 791: the version is in the first four bits).
    pub(super) fn new(bytes: &[u8]) -> Option<Ipv4Packet> {
        let is_ipv4 = bytes.len() >= 20 && bytes[0] >> 4 == 4;
        is_ipv4.then(|| Ipv4Packet { bytes: bytes.to_vec(), marked: None })
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Writes the field, and the header's checksum as it changes by that (RFC 1624 section 3: HC' = ~(~HC + ~m + m')).
    fn set(&mut self, ecn: Ecn) {
        let word = |bytes: &[u8], at: usize| u32::from(bytes[at]) << 8 | u32::from(bytes[at + 1]);
        let before = word(&self.bytes, 0);
        self.bytes[1] = self.bytes[1] & !0b11 | ecn.bits();
        let sum = (!word(&self.bytes, 10) & 0xffff) + (!before & 0xffff) + word(&self.bytes, 0);
        let folded = (sum & 0xffff) + (sum >> 16);
        let checksum = !((folded & 0xffff) + (folded >> 16)) as u16;
        self.bytes[10..12].copy_from_slice(&checksum.to_be_bytes());
    }
}

impl Packet for Ipv4Packet {
    fn ecn(&self) -> Ecn {
        Ecn::of_traffic_class(self.bytes[1])
    }

    /// Its protocol and addresses, and its ports unless it is a fragment, because all but the first have none.
    fn flow(&self) -> u64 {
        let (protocol, addresses) = (self.bytes[9], &self.bytes[12..20]);
        let header = usize::from(self.bytes[0] & 0xf) * 4;
        let has_ports = matches!(protocol, TCP | UDP) && self.bytes[6] & 0x3f == 0 && self.bytes[7] == 0;
        let ports = self.bytes.get(header..header + 4).filter(|_| has_ports).unwrap_or_default();
        flow_of([protocol].iter().chain(addresses).chain(ports).copied())
    }

    fn marked(&self) -> Option<MarkReason> {
        self.marked
    }

    fn mark(&mut self, why: MarkReason) {
        self.set(Ecn::Ce);
        self.marked = Some(why);
    }

    fn bleach(&mut self) {
        self.set(Ecn::NotCapable);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header whose first word is 4501 and whose checksum is this one.
    fn header(checksum: u16) -> Ipv4Packet {
        let mut bytes = vec![0x45, 0x01, 0, 20, 0, 0, 0, 0, 64, 17];
        bytes.extend(checksum.to_be_bytes());
        bytes.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        Ipv4Packet::new(&bytes).unwrap()
    }

    fn sum(bytes: &[u8]) -> u16 {
        let words = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]));
        let sum: u32 = words.sum();
        ((sum & 0xffff) + (sum >> 16)) as u16
    }

    #[test]
    fn a_mark_changes_the_checksum_as_in_the_worked_example() {
        // specs/l4s.md 5.1: 4501 to 4503 with 1234 gives 1232.
        let mut packet = header(0x1234);
        packet.mark(MarkReason::Step);
        assert_eq!(packet.bytes()[..2], [0x45, 0x03]);
        assert_eq!(packet.bytes()[10..12], [0x12, 0x32]);
        assert_eq!((packet.ecn(), packet.marked()), (Ecn::Ce, Some(MarkReason::Step)));
    }

    #[test]
    fn the_checksum_stays_right_whatever_is_written() {
        for before in Ecn::ALL {
            for write in [Packet::bleach, |packet: &mut Ipv4Packet| packet.mark(MarkReason::Ramp)] {
                let mut packet = header(0);
                packet.bytes[1] = 0xb8 | before.bits();
                let checksum = !sum(packet.bytes());
                packet.bytes[10..12].copy_from_slice(&checksum.to_be_bytes());
                write(&mut packet);
                assert_eq!((sum(packet.bytes()), packet.bytes()[1] >> 2), (0xffff, 0xb8 >> 2), "{before}");
            }
        }
    }

    #[test]
    fn a_flow_is_protocol_addresses_and_ports_and_all_fragments_of_two_hosts_are_one() {
        let with = |changes: &[(usize, u8)]| {
            let mut packet = header(0);
            packet.bytes.extend([0x12, 0x34, 0, 80, 1, 2, 3, 4]);
            changes.iter().for_each(|(at, byte)| packet.bytes[*at] = *byte);
            packet.flow()
        };
        let usual = with(&[]);
        assert_eq!(usual, with(&[(24, 9)]), "what it carries");
        for change in [(9, 6), (15, 7), (23, 81)] {
            assert_ne!(usual, with(&[change]), "{change:?}");
        }
        assert_eq!(with(&[(7, 5)]), with(&[(6, 0x20), (23, 99)]));
    }

    #[test]
    fn what_is_not_ipv4_is_no_packet() {
        assert_eq!(Ipv4Packet::new(&[0x60; 40]), None);
        assert_eq!(Ipv4Packet::new(&[0x45; 19]), None);
    }
}
