//! The robust throughput estimator (specs/gcc.md 4.1; libwebrtc `robust_throughput_estimator.cc`).
//!
//! Sums and largest gaps are updated as packets enter and leave, so the cost of a report depends on its packets, not on
//! the window.

mod departures;
mod gaps;

use alloc::collections::VecDeque;

use thalweg_units::{Bytes, Rate, Span, Time};

use departures::Departures;
use gaps::Gaps;

/// Max number of packets that count.
const MAX_PACKETS: usize = 500;
/// No estimate with fewer packets.
const MIN_PACKETS: usize = 10;
/// Packets beyond twenty count for at most this long ...
const MIN_SPAN: Span = Span::from_secs(1);
/// ... and the twenty for at most this long.
const MAX_SPAN: Span = Span::from_secs(5);
/// This many packets are kept even if they are older than a second.
const KEPT_PACKETS: usize = 20;
/// A packet reordered by more than this resets the estimator.
const REORDERING: Span = Span::from_secs(1);
/// Min time over which rates are computed.
const FLOOR: Span = Span::from_millis(1);

#[derive(Debug, Clone, Copy)]
struct Arrived {
    sent: Time,
    at: Time,
    size: Bytes,
}

/// Received packets, by arrival.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct Robust {
    packets: VecDeque<Arrived>,
    received: Bytes,
    /// Gaps between each packet and the one before.
    gaps: Gaps,
    /// Packets sent no earlier than any packet that has left the window.
    departures: Departures,
    /// The latest sending time of a packet that has left the window.
    dropped_until: Option<Time>,
}

impl Robust {
    pub(super) fn add(&mut self, sent: Time, at: Time, size: Bytes) {
        if self.packets.back().is_some_and(|last| last.at - at > REORDERING) {
            *self = Robust { dropped_until: self.dropped_until, ..Robust::default() };
        }
        let packet = Arrived { sent, at, size };
        match self.packets.back() {
            Some(last) if at < last.at => self.insert(packet),
            last => {
                if let Some(last) = last {
                    self.gaps.push(at - last.at);
                }
                self.packets.push_back(packet);
            }
        }
        self.received += size;
        if self.counts_as_sent(sent) {
            self.departures.add(packet);
        }
        while self.too_much() {
            self.drop_first();
        }
    }

    /// Inserts a late packet (its report was overtaken by another): it splits a gap, so all gaps are recomputed.
    fn insert(&mut self, packet: Arrived) {
        let before = self.packets.iter().rposition(|other| other.at <= packet.at);
        self.packets.insert(before.map_or(0, |index| index + 1), packet);
        self.gaps = Gaps::default();
        let gaps = self.packets.iter().zip(self.packets.iter().skip(1)).map(|(one, next)| next.at - one.at);
        gaps.for_each(|gap| self.gaps.push(gap));
    }

    fn counts_as_sent(&self, sent: Time) -> bool {
        self.dropped_until.is_none_or(|until| sent >= until)
    }

    fn too_much(&self) -> bool {
        let (Some(first), Some(last)) = (self.packets.front(), self.packets.back()) else { return false };
        let span = last.at - first.at;
        let count = self.packets.len();
        count > MAX_PACKETS || span > MAX_SPAN || (count > KEPT_PACKETS && span > MIN_SPAN)
    }

    fn drop_first(&mut self) {
        let Some(packet) = self.packets.pop_front() else { return };
        self.received -= packet.size;
        self.gaps.keep(self.packets.len().saturating_sub(1));
        if self.counts_as_sent(packet.sent) {
            self.departures.drop_until(packet);
            self.dropped_until = Some(packet.sent);
        }
    }

