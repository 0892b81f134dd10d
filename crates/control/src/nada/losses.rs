//! Loss intervals: the number of packets between losses (RFC 5348 section 5).

use alloc::collections::VecDeque;

use thalweg_units::{Span, Time};

use crate::packet::{PacketId, SentPacket};

/// Weights of the last eight intervals, the newest first.
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// Losses within a round trip.
#[derive(Debug, Clone, Copy)]
struct Event {
    /// The first packet lost, and when it was sent.
    first: PacketId,
    began: Time,
    /// How many packets were lost, less those that arrived after all.
    losses: u64,
    /// Packets since the event before.
    interval: u64,
}

/// Intervals between losses.
#[derive(Debug, Clone, Default)]
pub(super) struct LossIntervals {
    /// The newest first.
    events: VecDeque<Event>,
    /// Packets since the last loss.
    since: u64,
}

impl LossIntervals {
    /// Takes the next packet; losses within a round trip count as one.
    pub(super) fn on_packet(&mut self, packet: &SentPacket, lost: bool, rtt: Span) {
        if !lost {
            self.since += 1;
            return;
        }
        if let Some(event) = self.events.front_mut().filter(|event| packet.at - event.began < rtt) {
            event.losses += 1;
            self.since += 1;
            return;
        }
        self.events.push_front(Event { first: packet.id, began: packet.at, losses: 1, interval: self.since.max(1) });
        self.events.truncate(WEIGHTS.len());
        self.since = 0;
    }

    /// A packet counted as lost has arrived after all (RFC 5348 section 5.1: the loss history is as if it had been in
    /// time).
    pub(super) fn take_back(&mut self, id: PacketId) {
        let Some(place) = self.events.iter().position(|event| event.first <= id) else { return };
        let event = &mut self.events[place];
        event.losses -= 1;
        if event.losses == 0 {
            let joined = event.interval + 1;
            self.events.remove(place);
            let after = place.checked_sub(1).map_or(&mut self.since, |newer| &mut self.events[newer].interval);
            *after += joined;
        }
    }

    /// Time since the last loss, in average loss intervals; `None` if nothing was ever lost.
    pub(super) fn since_last(&self) -> Option<f64> {
        let weights: f64 = WEIGHTS.iter().take(self.events.len()).sum();
        let packets: f64 = self.events.iter().zip(WEIGHTS).map(|(event, weight)| event.interval as f64 * weight).sum();
        (weights > 0.0).then(|| self.since as f64 * weights / packets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Bytes;

    fn of(lost: &[u64], packets: u64) -> LossIntervals {
        let mut intervals = LossIntervals::default();
        (0..packets).for_each(|id| {
            let packet = SentPacket::new(PacketId(id), Time::from_millis(10 * id), Bytes::new(1000));
            intervals.on_packet(&packet, lost.contains(&id), Span::from_millis(30));
        });
        intervals
    }

    fn after(lost: &[u64], packets: u64) -> Option<f64> {
        of(lost, packets).since_last()
    }

    #[test]
    fn the_last_loss_is_so_many_average_intervals_ago() {
        assert_eq!(after(&[], 100), None);
        assert_eq!(after(&[10], 11), Some(0.0));
        assert_eq!(after(&[10], 81), Some(7.0));
        // Ten packets before the first, nineteen between: 14.5 on average.
        assert_eq!(after(&[10, 30], 31 + 29), Some(2.0));
    }

    #[test]
    fn losses_within_a_round_trip_are_one() {
        assert_eq!(after(&[10, 11, 12], 81), after(&[10], 81));
        assert_ne!(after(&[10, 13], 81), after(&[10], 81));
    }

    #[test]
    fn the_fifth_interval_back_and_those_before_it_weigh_less() {
        // 100 packets, then intervals of 9 each: (4 x 9 + 0.8 x 100) / 4.8 = 24.17.
        let lost = [100, 110, 120, 130, 140];
        assert!((after(&lost, 141 + 29).unwrap() - 29.0 * 4.8 / 116.0).abs() < 1e-9);
    }

    #[test]
    fn a_loss_that_is_taken_back_leaves_the_intervals_as_if_the_packet_had_been_in_time() {
        for (lost, late, left) in
            [(&[10, 30][..], &[30][..], &[10][..]), (&[10, 30], &[10], &[30]), (&[10, 12, 30], &[12, 10], &[30])]
        {
            let mut intervals = of(lost, 100);
            late.iter().for_each(|id| intervals.take_back(PacketId(*id)));
            assert_eq!(intervals.since_last(), after(left, 100), "{lost:?} less {late:?}");
        }
        // One of two within a round trip remains a loss, and without any there is none.
        let mut intervals = of(&[10, 12], 100);
        intervals.take_back(PacketId(10));
        assert_eq!(intervals.since_last(), after(&[10, 12], 100));
        intervals.take_back(PacketId(12));
        assert_eq!(intervals.since_last(), None);
        intervals.take_back(PacketId(12));
    }
}
