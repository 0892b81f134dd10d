//! Audio packets between their source and the wire, and the clock of their source.

use std::collections::BTreeMap;
use std::sync::Arc;

use thalweg_units::Time;

use super::stream::Stream;

/// An audio packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AudioFrame {
    /// One packet of Opus.
    pub data: Arc<[u8]>,
    /// Its time on the source's own clock, in ticks of 48 kHz.
    pub ticks: u64,
    /// When its first sample was captured: relates the source's clock to that of the pictures.
    pub captured: Time,
}

/// Audio packets that have not left yet, by number.
#[derive(Debug, Default)]
pub(super) struct AudioQueue {
    next: u64,
    waiting: BTreeMap<u64, AudioFrame>,
    newest: Option<(Time, u64)>,
}

impl AudioQueue {
    /// Stores a packet; returns the number by which the engine identifies it.
    pub(super) fn keep(&mut self, frame: AudioFrame) -> u64 {
        let number = self.next;
        self.next += 1;
        self.newest = Some((frame.captured, frame.ticks));
        self.waiting.insert(number, frame);
        number
    }

    /// Removes a packet that leaves. They leave in order, so earlier ones are dropped.
    pub(super) fn take(&mut self, number: u64) -> Option<AudioFrame> {
        let mut left = self.waiting.split_off(&number);
        let taken = left.remove(&number);
        self.waiting = left;
        taken
    }

    /// The source's clock at `now`, extrapolated from its newest packet.
    pub(super) fn timestamp(&self, now: Time, stream: &Stream) -> u32 {
        let Some((captured, ticks)) = self.newest else { return stream.timestamp(now) };
        stream.timestamp_of(ticks.saturating_add_signed(stream.ticks(now - captured)))
    }
}
