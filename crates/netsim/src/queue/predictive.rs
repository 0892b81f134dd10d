//! Marks by the delay that a packet is going to have, as a base station can: it knows what waits and how fast that has
//! drained of late (the idea of L4Span, specs/l4s.md 2.6).

use alloc::collections::VecDeque;

use thalweg_units::{Bytes, Random, Seed, Span, Time};

use super::{MTU, MarkReason, Marker, Queued};
use crate::trace::OPPORTUNITY;
use crate::{Ecn, Packet};

/// The rate at which the queue drains is measured over this long.
const WINDOW: Span = Span::from_millis(20);
/// The round-trip time that a classic flow is taken to have.
const ROUND_TRIP_S: f64 = 0.05;
/// Reno's window is this over the square root of its marks.
const RENO: f64 = 1.22;

/// See the module.
#[derive(Debug, Clone)]
pub(super) struct Predictive {
    marker: Marker,
    /// Departures within the window, and their sum.
    left: VecDeque<(Time, Bytes)>,
    sum: Bytes,
    random: Random,
}

impl Predictive {
    pub(super) fn new(marker: Marker, seed: Seed) -> Predictive {
        Predictive { marker, left: VecDeque::new(), sum: Bytes::ZERO, random: seed.child("predictive").random() }
    }

    /// A packet enters behind `ahead` bytes.
    pub(super) fn on_arrival<P: Packet>(&mut self, now: Time, ahead: Bytes, queued: &mut Queued<P>) {
        self.forget(now);
        let rate = self.sum.max(OPPORTUNITY).per(WINDOW);
        let delay = rate.time_for(ahead);
        let for_low = self.marker.probability(delay, Span::ZERO);
        let probability = match queued.packet.ecn() {
            Ecn::NotCapable | Ecn::Ce => return,
            Ecn::Ect1 => for_low,
            Ecn::Ect0 if for_low == 0.0 => return,
            Ecn::Ect0 => {
                let root = RENO * MTU.bits() as f64 / (rate.as_bps_f64() * ROUND_TRIP_S);
                (root * root).min(1.0)
            }
        };
        if probability > 0.0 && self.random.unit() < probability {
            queued.mark(MarkReason::Predicted);
        }
    }

    /// A packet leaves.
    pub(super) fn on_departure(&mut self, now: Time, size: Bytes) {
        self.forget(now);
        self.left.push_back((now, size));
        self.sum += size;
    }

    fn forget(&mut self, now: Time) {
        while let Some((at, size)) = self.left.front().copied()
            && now - at > WINDOW
        {
            self.left.pop_front();
            self.sum -= size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::tests::queued;

    #[test]
    fn a_packet_is_marked_by_what_waits_before_it_and_how_fast_that_drained() {
        let millis = Span::from_millis;
        let mut marker = Predictive::new(Marker::Ramp { from: millis(5), to: millis(10) }, Seed::new(1));
        let mut is_marked = |now: u64, ahead: u64, ecn: Ecn| {
            let mut packet = queued(now, 1500, ecn);
            marker.on_arrival(Time::from_millis(now), Bytes::new(ahead), &mut packet);
            let marked = packet.packet.ecn() == Ecn::Ce;
            marker.on_departure(Time::from_millis(now), Bytes::new(1500));
            marked
        };
        // Nothing has left yet: one opportunity in 20 ms.
        assert!(is_marked(0, 1500, Ecn::Ect1));
        // 20 packets in 20 ms: 6000 bytes take 4 ms, 30,000 bytes 20 ms.
        (1..20).for_each(|ms| _ = is_marked(ms, 0, Ecn::Ect1));
        assert!(!is_marked(20, 6000, Ecn::Ect1) && is_marked(20, 30_000, Ecn::Ect1));
        assert!(!is_marked(20, 30_000, Ecn::NotCapable));
    }
}
