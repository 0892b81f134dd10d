//! Missing packets made of parity (`wire::flexfec`, `wire::ulpfec`), of bytes what
//! [`Recovery`](crate::recovery::Recovery) is of values.
//!
//! Parity protects packets as their sender first had them. A repeat has header extensions of its own, so only what came
//! as media is held, as in libwebrtc (`FlexfecReceiveStreamImpl`, which sees no repeats).
//!
//! A sum has nothing to check itself with, so what comes out is compared with what is known of the stream: its payload
//! type, and the timestamp where both neighbours have the same. A byte that is wrong beyond these is in the packet
//! made; SRTP sees to it that nobody but the sender can have put it there, and the frame says that it has packets made
//! of parity ([`VideoFrame::recovered`](crate::rtp::VideoFrame::recovered)). Extensions that were not summed may be
//! anything: senders other than libwebrtc sum them as they are.

use std::collections::VecDeque;

use thalweg_wire::flexfec::{Format, Parity, Recovery};
use thalweg_wire::rtp::{Packet, blank_extensions};
use thalweg_wire::unwrap::SequenceUnwrapper;
use thalweg_wire::{block_code, ulpfec};

use super::blocks::Blocks;
use super::config::ExtensionIds;

/// Media packets held behind the newest: four times what a parity packet can span (libwebrtc keeps four times its 48).
const MEDIA: u64 = 4 * 109;
/// Parity packets that wait for more, the newest (libwebrtc `kMaxFecPackets`).
const PARITIES: usize = 48;
/// The longest packet that is held: no path between browsers has longer ones, and Ethernet ends at 1500.
const LONGEST: usize = 2048;

/// What came, and what parity waits for more.
#[derive(Debug)]
pub(super) struct ParityStream {
    /// Ids of the header extensions that parity does not cover.
    blanks: Vec<u8>,
    /// Of the packets that parity is over.
    payload_type: u8,
    media: Media,
    newest: Option<u64>,
    waiting: VecDeque<Parity>,
    blocks: Blocks,
}

/// Media packets: number n is in place n modulo their number, unless a newer one is.
#[derive(Debug)]
struct Media(Vec<Option<(u64, Vec<u8>)>>);

impl Media {
    fn get(&self, number: u64) -> Option<&[u8]> {
        let (held, packet) = self.0[(number % MEDIA) as usize].as_ref()?;
        (*held == number).then_some(packet)
    }

    /// Whether a packet can be the one of this number, as far as those beside it tell: between two packets of one frame
    /// there is none of another.
    fn is_beside(&self, number: u64, packet: &[u8]) -> bool {
        let timestamp = |packet: &[u8]| packet.get(4..8).map(<[u8]>::to_vec);
        let beside = |number: Option<u64>| self.get(number?).and_then(timestamp);
        match (beside(number.checked_sub(1)), beside(number.checked_add(1))) {
            (Some(before), Some(after)) if before == after => timestamp(packet) == Some(before),
            _ => true,
        }
    }
}

impl ParityStream {
    pub(super) fn new(extensions: &ExtensionIds, payload_type: u8) -> ParityStream {
        let blanks = [extensions.transport_sequence, extensions.absolute_send_time].into_iter().flatten().collect();
        let media = Media(vec![None; MEDIA as usize]);
        let (waiting, blocks) = (VecDeque::new(), Blocks::default());
        ParityStream { blanks, payload_type, media, newest: None, waiting, blocks }
    }

    /// The stream is another from here on.
    pub(super) fn begin_anew(&mut self) {
        let blanks = std::mem::take(&mut self.blanks);
        *self = ParityStream { blanks, ..ParityStream::new(&ExtensionIds::default(), self.payload_type) };
    }

    /// A media packet came; the packets that can be made with it.
    pub(super) fn on_media(&mut self, number: u64, packet: &[u8]) -> Vec<Vec<u8>> {
        if !self.hold(number, packet) {
            return Vec::new();
        }
        let sequence = number as u16;
        let wanted = self.blocks.want(sequence) || self.waiting.iter().any(|parity| parity.mask.contains(sequence));
        if wanted { self.make() } else { Vec::new() }
    }

