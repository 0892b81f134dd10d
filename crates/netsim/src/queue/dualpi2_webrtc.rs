//! The dual queue of libwebrtc's tests (`DualPi2NetworkQueue`, specs/l4s.md 2.7), with which its SCReAM scenarios are
//! played: strict priority, marks when a packet enters and again when it leaves, no step.

use thalweg_units::{Bytes, ConfigError, Random, Rate, Seed, Span, Time, above, check};

use super::fifo::Fifo;
use super::{DropReason, MarkReason, Queued};
use crate::Packet;

const ALPHA: f64 = 0.16;
const BETA: f64 = 3.2;
const COUPLING: f64 = 2.0;
const UPDATE: Span = Span::from_millis(16);

/// See the module.
#[derive(Debug, Clone)]
pub(super) struct DualPi2Webrtc<P> {
    target: Span,
    /// From this many bytes on everything is marked or dropped.
    overfull: Option<Bytes>,
    low: Fifo<P>,
    classic: Fifo<P>,
    probability: f64,
    previous: Span,
    updated: Option<Time>,
    random: Random,
}

impl<P: Packet> DualPi2Webrtc<P> {
    pub(super) fn new(target: Span, link_rate: Option<Rate>, seed: Seed) -> Result<DualPi2Webrtc<P>, ConfigError> {
        check("dualpi2-webrtc.target", target).within(above(Span::ZERO), "target = \"10ms\"")?;
        Ok(DualPi2Webrtc {
            target,
            overfull: link_rate.map(|rate| rate.over(target * 2)),
            low: Fifo::new(),
            classic: Fifo::new(),
            probability: 0.0,
            previous: Span::ZERO,
            updated: None,
            random: seed.child("dualpi2").random(),
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.low.is_empty() && self.classic.is_empty()
    }

    pub(super) fn push(&mut self, mut queued: Queued<P>, mut dropped: impl FnMut(Queued<P>, DropReason)) {
        let bytes = self.low.bytes() + self.classic.bytes() + queued.counted;
        let is_overfull = self.overfull.is_some_and(|most| bytes > most);
        if queued.packet.ecn().is_low_latency() {
            if is_overfull || self.hits_coupled() {
                queued.mark(MarkReason::Coupled);
            }
            self.low.push(queued);
        } else if is_overfull || self.random.unit() < self.probability * self.probability {
            dropped(queued, DropReason::QueueManaged);
        } else {
            self.classic.push(queued);
        }
    }

    pub(super) fn pop(&mut self, now: Time) -> Option<Queued<P>> {
        let mut queued = self.low.pop().or_else(|| self.classic.pop())?;
        self.update(now, now - queued.arrival);
        if queued.packet.ecn().is_low_latency() && self.hits_coupled() {
            queued.mark(MarkReason::Coupled);
        }
        Some(queued)
    }

    fn hits_coupled(&mut self) -> bool {
        self.random.unit() < COUPLING * self.probability
    }

    /// A packet that waited `sojourn` leaves.
    fn update(&mut self, now: Time, sojourn: Span) {
        if self.updated.is_some_and(|updated| now - updated < UPDATE) {
            return;
        }
        let change = ALPHA * (sojourn - self.target).as_secs_f64() + BETA * (sojourn - self.previous).as_secs_f64();
        self.probability = (self.probability + change).clamp(0.0, 1.0);
        self.previous = sojourn;
        self.updated = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::tests::{Numbered, queued};

    fn probabilities(target: Span) -> [f64; 4] {
        let mut queue = DualPi2Webrtc::new(target, None, Seed::new(1)).unwrap();
        [0, 100, 200, 300].map(|ms| {
            queue.push(queued(ms, 1000, Ecn::NotCapable), |_: Queued<Numbered>, _| {});
            // A classic packet may be dropped by the probability so far: it is pushed past that.
            queue.classic = Fifo::new();
            queue.classic.push(queued(ms, 1000, Ecn::NotCapable));
            queue.pop(Time::from_millis(ms + 17)).unwrap();
            (queue.probability * 1e5).round() / 1e5
        })
    }

    use crate::Ecn;

    #[test]
    fn four_packets_that_waited_17_ms_give_the_probabilities_of_the_worked_example() {
        // specs/l4s.md 2.8, number 2.
        assert_eq!(probabilities(Span::from_micros(500)), [0.05704, 0.05968, 0.06232, 0.06496]);
        assert_eq!(probabilities(Span::from_millis(10)), [0.05552, 0.05664, 0.05776, 0.05888]);
    }

    #[test]
    fn on_a_slow_link_the_first_packet_is_marked_and_a_classic_one_dropped() {
        let rate = Some(Rate::from_kbps(100));
        let mut queue = DualPi2Webrtc::new(Span::from_micros(500), rate, Seed::new(1)).unwrap();
        let mut lost = 0;
        queue.push(queued(0, 1000, Ecn::Ect1), |_: Queued<Numbered>, _| lost += 1);
        queue.push(queued(0, 1000, Ecn::NotCapable), |_, _| lost += 1);
        assert_eq!(queue.pop(Time::from_millis(1)).unwrap().packet.ecn(), Ecn::Ce);
        assert_eq!((queue.is_empty(), lost), (true, 1));
    }
}
