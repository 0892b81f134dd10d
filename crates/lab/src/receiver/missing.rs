//! Media packets that did not come, and asking for them (libwebrtc `modules/video_coding/nack_requester.cc`).

use std::collections::BTreeMap;

use thalweg_units::{Span, Time};

/// A packet is asked for again after this long (libwebrtc: a round trip, 100 ms before it is known).
const RETRY: Span = Span::from_millis(100);
/// ... and at most this often.
const MAX_RETRIES: u32 = 10;
/// Packets older than this many before the newest are given up.
const MAX_AGE: u64 = 10_000;

#[derive(Debug, Clone, Copy)]
struct Asked {
    next: Time,
    times: u32,
}

/// The gaps in the media sequence.
#[derive(Debug, Default)]
pub struct MissingPackets {
    expected: u64,
    missing: BTreeMap<u64, Asked>,
}

impl MissingPackets {
    /// A media packet came for the first time.
    pub fn on_media(&mut self, now: Time, sequence: u64) {
        if sequence < self.expected {
            self.missing.remove(&sequence);
            return;
        }
        for gap in self.expected.max(sequence.saturating_sub(MAX_AGE))..sequence {
            self.missing.insert(gap, Asked { next: now, times: 0 });
        }
        self.expected = sequence + 1;
        self.missing = self.missing.split_off(&self.expected.saturating_sub(MAX_AGE));
    }

    /// A repeat of `sequence` came.
    pub fn on_repeat(&mut self, sequence: u64) {
        self.missing.remove(&sequence);
    }

    /// The packets to ask for now.
    pub fn poll(&mut self, now: Time) -> Vec<u64> {
        if self.next_event() > now {
            return Vec::new();
        }
        let mut wanted = Vec::new();
        self.missing.retain(|sequence, asked| {
            if asked.next <= now {
                wanted.push(*sequence);
                *asked = Asked { next: now + RETRY, times: asked.times + 1 };
            }
            asked.times <= MAX_RETRIES
        });
        wanted
    }

    /// When there is something to ask for.
    pub fn next_event(&self) -> Time {
        self.missing.values().map(|asked| asked.next).min().unwrap_or(Time::NEVER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_asked_for_at_once_and_then_every_tenth_of_a_second() {
        let mut missing = MissingPackets::default();
        missing.on_media(Time::ZERO, 0);
        missing.on_media(Time::from_millis(10), 3);
        assert_eq!(missing.poll(Time::from_millis(10)), [1, 2]);
        missing.on_repeat(1);
        assert_eq!(missing.poll(Time::from_millis(50)), [0u64; 0]);
        assert_eq!(missing.poll(Time::from_millis(110)), [2]);
        for retry in 2..30 {
            missing.poll(Time::from_millis(10 + 100 * retry));
        }
        assert_eq!(missing.next_event(), Time::NEVER);
    }
}
