//! The trace-driven bottleneck, exactly as Mahimahi's link queue (specs/linkemu.md 2).

use alloc::collections::VecDeque;
use alloc::sync::Arc;

use thalweg_units::{Bytes, ConfigError, Seed, Time};

use crate::queue::{DropReason, Queue, QueueConfig, Queued};
use crate::trace::{OPPORTUNITY, Schedule, Trace};
use crate::{Change, Departure, Drop, Link, Packet};

/// Mahimahi's TUN device puts this many bytes before each packet, and Mahimahi counts them in all sizes.
pub const PACKET_INFORMATION: Bytes = Bytes::new(4);

/// A packet that may be partly through. It is outside the queue and does not count towards its limits.
#[derive(Debug, Clone)]
struct InTransit<P> {
    queued: Queued<P>,
    left: Bytes,
}

/// A link that lets bytes through at the delivery opportunities of a trace.
///
/// It runs on whole milliseconds. An opportunity in the millisecond in which a packet arrives comes before the packet,
/// so a packet never leaves in the millisecond of its arrival. Unused bytes of an opportunity are lost, but a packet
/// that is partly through keeps its progress.
#[derive(Debug, Clone)]
pub struct Bottleneck<P> {
    schedule: Schedule,
    /// The schedule that it was built with, from its beginning.
    built_with: Schedule,
    queue: Queue<P>,
    transit: Option<InTransit<P>>,
    departed: VecDeque<Departure<P>>,
    dropped: VecDeque<Drop<P>>,
}

impl<P: Packet> Bottleneck<P> {
    /// A link that serves `queue` at the opportunities of `schedule`.
    ///
    /// # Errors
    /// When the queue's parameters are out of range.
    pub fn new(schedule: Schedule, queue: &QueueConfig, seed: Seed) -> Result<Bottleneck<P>, ConfigError> {
        let queue = queue.build(seed)?;
        let built_with = schedule.clone();
        let (departed, dropped) = (VecDeque::new(), VecDeque::new());
        Ok(Bottleneck { schedule, built_with, queue, transit: None, departed, dropped })
    }

    fn idle(&self) -> bool {
        self.transit.is_none() && self.queue.is_empty()
    }

    /// Serves every opportunity at or before `now`.
    fn advance(&mut self, now: Time) {
        while self.schedule.next() <= now {
            if self.idle() {
                // The queue is empty, so the opportunities pass unused, however many there are.
                self.schedule.skip_to(now + thalweg_units::Span::from_nanos(1));
                return;
            }
            let at = self.schedule.next();
            self.schedule.advance();
            self.serve(at);
        }
    }

    fn serve(&mut self, at: Time) {
        let mut budget = OPPORTUNITY;
        while budget > Bytes::ZERO {
            if self.transit.is_none() {
                let (schedule, dropped) = (&self.schedule, &mut self.dropped);
                let dropped = |queued, why| dropped.push_back(drop_of(at, queued, why));
                let popped = self.queue.pop(at, || schedule.mean_rate(), dropped);
                let Some(queued) = popped else { return };
                self.transit = Some(InTransit { left: queued.counted, queued });
            }
            let Some(transit) = &mut self.transit else { return };
            let through = budget.min(transit.left);
            budget -= through;
            transit.left -= through;
            if transit.left == Bytes::ZERO
                && let Some(InTransit { queued, .. }) = self.transit.take()
            {
                self.departed.push_back(Departure {
                    at,
                    size: queued.counted - PACKET_INFORMATION,
                    queued: at - queued.arrival,
                    packet: queued.packet,
                });
            }
        }
    }
}

fn drop_of<P>(at: Time, queued: Queued<P>, why: DropReason) -> Drop<P> {
    Drop { at, size: queued.counted - PACKET_INFORMATION, why, packet: queued.packet }
}

impl<P: Packet> Link<P> for Bottleneck<P> {
    fn offer(&mut self, now: Time, size: Bytes, packet: P) {
        self.advance(now);
        let queued = Queued { arrival: now, counted: size + PACKET_INFORMATION, packet };
        let (schedule, dropped) = (&self.schedule, &mut self.dropped);
        self.queue.push(
            now,
            || schedule.mean_rate(),
            queued,
            |queued, why| dropped.push_back(drop_of(now, queued, why)),
        );
    }

