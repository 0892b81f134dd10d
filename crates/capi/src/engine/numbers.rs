//! Under which numbers the caller wrote packets.

use std::collections::{BTreeMap, VecDeque};

use thalweg_control::PacketId;
use thalweg_sender::{Content, Packet};
use thalweg_types::feedback::{Numbering, Streams};
use thalweg_wire::unwrap::SequenceUnwrapper;

use crate::error::{Error, THALWEG_E_ORDER};

/// Packets that may still be reported by [`Numbers::on_written`], and media packets that may be requested again: as many as
/// 16 bits distinguish.
const REMEMBERED: usize = 1 << 16;

/// Max RTP streams of a caller: media, its retransmissions, FEC, audio, and as many again.
const MOST_STREAMS: usize = 8;

/// A packet handed to the caller: of media its number and its frame.
type Handed = Option<(u64, u64)>;

/// The numbers of all packets. A packet's transport-wide number is its own.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    newest: Option<PacketId>,
    /// `handed[i]` is packet `first + i`; it was not reported yet.
    handed: VecDeque<Handed>,
    first: u64,
    streams: Streams,
    sequences: BTreeMap<u32, SequenceUnwrapper>,
    /// The engine's numbers of media packets by the wire's.
    media: BTreeMap<u64, u64>,
}

impl Numbers {
    /// The caller is handed a packet.
    pub(super) fn on_transmit(&mut self, packet: &Packet) {
        let media = match packet.content {
            Content::Media { sequence, fragment } => Some((sequence, fragment.frame)),
            _ => None,
        };
        let id = packet.sent.id;
        if id.0 != self.first + self.handed.len() as u64 {
            (self.first, self.handed) = (id.0, VecDeque::new());
        }
        self.handed.push_back(media);
        if self.handed.len() > REMEMBERED {
            self.forget(self.first + 1);
        }
        self.newest = Some(id);
    }

    /// The caller wrote packet `id` as number `sequence` of stream `ssrc`. Packets are reported in order of sending.
    pub(super) fn on_written(&mut self, id: PacketId, ssrc: u32, sequence: u16) -> Result<(), Error> {
        let place = id.0.checked_sub(self.first).and_then(|place| usize::try_from(place).ok());
        let Some(handed) = place.and_then(|place| self.handed.get(place)).copied() else {
            let why = format!(
                "packet {id} was not to be sent, or it or a later one was reported: each THALWEG_TRANSMIT once, in order"
            );
            return Err(Error::new(THALWEG_E_ORDER, why));
        };
        if !self.sequences.contains_key(&ssrc) && self.sequences.len() == MOST_STREAMS {
            let why = format!("ssrc {ssrc} would be stream {}, of at most {MOST_STREAMS}", MOST_STREAMS + 1);
            return Err(Error::new(THALWEG_E_ORDER, why));
        }
        let unwrapper = self.sequences.entry(ssrc).or_default();
        let unwrapped = unwrapper.peek(sequence.into());
        if let Some(newest) = self.streams.newest_of(ssrc).filter(|newest| unwrapped <= *newest) {
            let why = format!("sequence {sequence} follows {} of stream {ssrc}, must be a later one", newest as u16);
            return Err(Error::new(THALWEG_E_ORDER, why));
        }
        unwrapper.unwrap(sequence.into());
        self.forget(id.0 + 1);
        self.streams.on_sent(id, ssrc, unwrapped);
        if let Some((number, frame)) = handed {
            self.streams.on_frame(ssrc, frame);
            self.media.insert(unwrapped, number);
            if self.media.len() > REMEMBERED {
                self.media.pop_first();
            }
        }
        Ok(())
    }

    fn forget(&mut self, before: u64) {
        while self.first < before && self.handed.pop_front().is_some() {
            self.first += 1;
        }
    }

    /// The last packet that the caller was handed.
    pub(super) fn newest_sent(&self) -> Option<PacketId> {
        self.newest
    }

    /// The engine's numbers of the media packets under these numbers of the wire.
    pub(super) fn media(&self, sequences: &[u64]) -> Vec<u64> {
        sequences.iter().filter_map(|sequence| self.media.get(sequence).copied()).collect()
    }
}

impl Numbering for Numbers {
    fn newest(&self) -> Option<PacketId> {
        self.newest
    }

    fn newest_of(&self, ssrc: u32) -> Option<u64> {
        self.streams.newest_of(ssrc)
    }

    fn is_media(&self, ssrc: u32) -> bool {
        self.streams.is_media(ssrc)
    }

    fn newest_frame(&self) -> Option<u64> {
        self.streams.newest_frame()
    }

    fn packet(&self, ssrc: u32, sequence: u64) -> Option<PacketId> {
        self.streams.packet(ssrc, sequence)
    }
}
