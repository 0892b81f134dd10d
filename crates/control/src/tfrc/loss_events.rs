//! Loss events and the intervals between them (RFC 5348 section 5).

use alloc::collections::VecDeque;

use thalweg_units::{Span, Time};

use crate::packet::{PacketId, SentPacket};

/// Weights of the last eight intervals, the newest first (RFC 5348 section 5.4).
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// A loss event: a loss, and all losses within a round trip of it.
#[derive(Debug, Clone, Copy)]
struct Event {
    first: PacketId,
    /// When the packet of the first loss was sent.
    sent: Time,
    losses: u32,
}

/// The history of loss events. It is kept at the sender, which knows when each packet left, so nothing has to be
/// interpolated.
#[derive(Debug, Clone, Default)]
pub struct LossEvents {
    /// The newest first: as many as eight closed intervals require.
    events: VecDeque<Event>,
    /// The length assumed for the interval before the first event, in packets, while that event is remembered.
    before_first: Option<f64>,
    newest: Option<PacketId>,
}

impl LossEvents {
    /// Records an arrival; `was_lost` if the packet had been reported as lost, which is then withdrawn.
    pub fn on_arrived(&mut self, packet: &SentPacket, was_lost: bool) {
        self.newest = self.newest.max(Some(packet.id));
        if was_lost && let Some(index) = self.events.iter().position(|event| event.first <= packet.id) {
            self.events[index].losses -= 1;
            if self.events[index].losses == 0 {
                self.events.remove(index);
            }
            if self.events.is_empty() {
                self.before_first = None;
            }
        }
    }

    /// Records a lost packet, at this round-trip time. `first` returns the length in packets assumed for the interval
    /// before the first loss event (1 / p at which the equation gives the receive rate). Returns whether an event
    /// begins.
    pub fn on_lost(&mut self, packet: &SentPacket, rtt: Span, first: impl FnOnce() -> f64) -> bool {
        self.newest = self.newest.max(Some(packet.id));
        match self.events.front_mut() {
            Some(event) if packet.id <= event.first || packet.at - event.sent <= rtt => {
                event.losses += 1;
                return false;
            }
            Some(_) => {}
            None => self.before_first = Some(first().max(1.0)),
        }
        self.events.push_front(Event { first: packet.id, sent: packet.at, losses: 1 });
        if self.events.len() > WEIGHTS.len() + 1 {
            self.events.pop_back();
            self.before_first = None;
        }
        true
    }

    /// I_1, I_2 ...: packets from one event to the next.
    fn closed(&self) -> impl Iterator<Item = f64> {
        let pairs = self.events.iter().zip(self.events.iter().skip(1));
        pairs.map(|(later, earlier)| (later.first.0 - earlier.first.0) as f64).chain(self.before_first)
    }

    /// p: the loss event rate, 0 before the first loss.
    pub fn rate(&self) -> f64 {
        let (Some(event), Some(newest)) = (self.events.front(), self.newest) else { return 0.0 };
        let open = (newest.0 - event.first.0 + 1) as f64;
        let closed = self.closed().take(WEIGHTS.len()).count();
        let weights: f64 = WEIGHTS.iter().take(closed.max(1)).sum();
        let weighed = |intervals: &mut dyn Iterator<Item = f64>| -> f64 {
            intervals.zip(WEIGHTS).map(|(packets, weight)| packets * weight).sum()
        };
        let with_open = weighed(&mut core::iter::once(open).chain(self.closed()).take(closed.max(1)));
        let without = weighed(&mut self.closed());
        (weights / with_open.max(without)).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Bytes;

    const RTT: Span = Span::from_millis(100);

    fn packet(id: u64) -> SentPacket {
        SentPacket::new(PacketId(id), Time::from_millis(20 * id), Bytes::new(1000))
    }

    /// Losses after these many packets each, then `open` packets from the last on.
    fn history(first: f64, intervals: &[u64], open: u64) -> LossEvents {
        let mut events = LossEvents::default();
        let mut id = 1000;
        assert!(events.on_lost(&packet(id), RTT, || first));
        for interval in intervals {
            id += interval;
            assert!(events.on_lost(&packet(id), RTT, || unreachable!("not the first")));
        }
        events.on_arrived(&packet(id + open - 1), false);
        events
    }

    #[test]
    fn eight_intervals_and_an_open_one_give_the_worked_loss_rate() {
        // I_1 to I_8 are 100, 120, 80, 60, 150, 90, 200, 40; the oldest is first here.
        let events = history(39.5, &[40, 200, 90, 150, 60, 80, 120, 100], 50);
        assert!((events.rate() - 0.009646).abs() < 5e-7, "{}", events.rate());
        // A long open interval dominates: 300 + 400 + ... are more than the closed ones.
        let longer = history(39.5, &[40, 200, 90, 150, 60, 80, 120, 100], 300);
        assert!((longer.rate() - 6.0 / 814.0).abs() < 1e-9, "{}", longer.rate());
    }

    #[test]
    fn before_the_second_event_the_synthetic_interval_counts() {
        assert_eq!(LossEvents::default().rate(), 0.0);
        assert!((history(39.5, &[], 10).rate() - 1.0 / 39.5).abs() < 1e-9);
        assert!((history(39.5, &[], 79).rate() - 1.0 / 79.0).abs() < 1e-9);
        // Two closed ones: 20.5 and 39.5, on average 30.
        assert!((history(40.0, &[20], 1).rate() - 2.0 / 60.0).abs() < 1e-9);
    }

    #[test]
    fn losses_within_a_round_trip_are_one_event() {
        let mut events = history(50.0, &[], 1);
        // 20 ms apart: five more within 100 ms, then another event.
        let begins: alloc::vec::Vec<bool> =
            (1001..=1006).map(|id| events.on_lost(&packet(id), RTT, || unreachable!())).collect();
        assert_eq!(begins, [false, false, false, false, false, true]);
    }

    #[test]
    fn a_loss_that_was_none_is_taken_back() {
        let mut events = history(50.0, &[30], 1);
        let before = history(50.0, &[], 31).rate();
        events.on_arrived(&packet(1030), true);
        assert!((events.rate() - before).abs() < 1e-12, "{} {before}", events.rate());
        events.on_arrived(&packet(1000), true);
        assert_eq!(events.rate(), 0.0);
        // Forgotten or never lost: nothing to withdraw.
        events.on_arrived(&packet(10), true);
        assert!(events.on_lost(&packet(1100), RTT, || 20.0));
    }

    #[test]
    fn everything_lost_is_a_rate_of_one_at_most() {
        let mut events = LossEvents::default();
        (0..500).for_each(|id| {
            events.on_lost(&packet(id), Span::ZERO, || 0.0);
        });
        assert_eq!(events.rate(), 1.0);
    }
}