    fn poll(&mut self, now: Time) -> Option<Departure<P>> {
        self.advance(now);
        self.departed.pop_front()
    }

    fn next_event(&self) -> Time {
        match self.departed.front() {
            Some(departure) => departure.at,
            None if self.idle() => Time::NEVER,
            None => self.schedule.next(),
        }
    }

    fn poll_drop(&mut self) -> Option<Drop<P>> {
        self.dropped.pop_front()
    }

    fn change(&mut self, now: Time, change: &Change) -> bool {
        let Change::Rate(rate) = change else { return false };
        let schedule = match rate {
            None => Some(self.built_with.clone()),
            Some(rate) => Trace::constant(*rate).ok().map(|trace| Schedule::looped(Arc::new(trace))),
        };
        if let Some(mut schedule) = schedule {
            self.advance(now);
            schedule.skip_to(now + thalweg_units::Span::from_nanos(1));
            self.schedule = schedule;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::Limits;
    use alloc::vec;
    use alloc::vec::Vec;
    use thalweg_units::{Rate, Span};

    fn link(millis: Vec<u64>, queue: QueueConfig) -> Bottleneck<u32> {
        let schedule = Schedule::looped(Arc::new(Trace::new(millis).unwrap()));
        Bottleneck::new(schedule, &queue, Seed::new(1)).unwrap()
    }

    /// (ms, counted size, delay in ms).
    type Left = Vec<(u64, u64, i64)>;
    /// (ms, number).
    type Dropped = Vec<(u64, u32)>;

    /// Offers (ms, counted size) in order; returns what left and what was dropped.
    fn run(link: &mut Bottleneck<u32>, offers: &[(u64, u64)], until: u64) -> (Left, Dropped) {
        let mut departures = Vec::new();
        let mut drops = Vec::new();
        let mut poll = |link: &mut Bottleneck<u32>, now: Time| {
            while let Some(left) = link.poll(now) {
                departures.push((left.at.as_millis(), left.size.get() + 4, left.queued.as_millis()));
            }
            while let Some(lost) = link.poll_drop() {
                drops.push((lost.at.as_millis(), lost.packet));
            }
        };
        for (number, (at, size)) in offers.iter().enumerate() {
            poll(link, Time::from_millis(*at));
            link.offer(Time::from_millis(*at), Bytes::new(size - 4), number as u32);
        }
        poll(link, Time::from_millis(until));
        (departures, drops)
    }

    #[test]
    fn the_opportunities_of_the_first_worked_example_carry_what_they_should() {
        let mut link = link(vec![5, 5, 12, 20], QueueConfig::Infinite);
        let offers = [(0, 1004), (0, 1004), (0, 504), (1, 1504), (13, 104)];
        let (departures, _) = run(&mut link, &offers, 20);
        assert_eq!(departures, [(5, 1004, 5), (5, 1004, 5), (5, 504, 5), (12, 1504, 11), (20, 104, 7)]);
    }

    #[test]
    fn a_full_drop_tail_queue_drops_what_arrives() {
        let mut link = link(vec![10], QueueConfig::DropTail(Limits::packets(2)));
        let offers: Vec<(u64, u64)> = [0, 1, 2, 3, 11].map(|at| (at, 1504)).to_vec();
        let (departures, drops) = run(&mut link, &offers, 30);
        assert_eq!(departures, [(10, 1504, 10), (20, 1504, 19), (30, 1504, 19)]);
        assert_eq!(drops, [(2, 2), (3, 3)]);
    }

    #[test]
    fn limits_that_change_admit_more_from_their_time_on() {
        let [before, after] = [1, 3].map(Limits::packets);
        let queue = QueueConfig::DropTailUntil { until: Span::from_millis(50), before, after };
        let mut link = link(vec![100], queue);
        let (_, drops) = run(&mut link, &[10, 20, 49, 50, 51, 52].map(|at| (at, 1504)), 100);
        assert_eq!(drops, [(20, 1), (49, 2), (52, 5)]);
    }

    #[test]
    fn a_limit_of_time_is_at_the_mean_rate_of_the_trace_or_at_the_rate_it_was_given() {
        // Three opportunities in 100 ms are 3 packets in 101 ms, whenever the opportunities are.
        let mut link = link(vec![10, 20, 100], QueueConfig::DropTail(Limits::time(Span::from_millis(101))));
        let (_, drops) = run(&mut link, &[(0, 1504), (0, 1504), (0, 1504), (0, 1504)], 1);
        assert_eq!(drops, [(0, 3)]);
        link.change(Time::from_millis(1), &Change::Rate(Some(Rate::from_kbps(600))));
        let (_, drops) = run(&mut link, &[(1, 1504), (1, 1504), (1, 1504)], 2);
        assert_eq!(drops, [(1, 2)]);
    }

    #[test]
    fn the_packet_in_transit_is_outside_the_queue() {
        let mut link = link(vec![10], QueueConfig::DropTail(Limits::bytes(Bytes::new(3008))));
        let offers = [(0, 1004), (0, 1004), (0, 1004), (10, 1504), (10, 1504), (10, 1504)];
        let (departures, drops) = run(&mut link, &offers, 40);
        assert_eq!(departures.iter().map(|left| left.0).collect::<Vec<_>>(), [10, 20, 30, 40]);
        assert_eq!(drops, [(0, 2), (10, 5)]);
    }

    #[test]
    fn codel_drops_at_the_times_of_the_worked_example() {
        let limits = Limits::packets(100_000);
        let codel = QueueConfig::Codel { limits, target: Span::from_millis(5), interval: Span::from_millis(100) };
        let mut link = link(vec![2], codel);
        let offers: Vec<(u64, u64)> = (0..520).map(|at| (at, 1504)).collect();
        let (departures, drops) = run(&mut link, &offers, 520);
        assert_eq!(drops.iter().map(|drop| drop.0).collect::<Vec<_>>(), [108, 208, 278, 336, 386, 430, 470, 506]);
        assert_eq!(drops[0].1, 54);
        let at_108 = departures.iter().find(|left| left.0 == 108).unwrap();
        assert_eq!(at_108.2, 108 - 53);
    }

    #[test]
    fn drop_head_makes_room_by_dropping_the_oldest() {
        let mut link = link(vec![10], QueueConfig::DropHead(Limits::packets(2)));
        let (departures, drops) = run(&mut link, &[(0, 1504), (1, 1504), (2, 1504)], 20);
        assert_eq!(drops, [(2, 0)]);
        assert_eq!(departures, [(10, 1504, 9), (20, 1504, 18)]);
    }

    #[test]
    fn pie_keeps_a_standing_queue_near_its_reference_by_dropping_some() {
        let limits = Limits::packets(100_000);
        let pie = QueueConfig::Pie { limits, reference: Span::from_millis(20), max_burst: Span::from_millis(100) };
        let mut link = link(vec![2], pie);
        // One and a half times the link's capacity, for a minute.
        let offers: Vec<(u64, u64)> = (0..45_000).map(|i| (i * 4 / 3, 1504)).collect();
        let (departures, drops) = run(&mut link, &offers, 60_000);
        let late: Vec<i64> = departures.iter().filter(|left| left.0 > 30_000).map(|left| left.2).collect();
        let mean = late.iter().sum::<i64>() / late.len() as i64;
        assert!((5..80).contains(&mean), "{mean} ms");
        assert!((10_000..20_000).contains(&drops.len()), "{}", drops.len());
    }

    #[test]
    fn an_idle_link_needs_no_waking() {
        let mut link = link(vec![1], QueueConfig::Infinite);
        assert_eq!(link.next_event(), Time::NEVER);
        link.offer(Time::from_secs_f64(1e6), Bytes::new(1500), 0);
        assert_eq!(link.next_event(), Time::from_secs_f64(1e6) + Span::from_millis(1));
    }
}
