//! The robust throughput estimator (gcc.md section 4.1; libwebrtc `robust_throughput_estimator.cc`).

use alloc::collections::VecDeque;

use thalweg_units::{Bytes, Rate, Span, Time};

/// At most this many packets count.
const MAX_PACKETS: usize = 500;
/// No estimate from fewer.
const MIN_PACKETS: usize = 10;
/// Packets beyond twenty count for this long ...
const MIN_SPAN: Span = Span::from_secs(1);
/// ... and the twenty for this long.
const MAX_SPAN: Span = Span::from_secs(5);
/// This many packets are kept beyond a second.
const KEPT_PACKETS: usize = 20;
/// A packet this much out of order starts everything over.
const REORDERING: Span = Span::from_secs(1);

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
    /// The latest sending time of a packet that no longer counts.
    dropped_until: Option<Time>,
}

impl Robust {
    pub(super) fn add(&mut self, sent: Time, at: Time, size: Bytes) {
        if self.packets.back().is_some_and(|last| last.at - at > REORDERING) {
            self.packets.clear();
        }
        // Arrivals come nearly sorted: walk back from the end.
        let position = self.packets.iter().rposition(|packet| packet.at <= at).map_or(0, |index| index + 1);
        self.packets.insert(position, Arrived { sent, at, size });
        while self.too_much() {
            if let Some(packet) = self.packets.pop_front() {
                self.dropped_until = self.dropped_until.max(Some(packet.sent));
            }
        }
    }

    fn too_much(&self) -> bool {
        let (Some(first), Some(last)) = (self.packets.front(), self.packets.back()) else { return false };
        let span = last.at - first.at;
        let count = self.packets.len();
        count > MAX_PACKETS || span > MAX_SPAN || (count > KEPT_PACKETS && span > MIN_SPAN)
    }

    pub(super) fn rate(&self) -> Option<Rate> {
        if self.packets.len() < MIN_PACKETS {
            return None;
        }
        let (first, last) = (self.packets.front()?, self.packets.back()?);
        let floor = Span::from_millis(1);
        // The largest gap is replaced by the second largest, so that one pause does not count as low throughput.
        let (mut largest, mut second) = (Span::ZERO, Span::ZERO);
        let mut received = Bytes::ZERO;
        let mut previous = first.at;
        let (mut sent, mut sent_count) = (Bytes::ZERO, 0);
        let mut sent_range: Option<(Time, Time, Bytes)> = None;
        for packet in &self.packets {
            let gap = packet.at - previous;
            previous = packet.at;
            if gap > largest {
                (largest, second) = (gap, largest);
            } else if gap > second {
                second = gap;
            }
            received += packet.size;
            if self.dropped_until.is_none_or(|until| packet.sent >= until) {
                sent += packet.size;
                sent_count += 1;
                sent_range = Some(match sent_range {
                    None => (packet.sent, packet.sent, packet.size),
                    Some((from, to, size)) if packet.sent >= to => {
                        let _ = size;
                        (from.min(packet.sent), packet.sent, packet.size)
                    }
                    Some((from, to, size)) => (from.min(packet.sent), to, size),
                });
            }
        }
        let receive_span = (last.at - first.at - largest + second).max(floor);
        let receive_rate = (received - first.size).per(receive_span);
        match sent_range {
            Some((from, to, last_size)) if sent_count >= MIN_PACKETS => {
                Some(receive_rate.min((sent - last_size).per((to - from).max(floor))))
            }
            _ => Some(receive_rate),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        // The sending side has the pause too, and the lesser of the two counts.
        assert!(paused.rate().unwrap() >= Rate::from_kbps(700));
        let kbps = slow.rate().unwrap().as_kbps_f64();
        assert!((kbps - 500.0).abs() < 11.0, "{kbps}");
    }
}