    /// A parity packet over the stream `media_ssrc` came; the packets that can be made with it.
    pub(super) fn on_parity(&mut self, media_ssrc: Option<u32>, packet: &Packet<'_>) -> Vec<Vec<u8>> {
        if let Ok(parity) = block_code::Parity::parse(packet.payload) {
            return self.wait_for_block(media_ssrc, parity, packet.payload.len());
        }
        match Parity::parse(Format::Draft03, packet) {
            Ok(parity) if media_ssrc == Some(parity.ssrc) => self.wait(parity, packet.payload.len()),
            _ => Vec::new(),
        }
    }

    /// Parity came that stood among the media of the stream `media_ssrc`; the packets that can be made with it.
    pub(super) fn on_ulpfec(&mut self, media_ssrc: u32, payload: &[u8]) -> Vec<Vec<u8>> {
        match ulpfec::parse(media_ssrc, payload) {
            Ok(parity) => self.wait(parity, payload.len()),
            Err(_) => Vec::new(),
        }
    }

    fn wait_for_block(&mut self, media_ssrc: Option<u32>, parity: block_code::Parity, length: usize) -> Vec<Vec<u8>> {
        if length > LONGEST || media_ssrc != Some(parity.ssrc) {
            return Vec::new();
        }
        self.blocks.add(parity, length);
        self.make()
    }

    fn wait(&mut self, parity: Parity, length: usize) -> Vec<Vec<u8>> {
        if length > LONGEST {
            return Vec::new();
        }
        if self.waiting.len() >= PARITIES {
            self.waiting.pop_front();
        }
        self.waiting.push_back(parity);
        self.make()
    }

    /// Keeps a packet as parity knows it.
    fn hold(&mut self, number: u64, packet: &[u8]) -> bool {
        let place = &mut self.media.0[(number % MEDIA) as usize];
        let mut blanked = packet.to_vec();
        if packet.len() > LONGEST
            || place.as_ref().is_some_and(|(held, _)| *held >= number)
            || blank_extensions(&mut blanked, &self.blanks).is_err()
        {
            return false;
        }
        *place = Some((number, blanked));
        self.newest = self.newest.max(Some(number));
        true
    }

    /// Makes what can be made; each packet made may complete another. Parity that is of no more use goes.
    fn make(&mut self) -> Vec<Vec<u8>> {
        let mut made = Vec::new();
        loop {
            let found = self.make_one().map_or_else(|| self.make_block(), |one| vec![one]);
            if found.is_empty() {
                return made;
            }
            for (number, packet) in found {
                self.hold(number, &packet);
                made.push(packet);
            }
        }
    }

    fn make_block(&mut self) -> Vec<(u64, Vec<u8>)> {
        let Some(newest) = self.newest else { return Vec::new() };
        let mut blocks = std::mem::take(&mut self.blocks);
        let locate = |sequence: u16| SequenceUnwrapper::after(newest).peek(sequence.into());
        let number = |packet: &[u8]| locate(sequence_of(packet));
        let made = blocks.make(
            |first| locate(first).abs_diff(newest) >= MEDIA,
            |sequence| self.media.get(locate(sequence)),
            |packet| self.is_sound(number(packet), packet),
        );
        self.blocks = blocks;
        made.into_iter().flatten().map(|packet| (number(&packet), packet)).collect()
    }

    /// Whether a packet that was made can be of the stream.
    fn is_sound(&self, number: u64, packet: &[u8]) -> bool {
        packet[1] & 0x7f == self.payload_type && self.media.is_beside(number, packet)
    }

