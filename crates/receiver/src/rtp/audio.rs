//! Puts audio packets in order and marks losses.

use std::collections::BTreeMap;

use thalweg_units::{Span, Time};
use thalweg_wire::rtp::Header;
use thalweg_wire::unwrap::TimestampUnwrapper;

use super::output::AudioPacket;
use super::statistics::AudioCounts;

/// Max number of waiting packets: 4 s of packets of 20 ms (libwebrtc `NetEq::Config::max_packets_in_buffer`).
const PACKETS: usize = 200;
/// Max number of consecutive losses: 40 s of packets of 20 ms, as many as `source` accepts as one stream.
const LONGEST_GAP: u64 = 2048;
/// Max bytes kept of a packet: the longest Opus packet is six frames of 20 ms with 1275 bytes each and their lengths
/// (RFC 6716 section 3.4), limited to what network datagrams hold.
const LONGEST: usize = 1500;

/// One received audio stream.
#[derive(Debug)]
pub(super) struct AudioStream {
    jitter_buffer_delay: Span,
    /// Waiting packets by sequence number.
    waiting: BTreeMap<u64, AudioPacket>,
    /// The sequence number after the last packet delivered.
    expected: Option<u64>,
    timestamps: TimestampUnwrapper,
    counts: AudioCounts,
}

impl AudioStream {
    pub(super) fn new(jitter_buffer_delay: Span) -> AudioStream {
        let (waiting, timestamps) = (BTreeMap::new(), TimestampUnwrapper::new());
        AudioStream { jitter_buffer_delay, waiting, expected: None, timestamps, counts: AudioCounts::default() }
    }

    pub(super) fn counts(&self) -> AudioCounts {
        self.counts
    }

    /// Resets the state for a new stream.
    pub(super) fn begin_anew(&mut self) {
        self.counts.lost += self.waiting.len() as u64;
        *self = AudioStream { counts: self.counts, ..AudioStream::new(self.jitter_buffer_delay) };
    }

    /// Packet `sequence` arrived; `captured` is its capture time by the sender's clock.
    pub(super) fn on_packet(&mut self, now: Time, sequence: u64, header: &Header, data: &[u8], captured: Option<Time>) {
        if data.len() > LONGEST
            || self.waiting.contains_key(&sequence)
            || self.expected.is_some_and(|expected| sequence < expected)
        {
            self.counts.late += 1;
            return;
        }
        let timestamp = self.timestamps.unwrap(header.timestamp);
        let (data, marker) = (data.to_vec(), header.marker);
        let packet = AudioPacket { data, sequence, timestamp, marker, lost: 0, captured, arrived: now };
        self.waiting.insert(sequence, packet);
    }

    /// The next packet to play: the expected one, or the first one that has waited long enough.
    pub(super) fn poll(&mut self, now: Time) -> Option<AudioPacket> {
        let (&sequence, first) = self.waiting.first_key_value()?;
        let expected = self.expected.unwrap_or(sequence);
        if sequence > expected && now < first.arrived + self.jitter_buffer_delay && self.waiting.len() <= PACKETS {
            return None;
        }
        let (_, packet) = self.waiting.pop_first()?;
        self.expected = Some(sequence + 1);
        // A packet further ahead than any that could wait belongs to a restarted stream, so its losses are unknown.
        let lost = if sequence - expected > LONGEST_GAP { 0 } else { sequence - expected };
        self.counts.lost += lost;
        self.counts.packets += 1;
        Some(AudioPacket { lost, ..packet })
    }

    /// When [`AudioStream::poll`] may return a packet although none arrives.
    pub(super) fn next_event(&self) -> Time {
        self.waiting.first_key_value().map_or(Time::NEVER, |(_, first)| first.arrived + self.jitter_buffer_delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stream() -> AudioStream {
        AudioStream::new(Span::from_millis(60))
    }

    fn give(stream: &mut AudioStream, millis: u64, sequence: u64) -> Vec<(u64, u64)> {
        let now = Time::from_millis(millis);
        let header =
            Header { marker: false, payload_type: 111, sequence: sequence as u16, timestamp: sequence as u32, ssrc: 1 };
        stream.on_packet(now, sequence, &header, &[1, 2], None);
        std::iter::from_fn(|| stream.poll(now)).map(|packet| (packet.sequence, packet.lost)).collect()
    }

    #[test]
    fn packets_in_order_are_not_held() {
        let mut stream = stream();
        assert_eq!((give(&mut stream, 0, 7), give(&mut stream, 20, 8)), (vec![(7, 0)], vec![(8, 0)]));
        assert_eq!(stream.next_event(), Time::NEVER);
    }

    #[test]
    fn one_that_is_late_is_waited_for_and_put_in_its_place() {
        let mut stream = stream();
        give(&mut stream, 0, 7);
        assert_eq!((give(&mut stream, 20, 9), stream.next_event()), (vec![], Time::from_millis(80)));
        assert_eq!(give(&mut stream, 79, 8), [(8, 0), (9, 0)]);
    }

    #[test]
    fn what_does_not_come_in_time_is_marked_as_lost_and_not_played_later() {
        let mut stream = stream();
        give(&mut stream, 0, 7);
        give(&mut stream, 20, 10);
        let packet = stream.poll(Time::from_millis(80)).unwrap();
        assert_eq!((packet.sequence, packet.lost), (10, 2));
        assert_eq!(give(&mut stream, 81, 8), []);
        assert_eq!(stream.counts(), AudioCounts { packets: 2, lost: 2, late: 1 });
    }

    proptest! {
        #[test]
        fn packets_come_out_in_order_and_are_counted_once(steps in prop::collection::vec((0u64..40, 0u64..500), 1..600)) {
            let (mut stream, mut now, mut last, mut given) = (stream(), 0, None, 0);
            for (pause, sequence) in steps {
                now += pause;
                for (sequence, lost) in give(&mut stream, now, sequence) {
                    prop_assert!(last.is_none_or(|last| sequence == last + 1 + lost));
                    last = Some(sequence);
                    given += 1;
                }
                prop_assert!(stream.waiting.len() <= PACKETS);
            }
            prop_assert_eq!(stream.counts().packets, given);
        }
    }
}
