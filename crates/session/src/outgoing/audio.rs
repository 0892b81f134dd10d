//! Audio between its source and its packet, and its clock.

use std::collections::BTreeMap;
use std::sync::Arc;

use thalweg_units::Time;

use super::stream::Stream;

/// An audio packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AudioFrame {
    /// One packet of Opus.
    pub data: Arc<[u8]>,
    /// Its place on the source's own clock, in ticks of 48 kHz.
    pub ticks: u64,
    /// When its first sample was heard: ties the source's clock to that of the pictures.
    pub captured: Time,
}

/// Audio packets that have yet to leave, by number.
#[derive(Debug, Default)]
pub(super) struct AudioQueue {
    next: u64,
    waiting: BTreeMap<u64, AudioFrame>,
    newest: Option<(Time, u64)>,
}

impl AudioQueue {
    /// Takes a packet; the number the engine knows it by.
    pub(super) fn keep(&mut self, frame: AudioFrame) -> u64 {
        let number = self.next;
        self.next += 1;
        self.newest = Some((frame.captured, frame.ticks));
        self.waiting.insert(number, frame);
        number
    }

    /// A packet leaves. They do in order, so that those before it never will.
    pub(super) fn take(&mut self, number: u64) -> Option<AudioFrame> {
        let mut left = self.waiting.split_off(&number);
        let taken = left.remove(&number);
        self.waiting = left;
        taken
    }

    /// Where the source's clock is at `now`: as far after its newest packet as that is ago.
    pub(super) fn timestamp(&self, now: Time, stream: &Stream) -> u32 {
        let Some((captured, ticks)) = self.newest else { return stream.timestamp(now) };
        stream.timestamp_of(ticks.saturating_add_signed(stream.ticks(now - captured)))
    }
}
