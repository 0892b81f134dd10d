//! Missing packets made of parity (flexfec-03; `wire::flexfec`), of bytes what [`Recovery`](crate::recovery::Recovery) is of values.
//!
//! Parity protects packets as their sender first had them. A repeat has header extensions of its own, so only what came as
//! media is held, as in libwebrtc (`FlexfecReceiveStreamImpl`, which sees no repeats).

use std::collections::VecDeque;

use thalweg_wire::flexfec::{Format, Parity, Recovery};
use thalweg_wire::rtp::{Packet, blank_extensions};
use thalweg_wire::unwrap::SequenceUnwrapper;

use super::config::Extensions;

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
    /// Number n is in place n modulo its length, unless a newer one is.
    media: Vec<Option<(u64, Vec<u8>)>>,
    newest: Option<u64>,
    waiting: VecDeque<Parity>,
}

impl ParityStream {
    pub(super) fn new(extensions: &Extensions) -> ParityStream {
        let blanks = [extensions.transport_sequence, extensions.absolute_send_time].into_iter().flatten().collect();
        ParityStream { blanks, media: vec![None; MEDIA as usize], newest: None, waiting: VecDeque::new() }
    }

    /// The stream is another from here on.
    pub(super) fn begin_anew(&mut self) {
        let blanks = std::mem::take(&mut self.blanks);
        *self = ParityStream { blanks, ..ParityStream::new(&Extensions::default()) };
    }

    /// A media packet came; the packets that can be made with it.
    pub(super) fn on_media(&mut self, number: u64, packet: &[u8]) -> Vec<Vec<u8>> {
        if !self.hold(number, packet) {
            return Vec::new();
        }
        let sequence = number as u16;
        if self.waiting.iter().any(|parity| parity.mask.contains(sequence)) { self.make() } else { Vec::new() }
    }

    /// A parity packet over the stream `media_ssrc` came; the packets that can be made with it.
    pub(super) fn on_parity(&mut self, media_ssrc: Option<u32>, packet: &Packet<'_>) -> Vec<Vec<u8>> {
        let Ok(parity) = Parity::parse(Format::Draft03, packet) else { return Vec::new() };
        if media_ssrc != Some(parity.ssrc) || packet.payload.len() > LONGEST {
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
        let place = &mut self.media[(number % MEDIA) as usize];
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
        while let Some((number, packet)) = self.make_one() {
            self.hold(number, &packet);
            made.push(packet);
        }
        made
    }

    fn make_one(&mut self) -> Option<(u64, Vec<u8>)> {
        let newest = self.newest?;
        let (media, mut made) = (&self.media, None);
        let locate = |sequence: u16| SequenceUnwrapper::after(newest).peek(sequence.into());
        let held = |sequence: u16| {
            let number = locate(sequence);
            let (held, packet) = media[(number % MEDIA) as usize].as_ref()?;
            (*held == number).then_some(&packet[..])
        };
        self.waiting.retain(|parity| {
            // What it spans is no longer held, or cannot have been sent yet.
            if made.is_some() || locate(parity.mask.first()).abs_diff(newest) >= MEDIA {
                return made.is_some();
            }
            match parity.recover(held) {
                Ok(Recovery::Missing(_)) => true,
                Ok(Recovery::Packet(packet)) => {
                    let sequence = packet.get(2..4).map_or(0, |bytes| u16::from_be_bytes([bytes[0], bytes[1]]));
                    made = Some((locate(sequence), packet));
                    false
                }
                Ok(Recovery::Complete) | Err(_) => false,
            }
        });
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Seed;
    use thalweg_wire::flexfec::protect;
    use thalweg_wire::rtp::{Extension, ExtensionBuffer, Header};

    const EXTENSIONS: Extensions = Extensions {
        transport_sequence: Some(3),
        transport_on_request: false,
        mid: None,
        absolute_send_time: None,
        grace: None,
        states: None,
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
            let mut stream = ParityStream::new(&EXTENSIONS);
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

    #[test]
    fn one_packet_made_makes_the_next() {
        let mut stream = ParityStream::new(&EXTENSIONS);
        stream.on_media(65_600, &media(65_600, 1));
        assert_eq!(give(&mut stream, &parity(&[65_601, 65_602], 1)), []);
        assert_eq!(give(&mut stream, &parity(&[65_600, 65_601], 2)), [65_601, 65_602]);
        assert!(stream.waiting.is_empty());
    }

    #[test]
    fn forged_parity_takes_bounded_memory() {
        let mut random = Seed::new(3).child("forged").random();
        let mut stream = ParityStream::new(&EXTENSIONS);
        for step in 0..5_000u64 {
            let number = 65_536 + step * 2;
            stream.on_media(number, &media(number, 0));
            let mut packet = parity(&[number, number + 1 + random.below(100)], step as u16);
            let places = packet.len() as u64 - 12;
            for _ in 0..random.below(4) {
                packet[12 + random.below(places) as usize] = random.bits() as u8;
            }
            stream.on_parity(Some(50), &Packet::parse(&packet).unwrap());
            assert!(stream.waiting.len() <= PARITIES);
        }
    }
}
