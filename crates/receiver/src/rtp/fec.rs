//! Recovers missing packets by FEC (`wire::flexfec`, `wire::ulpfec`): adds the bytes to [`Recovery`].
//!
//! FEC protects packets as they were first sent. A retransmission has different header extensions, so only packets
//! received as media are held, as in libwebrtc (`FlexfecReceiveStreamImpl`, which sees no retransmissions).
//!
//! XOR parity has no checksum, so a recovered packet is checked against what is known of the stream: its payload type,
//! and its timestamp where both neighbours have the same one. Other wrong bytes stay in the recovered packet; SRTP
//! ensures that only the sender can have caused them, and the frame records that it has packets recovered by FEC
//! ([`VideoFrame::recovered`](crate::rtp::VideoFrame::recovered)). Extensions that FEC does not cover may have any
//! content: senders other than libwebrtc XOR them as they are.

use thalweg_types::Protected;
use thalweg_wire::rtp::blank_extensions;
use thalweg_wire::unwrap::SequenceUnwrapper;
use thalweg_wire::{flexfec, ulpfec};

use super::config::ExtensionIds;
use crate::recovery::{MEDIA, Recovery};

/// Max length of a held packet in bytes: paths between browsers have no longer ones, and Ethernet's limit is 1500.
const LONGEST: usize = 2048;

/// Received packets, and FEC packets waiting for more of them.
#[derive(Debug)]
pub(super) struct FecStream {
    /// Ids of the header extensions that FEC does not cover.
    blanks: Vec<u8>,
    /// Payload type of the protected packets.
    payload_type: u8,
    recovery: Recovery<Vec<u8>, flexfec::Fec>,
}

impl FecStream {
    pub(super) fn new(extensions: &ExtensionIds, payload_type: u8) -> FecStream {
        let blanks = [extensions.transport_sequence, extensions.absolute_send_time].into_iter().flatten().collect();
        FecStream { blanks, payload_type, recovery: Recovery::default() }
    }

    /// Resets the state for a new stream.
    pub(super) fn begin_anew(&mut self) {
        self.recovery = Recovery::default();
    }

    /// A media packet arrived; returns the packets that can be recovered with it.
    pub(super) fn on_media(&mut self, number: u64, packet: &[u8]) -> Vec<Vec<u8>> {
        self.hold(number, packet);
        self.make()
    }

    /// An FEC packet over stream `media_ssrc` arrived; returns the packets that can be recovered with it.
    pub(super) fn on_fec(&mut self, media_ssrc: Option<u32>, payload: &[u8]) -> Vec<Vec<u8>> {
        match flexfec::parse(payload) {
            Ok(fec) if media_ssrc == Some(fec.ssrc) => self.wait(fec, payload.len()),
            _ => Vec::new(),
        }
    }

    /// ULPFEC among the media of stream `media_ssrc` arrived; returns the packets that can be recovered with it.
    pub(super) fn on_ulpfec(&mut self, media_ssrc: u32, payload: &[u8]) -> Vec<Vec<u8>> {
        match ulpfec::parse(media_ssrc, payload) {
            Ok(fec) => self.wait(fec, payload.len()),
            Err(_) => Vec::new(),
        }
    }

    fn wait(&mut self, fec: flexfec::Fec, length: usize) -> Vec<Vec<u8>> {
        let Some(newest) = self.recovery.newest().filter(|_| length <= LONGEST) else { return Vec::new() };
        let first = SequenceUnwrapper::after(newest).peek(fec.mask.first().into());
        // Its packets are no longer held, or cannot have been sent yet.
        let protects = Protected::new(first, fec.mask.places()).filter(|_| first.abs_diff(newest) < MEDIA);
        let Some(protects) = protects else { return Vec::new() };
        self.recovery.on_fec(protects, fec);
        self.make()
    }

    /// Stores a packet in the form that FEC protects.
    fn hold(&mut self, number: u64, packet: &[u8]) {
        let mut blanked = packet.to_vec();
        if packet.len() <= LONGEST && blank_extensions(&mut blanked, &self.blanks).is_ok() {
            self.recovery.on_media(number, blanked);
        }
    }

    /// Recovers all possible packets; each may complete another.
    fn make(&mut self) -> Vec<Vec<u8>> {
        let mut made = Vec::new();
        while let Some((number, fec)) = self.recovery.next() {
            let locate = |sequence: u16| SequenceUnwrapper::after(number).peek(sequence.into());
            let held = |sequence| self.recovery.media(locate(sequence)).map(Vec::as_slice);
            if let Ok(flexfec::Recovery::Packet(packet)) = fec.recover(held)
                && self.is_valid(number, &packet)
            {
                self.hold(number, &packet);
                made.push(packet);
            }
        }
        made
    }

