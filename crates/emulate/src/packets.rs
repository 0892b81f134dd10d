//! The RTP packets of a sender as a relay saw them: all that is known of a stranger's traffic is the header of its RTP,
//! which SRTP leaves in the clear (RFC 3711 section 3.1).

use std::collections::BTreeMap;

use thalweg_units::{Bytes, Time};

use super::passing::head;
use super::{HEAD, Passing, Place, Way};

/// An RTP packet from sender to receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// When it arrived at the link.
    pub sent: Time,
    /// When it left the link; `None` if it was dropped or is still on it.
    pub arrived: Option<Time>,
    /// Its size, from the IP header upwards.
    pub size: Bytes,
    /// Its payload with padding and SRTP's authentication tag.
    pub payload: Bytes,
    /// Its RTP payload type.
    pub payload_type: u8,
    /// Its RTP timestamp.
    pub timestamp: u32,
    /// True if it is padded. WebRTC pads only packets that contain nothing else.
    pub padded: bool,
}

/// Collects packets from a relay's reports.
#[derive(Debug, Default)]
pub struct Packets {
    all: Vec<Packet>,
    /// Places in the list of the packets on the link.
    on_the_link: BTreeMap<u64, usize>,
    first: Option<Time>,
}

impl Packets {
    /// Adds what passed the relay: a packet sent up, or its arrival.
    pub fn add(&mut self, passing: &Passing) {
        self.first.get_or_insert(passing.at);
        if passing.way != Way::Up {
            return;
        }
        match passing.place {
            Place::Before { size, head, length } => {
                if let Some(packet) = rtp(&head, length, passing.at, size) {
                    self.on_the_link.insert(passing.number, self.all.len());
                    self.all.push(packet);
                }
            }
            Place::Behind => {
                if let Some(place) = self.on_the_link.remove(&passing.number) {
                    self.all[place].arrived = Some(passing.at);
                }
            }
        }
    }

    /// A datagram arrived without a relay before it: it was sent when it came, as far as is known.
    pub fn add_arrived(&mut self, at: Time, size: Bytes, datagram: &[u8]) {
        self.first.get_or_insert(at);
        if let Some(packet) = rtp(&head(datagram), datagram.len(), at, size) {
            self.all.push(Packet { arrived: Some(at), ..packet });
        }
    }

    /// When the first packet arrived, of either side and of any kind: the link's time zero.
    pub fn first(&self) -> Option<Time> {
        self.first
    }

    /// The RTP packets sent up, in order.
    pub fn finish(self) -> Vec<Packet> {
        self.all
    }
}

/// The packet, if the datagram is RTP and not STUN, DTLS or RTCP (RFC 7983 section 7, RFC 5761 section 4).
fn rtp(head: &[u8; HEAD], length: usize, at: Time, size: Bytes) -> Option<Packet> {
    let is_rtcp = (192..=223).contains(&head[1]);
    if !(128..=191).contains(&head[0]) || is_rtcp || length < 12 {
        return None;
    }
    let sources = usize::from(head[0] & 0x0f);
    // Where there are contributing sources, the length of the extensions is behind the head: no browser sends both.
    let words = u16::from_be_bytes([head[14], head[15]]);
    let extensions = if head[0] & 0x10 != 0 && sources == 0 { 4 + 4 * usize::from(words) } else { 0 };
    let header = 12 + 4 * sources + extensions;
    Some(Packet {
        sent: at,
        arrived: None,
        size,
        payload: Bytes::new(length.saturating_sub(header) as u64),
        payload_type: head[1] & 0x7f,
        timestamp: u32::from_be_bytes([head[4], head[5], head[6], head[7]]),
        padded: head[0] & 0x20 != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passing(number: u64, millis: u64, way: Way, place: Place) -> Passing {
        Passing { number, way, at: Time::from_millis(millis), place }
    }

    fn before(first: u8, second: u8) -> Place {
        let mut head = [first, second, 0, 1, 0, 0, 1, 0, 0, 0, 0, 9, 0xbe, 0xde, 0, 2];
        if first & 0x10 == 0 {
            head[12..].fill(0);
        }
        Place::Before { size: Bytes::new(1028), head, length: 1000 }
    }

    #[test]
    fn only_rtp_that_goes_up_is_a_packet_and_one_that_never_left_has_not_arrived() {
        let mut packets = Packets::default();
        let all = [
            passing(0, 1, Way::Down, before(0, 1)),
            passing(1, 2, Way::Up, before(0, 1)),
            passing(2, 3, Way::Up, before(22, 254)),
            passing(3, 4, Way::Up, before(0x80, 200)),
            passing(4, 5, Way::Down, before(0x80, 96)),
            passing(5, 6, Way::Up, before(0x90, 96)),
            passing(6, 7, Way::Up, before(0xa0, 0x80 | 97)),
            passing(6, 30, Way::Up, Place::Behind),
        ];
        all.iter().for_each(|each| packets.add(each));
        assert_eq!(packets.first(), Some(Time::from_millis(1)));
        let [lost, padding] = packets.finish()[..] else { panic!("two packets are RTP") };
        assert_eq!((lost.arrived, lost.payload_type, lost.padded, lost.timestamp), (None, 96, false, 256));
        assert_eq!((padding.arrived, padding.payload_type), (Some(Time::from_millis(30)), 97));
        assert!(padding.padded);
        assert_eq!([lost.payload, padding.payload], [1000 - 12 - 12, 1000 - 12].map(Bytes::new));
    }

    #[test]
    fn a_datagram_shorter_than_a_header_is_none() {
        let mut packets = Packets::default();
        let place = Place::Before { size: Bytes::new(32), head: [0x80; HEAD], length: 4 };
        packets.add(&passing(0, 1, Way::Up, place));
        assert_eq!(packets.finish(), []);
    }
}
