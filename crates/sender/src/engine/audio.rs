//! Audio, sent along with the video.
//!
//! Delay hurts a conversation more in its audio than in its video, so an audio packet leaves at once, whatever the
//! window and the pacer say (libwebrtc's pacer does the same), and media behind it waits longer. Otherwise it counts
//! like any packet: it is in flight, reported, and subtracted from the encoder's target.

use thalweg_control::{PacketId, Payload, SentPacket};
use thalweg_types::{Content, Packet};
use thalweg_units::{Bytes, Time};

use super::Engine;

/// A queued audio packet; it leaves at the next poll.
#[derive(Debug, Clone, Copy)]
pub(super) struct QueuedAudio {
    number: u64,
    length: u32,
}

impl Engine {
    /// Queues an audio packet of `length` payload bytes to leave next; `number` identifies it for the caller.
    pub fn on_audio(&mut self, now: Time, number: u64, length: u32) {
        self.input(now, |engine| engine.audio.push_back(QueuedAudio { number, length }));
    }

    pub(super) fn release_audio(&mut self) -> Option<Packet> {
        let QueuedAudio { number, length } = self.audio.pop_front()?;
        let size = Bytes::new(u64::from(length)) + self.parts.sizes.audio;
        let content = Content::Audio { number, length };
        let mut packet = SentPacket::new(PacketId(self.next_id), self.now, size);
        packet.payload = Payload::Audio;
        let (sent, grace, before) = self.depart(packet, &content);
        // With nothing else in the queue, no other packet would ask for a report.
        Some(Packet {
            sent,
            grace,
            before,
            requests_feedback: self.parts.queue.is_empty(),
            report_may_wait: false,
            content,
        })
    }
}