    fn make_one(&mut self) -> Option<(u64, Vec<u8>)> {
        let newest = self.newest?;
        let mut waiting = std::mem::take(&mut self.waiting);
        let media = &self.media;
        let locate = |sequence: u16| SequenceUnwrapper::after(newest).peek(sequence.into());
        let mut made = None;
        waiting.retain(|parity| {
            // What it spans is no longer held, or cannot have been sent yet.
            if made.is_some() || locate(parity.mask.first()).abs_diff(newest) >= MEDIA {
                return made.is_some();
            }
            match parity.recover(|sequence| media.get(locate(sequence))) {
                Ok(Recovery::Missing(_)) => true,
                Ok(Recovery::Packet(packet)) => {
                    let number = locate(sequence_of(&packet));
                    made = self.is_sound(number, &packet).then_some((number, packet));
                    false
                }
                Ok(Recovery::Complete) | Err(_) => false,
            }
        });
        self.waiting = waiting;
        made
    }
}

/// The sequence number of an RTP packet.
fn sequence_of(packet: &[u8]) -> u16 {
    packet.get(2..4).map_or(0, |bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Seed;
    use thalweg_wire::flexfec::protect;
    use thalweg_wire::rtp::{Extension, ExtensionBuffer, Header};

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

    /// What the sender protects: extensions that are written last are not there yet.
    fn parity(numbers: &[u64], sequence: u16) -> Vec<u8> {
        let blanked: Vec<Vec<u8>> = numbers
            .iter()
            .map(|number| media(*number, 0))
            .map(|mut packet| {
                blank_extensions(&mut packet, &[3]).unwrap();
                packet
            })
            .collect();
        let payload = protect(Format::Draft03, blanked.iter().map(Vec::as_slice)).unwrap();
        let mut out = Vec::new();
        let header = Header { marker: false, payload_type: 98, sequence, timestamp: 7, ssrc: 51 };
        Packet::new(header, &payload).write(&mut out).unwrap();
        out
    }

    fn give(stream: &mut ParityStream, packet: &[u8]) -> Vec<u64> {
        let made = stream.on_parity(Some(50), &Packet::parse(packet).unwrap());
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
            let mut stream = ParityStream::new(&EXTENSIONS, 96);
            let protects = [65_533, 65_534, 65_535, 65_536, 65_537];
            let mut made = Vec::new();
            stream.on_media(65_533, &media(65_533, 1));
            if late {
                made.extend(give(&mut stream, &parity(&protects, 1)));
            }
            for number in [65_534, 65_535, 65_537] {
                made.extend(
                    stream.on_media(number, &media(number, number as u8)).iter().map(|packet| number_of(packet)),
                );
            }
            if !late {
                made.extend(give(&mut stream, &parity(&protects, 1)));
            }
            assert_eq!(made, [65_536]);
            // It is here now, and parity of another stream makes nothing.
            assert_eq!(give(&mut stream, &parity(&[65_536, 65_537], 2)), []);
            let other = parity(&[65_537, 65_538], 3);
            assert!(stream.on_parity(Some(9), &Packet::parse(&other).unwrap()).is_empty());
        }
    }

    /// All parity of a block over these.
    fn block(numbers: core::ops::Range<u64>, count: u8) -> Vec<Vec<u8>> {
        let blanked: Vec<Vec<u8>> = numbers
            .map(|number| {
                let mut packet = media(number, 0);
                blank_extensions(&mut packet, &[3]).unwrap();
                packet
            })
            .collect();
        let payloads = block_code::protect(blanked.iter().map(Vec::as_slice), count).unwrap();
        let packet = |payload: Vec<u8>| {
            let mut out = Vec::new();
            let header = Header { marker: false, payload_type: 98, sequence: 1, timestamp: 7, ssrc: 51 };
            Packet::new(header, &payload).write(&mut out).unwrap();
            out
        };
        payloads.into_iter().map(packet).collect()
    }

    #[test]
    fn of_a_block_all_is_made_once_as_much_parity_came_as_is_missing() {
        let mut stream = ParityStream::new(&EXTENSIONS, 96);
        let parities = block(65_530..65_540, 4);
        for number in [65_530, 65_532, 65_533, 65_535, 65_536, 65_538] {
            stream.on_media(number, &media(number, number as u8));
        }
        let mut made: Vec<u64> = Vec::new();
        for index in [3, 3, 0, 2] {
            made.extend(give(&mut stream, &parities[index]));
        }
        assert_eq!((made, stream.blocks.waiting().0), (vec![], 1));
        // Of four missing one comes late.
        let late = stream.on_media(65_539, &media(65_539, 1));
        assert_eq!(late.iter().map(|packet| number_of(packet)).collect::<Vec<_>>(), [65_531, 65_534, 65_537]);
        assert_eq!(stream.blocks.waiting(), (0, 0));
    }

    #[test]
    fn a_block_with_a_wrong_byte_makes_nothing_that_contradicts_the_stream() {
        let mut stream = ParityStream::new(&EXTENSIONS, 96);
        stream.on_media(65_600, &media(65_600, 1));
        stream.on_media(65_603, &media(65_603, 1));
        let mut parities = block(65_600..65_604, 2);
        // The payload type, in the code's second byte behind the header of twelve.
        parities[1][12 + 12 + 1] ^= 1;
        assert_eq!(give(&mut stream, &parities[0]), []);
        assert_eq!(give(&mut stream, &parities[1]), []);
        assert_eq!(stream.blocks.waiting(), (0, 0));
    }

    #[test]
    fn one_packet_made_makes_the_next() {
        let mut stream = ParityStream::new(&EXTENSIONS, 96);
        stream.on_media(65_600, &media(65_600, 1));
        assert_eq!(give(&mut stream, &parity(&[65_601, 65_602], 1)), []);
        assert_eq!(give(&mut stream, &parity(&[65_600, 65_601], 2)), [65_601, 65_602]);
        assert!(stream.waiting.is_empty());
    }

    #[test]
    fn what_cannot_be_of_the_stream_is_not_made() {
        let numbers = [65_600, 65_601, 65_602];
        let with = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut stream = ParityStream::new(&EXTENSIONS, 96);
            stream.on_media(65_600, &media(65_600, 1));
            stream.on_media(65_602, &media(65_602, 1));
            let mut packet = parity(&numbers, 1);
            change(&mut packet);
            stream.on_parity(Some(50), &Packet::parse(&packet).unwrap()).len()
        };
        assert_eq!(with(&|_| ()), 1);
        // Behind the RTP header: the payload type, the timestamp both neighbours have.
        for (at, bit) in [(12 + 1, 1), (12 + 5, 0x80)] {
            assert_eq!(with(&|packet| packet[at] ^= bit), 0, "byte {at}");
        }
    }

    #[test]
    fn forged_parity_takes_bounded_memory() {
        let mut random = Seed::new(3).child("forged").random();
        let mut stream = ParityStream::new(&EXTENSIONS, 96);
        for step in 0..5_000u64 {
            let number = 65_536 + step * 2;
            stream.on_media(number, &media(number, 0));
            let mut packet = parity(&[number, number + 1 + random.below(100)], step as u16);
            let places = packet.len() as u64 - 12;
            for _ in 0..random.below(4) {
                packet[12 + random.below(places) as usize] = random.bits() as u8;
            }
            stream.on_parity(Some(50), &Packet::parse(&packet).unwrap());
            if step % 7 == 0 {
                let mut packet = block(number..number + 1 + random.below(9), 3).swap_remove(random.below(3) as usize);
                let places = packet.len() as u64 - 12;
                packet[12 + random.below(places) as usize] = random.bits() as u8;
                stream.on_parity(Some(50), &Packet::parse(&packet).unwrap());
                let (blocks, bytes) = stream.blocks.waiting();
                assert!(blocks <= 16 && bytes <= 16 * 255 * LONGEST);
            }
            assert!(stream.waiting.len() <= PARITIES);
            let forged: Vec<u8> = (0..30 + random.below(40)).map(|_| random.bits() as u8 & 0x7f).collect();
            stream.on_ulpfec(50, &[&[0, 96, (number >> 8) as u8, number as u8], &forged[..]].concat());
            assert!(stream.waiting.len() <= PARITIES && stream.media.0.len() == MEDIA as usize);
        }
    }
}
