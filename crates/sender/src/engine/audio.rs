//! Audio, which goes along with the video: it waits for nothing and is counted by everything.
//!
//! Two people talk with audio and look at pictures, so an audio packet leaves at once, whatever the window and the pacer say
//! (libwebrtc's pacer does the same), and media behind it waits the longer. It is on the wire like anything else: in flight, reported, and
//! taken off what the encoder is aimed at.

use thalweg_control::{PacketId, Payload, SentPacket};
use thalweg_media::{Content, Packet};
use thalweg_units::{Bytes, Time};

use super::Engine;

/// An audio packet that waits to be asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct QueuedAudio {
    number: u64,
    length: u32,
}

impl Engine {
    /// An audio packet of `length` payload bytes leaves next; `number` is what its driver knows it by.
    pub fn on_audio(&mut self, now: Time, number: u64, length: u32) {
        self.advance(now);
        self.audio.push_back(QueuedAudio { number, length });
    }

    pub(super) fn release_audio(&mut self) -> Option<Packet> {
        let QueuedAudio { number, length } = self.audio.pop_front()?;
        let size = Bytes::new(u64::from(length)) + self.parts.sizes.audio;
        let content = Content::Audio { number, length };
        let mut packet = SentPacket::new(PacketId(self.next_id), self.now, size);
        packet.payload = Payload::Audio;
        let (sent, grace, before) = self.depart(packet, &content);
        // While there is nothing else, nothing else asks for reports.
        Some(Packet { sent, grace, before, requests_feedback: self.parts.queue.is_empty(), content })
    }
}