    /// Returns true if a recovered packet can belong to the stream, judging by its payload type and its neighbours:
    /// between two packets of one frame there are no packets of another.
    fn is_valid(&self, number: u64, packet: &[u8]) -> bool {
        let timestamp = |packet: &[u8]| packet.get(4..8).map(<[u8]>::to_vec);
        let beside = |number: Option<u64>| self.recovery.media(number?).and_then(|packet| timestamp(packet));
        let fits = match (beside(number.checked_sub(1)), beside(number.checked_add(1))) {
            (Some(before), Some(after)) if before == after => timestamp(packet) == Some(before),
            _ => true,
        };
        fits && packet.get(1).is_some_and(|kind| kind & 0x7f == self.payload_type)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Seed;
    use thalweg_wire::flexfec::protect;
    use thalweg_wire::rtp::{Extension, ExtensionBuffer, Header, Packet};

    use crate::recovery::FEC_PACKETS;

    const EXTENSIONS: ExtensionIds = ExtensionIds {
        transport_sequence: Some(3),
        transport_on_request: false,
        playout_delay: None,
        mid: None,
        absolute_send_time: None,
        grace: None,
        states: None,
        dependencies: None,
        bytes_before: None,
    };

    fn media(number: u64, transport: u8) -> Vec<u8> {
        let block = ExtensionBuffer::of(&[Extension { id: 3, data: &[1, transport] }]).unwrap();
        let header = Header {
            marker: number.is_multiple_of(3),
            payload_type: 96,
            sequence: number as u16,
            timestamp: 7,
            ssrc: 50,
        };
        let payload = vec![number as u8; 10 + (number % 7) as usize];
        let mut out = Vec::new();
        Packet { extensions: Some(block.as_extensions()), ..Packet::new(header, &payload) }.write(&mut out).unwrap();
        out
    }

    /// FEC as the sender computes it: extensions that are written last are still blank.
    fn fec(numbers: &[u64], sequence: u16) -> Vec<u8> {
        let blanked: Vec<Vec<u8>> = numbers
            .iter()
            .map(|number| media(*number, 0))
            .map(|mut packet| {
                blank_extensions(&mut packet, &[3]).unwrap();
                packet
            })
            .collect();
        let payload = protect(blanked.iter().map(Vec::as_slice)).unwrap();
        let mut out = Vec::new();
        let header = Header { marker: false, payload_type: 98, sequence, timestamp: 7, ssrc: 51 };
        Packet::new(header, &payload).write(&mut out).unwrap();
        out
    }

    fn give(stream: &mut FecStream, packet: &[u8]) -> Vec<u64> {
        let made = stream.on_fec(Some(50), Packet::parse(packet).unwrap().payload);
        made.iter().map(|packet| number_of(packet)).collect()
    }

    fn number_of(packet: &[u8]) -> u64 {
        let made = Packet::parse(packet).unwrap();
        let number = SequenceUnwrapper::after(65_600).peek(made.header.sequence.into());
        let mut expected = media(number, 0);
        blank_extensions(&mut expected, &[3]).unwrap();
        assert_eq!(packet, expected);
        number
    }

    #[test]
    fn a_lost_packet_is_made_but_for_what_is_written_last() {
        for late in [false, true] {
            let mut stream = FecStream::new(&EXTENSIONS, 96);
            let protects = [65_533, 65_534, 65_535, 65_536, 65_537];
            let mut made = Vec::new();
            stream.on_media(65_533, &media(65_533, 1));
            if late {
                made.extend(give(&mut stream, &fec(&protects, 1)));
            }
            for number in [65_534, 65_535, 65_537] {
                made.extend(
                    stream.on_media(number, &media(number, number as u8)).iter().map(|packet| number_of(packet)),
                );
            }
            if !late {
                made.extend(give(&mut stream, &fec(&protects, 1)));
            }
            assert_eq!(made, [65_536]);
            // It is here now, and FEC of another stream recovers nothing.
            assert_eq!(give(&mut stream, &fec(&[65_536, 65_537], 2)), []);
            let other = fec(&[65_537, 65_538], 3);
            assert!(stream.on_fec(Some(9), Packet::parse(&other).unwrap().payload).is_empty());
        }
    }

    #[test]
    fn one_packet_made_makes_the_next() {
        let mut stream = FecStream::new(&EXTENSIONS, 96);
        stream.on_media(65_600, &media(65_600, 1));
        assert_eq!(give(&mut stream, &fec(&[65_601, 65_602], 1)), []);
        assert_eq!(give(&mut stream, &fec(&[65_600, 65_601], 2)), [65_601, 65_602]);
        assert!(stream.recovery.waiting() == 0);
    }

    #[test]
    fn what_cannot_be_of_the_stream_is_not_made() {
        let numbers = [65_600, 65_601, 65_602];
        let with = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut stream = FecStream::new(&EXTENSIONS, 96);
            stream.on_media(65_600, &media(65_600, 1));
            stream.on_media(65_602, &media(65_602, 1));
            let mut packet = fec(&numbers, 1);
            change(&mut packet);
            stream.on_fec(Some(50), Packet::parse(&packet).unwrap().payload).len()
        };
        assert_eq!(with(&|_| ()), 1);
        // After the RTP header: the payload type, and the timestamp that both neighbours have.
        for (at, bit) in [(12 + 1, 1), (12 + 5, 0x80)] {
            assert_eq!(with(&|packet| packet[at] ^= bit), 0, "byte {at}");
        }
    }

    #[test]
    fn forged_fec_takes_bounded_memory() {
        let mut random = Seed::new(3).child("forged").random();
        let mut stream = FecStream::new(&EXTENSIONS, 96);
        for step in 0..5_000u64 {
            let number = 65_536 + step * 2;
            stream.on_media(number, &media(number, 0));
            let mut packet = fec(&[number, number + 1 + random.below(100)], step as u16);
            let places = packet.len() as u64 - 12;
            for _ in 0..random.below(4) {
                packet[12 + random.below(places) as usize] = random.bits() as u8;
            }
            stream.on_fec(Some(50), Packet::parse(&packet).unwrap().payload);
            assert!(stream.recovery.waiting() <= FEC_PACKETS);
            let forged: Vec<u8> = (0..30 + random.below(40)).map(|_| random.bits() as u8 & 0x7f).collect();
            stream.on_ulpfec(50, &[&[0, 96, (number >> 8) as u8, number as u8], &forged[..]].concat());
            assert!(stream.recovery.waiting() <= FEC_PACKETS);
        }
    }
}