    pub(super) fn rate(&self) -> Option<Rate> {
        if self.packets.len() < MIN_PACKETS {
            return None;
        }
        let (first, last) = (self.packets.front()?, self.packets.back()?);
        // The largest gap is replaced by the second largest, so that one pause does not count as low throughput.
        let (largest, second) = self.gaps.two_largest();
        let span = (last.at - first.at - largest + second).max(FLOOR);
        let received = (self.received - first.size).per(span);
        Some(self.departures.rate().map_or(received, |sent| received.min(sent)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    #[test]
    fn a_steady_stream_is_measured_exactly() {
        let mut robust = Robust::default();
        for i in 0..9 {
            robust.add(Time::from_millis(10 * i), Time::from_millis(10 * i + 30), Bytes::new(1250));
        }
        assert_eq!(robust.rate(), None);
        for i in 9..100 {
            robust.add(Time::from_millis(10 * i), Time::from_millis(10 * i + 30), Bytes::new(1250));
        }
        let kbps = robust.rate().unwrap().as_kbps_f64();
        assert!((kbps - 1000.0).abs() < 11.0, "{kbps}");
    }

    #[test]
    fn one_pause_does_not_count_and_a_slower_receiver_does() {
        let mut paused = Robust::default();
        let mut slow = Robust::default();
        for i in 0..50 {
            let pause = if i >= 25 { 200 } else { 0 };
            paused.add(Time::from_millis(10 * i + pause), Time::from_millis(10 * i + 30 + pause), Bytes::new(1250));
            slow.add(Time::from_millis(10 * i), Time::from_millis(20 * i + 30), Bytes::new(1250));
        }
        // The pause is in the sending times too, and the lower of the two rates counts.
        assert!(paused.rate().unwrap() >= Rate::from_kbps(700));
        let kbps = slow.rate().unwrap().as_kbps_f64();
        assert!((kbps - 500.0).abs() < 11.0, "{kbps}");
    }

    /// A reference without running sums: it scans all packets for each rate.
    #[derive(Default)]
    struct Rescan {
        packets: Vec<Arrived>,
        dropped_until: Option<Time>,
    }

    impl Rescan {
        fn add(&mut self, packet: Arrived) {
            if self.packets.last().is_some_and(|last| last.at - packet.at > REORDERING) {
                self.packets.clear();
            }
            self.packets.push(packet);
            self.packets.sort_by_key(|packet| packet.at);
            while self.too_much() {
                self.dropped_until = self.dropped_until.max(Some(self.packets.remove(0).sent));
            }
        }

        fn too_much(&self) -> bool {
            let (count, span) = (self.packets.len(), self.packets[self.packets.len() - 1].at - self.packets[0].at);
            count > 500 || span > Span::from_secs(5) || (count > 20 && span > Span::from_secs(1))
        }

        fn rate(&self) -> Option<Rate> {
            let packets = &self.packets;
            if packets.len() < 10 {
                return None;
            }
            let mut gaps: Vec<Span> = packets.windows(2).map(|pair| pair[1].at - pair[0].at).collect();
            gaps.sort_unstable();
            let span = packets[packets.len() - 1].at - packets[0].at - gaps[gaps.len() - 1] + gaps[gaps.len() - 2];
            let received = packets[1..].iter().map(|packet| packet.size).sum::<Bytes>().per(span.max(FLOOR));
            let counts = |packet: &&Arrived| self.dropped_until.is_none_or(|until| packet.sent >= until);
            let sent: Vec<&Arrived> = packets.iter().filter(counts).collect();
            if sent.len() < 10 {
                return Some(received);
            }
            // Of packets with equal sending times, the last to arrive counts as last.
            let last = sent.iter().max_by_key(|packet| packet.sent).unwrap();
            let first = sent.iter().map(|packet| packet.sent).min().unwrap();
            let bytes = sent.iter().map(|packet| packet.size).sum::<Bytes>() - last.size;
            Some(received.min(bytes.per((last.sent - first).max(FLOOR))))
        }
    }

    proptest! {
        /// Bursts with equal sending times, gaps of all lengths, overtaken packets and clocks set back.
        #[test]
        fn running_sums_give_what_a_rescan_gives(
            steps in proptest::collection::vec(
                (
                    prop_oneof![3 => Just(0i64), 6 => 1i64..8, 1 => 20i64..400],
                    prop_oneof![8 => 30i64..33, 2 => 0i64..80, 1 => -900i64..900, 1 => Just(-1500i64)],
                    40u64..1500,
                ),
                1..900,
            )
        ) {
            let (mut robust, mut rescan) = (Robust::default(), Rescan::default());
            let mut sent = Time::from_millis(10_000);
            for (gap, delay, size) in steps {
                sent += Span::from_millis(gap);
                let packet = Arrived { sent, at: sent + Span::from_millis(delay), size: Bytes::new(size) };
                robust.add(packet.sent, packet.at, packet.size);
                rescan.add(packet);
                prop_assert_eq!(robust.rate(), rescan.rate());
            }
        }
    }
}
