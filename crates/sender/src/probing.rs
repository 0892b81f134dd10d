//! Sending a probe cluster: packets at a rate above the estimate, on a schedule of their own (specs/gcc.md 8; libwebrtc
//! `modules/pacing/bitrate_prober.cc`).

use thalweg_control::Probe;
use thalweg_units::{Bytes, Span, Time};

/// The running cluster.
#[derive(Debug, Clone, Copy)]
struct Active {
    probe: Probe,
    began: Time,
    sent: Bytes,
    packets: u32,
    last: Time,
    /// Bytes that may still leave in the burst that began at `last`.
    burst_left: Bytes,
}

/// Runs at most one cluster at a time.
#[derive(Debug, Clone, Default)]
pub struct Prober {
    active: Option<Active>,
    finished: Option<u32>,
}

/// A cluster whose next packet is late by more than this is abandoned (`max_probe_delay`, 10 ms).
const MAX_DELAY: Span = Span::from_millis(10);

impl Prober {
    /// Starts `probe` unless it has already run or another is running. Called when a packet is about to leave, since a
    /// cluster starts with media (or, on a path that never carried any, with padding).
    pub fn begin(&mut self, now: Time, probe: Probe) {
        if self.active.is_some() || self.finished.is_some_and(|finished| probe.cluster <= finished) {
            return;
        }
        self.active =
            Some(Active { probe, began: now, sent: Bytes::ZERO, packets: 0, last: now, burst_left: Bytes::ZERO });
    }

    /// The number of the running cluster.
    pub fn cluster(&self) -> Option<u32> {
        self.active.map(|active| active.probe.cluster)
    }

    /// When its next packet is due; [`Time::NEVER`] if none is running.
    pub fn next_send(&self) -> Time {
        let Some(active) = self.active else { return Time::NEVER };
        if active.packets == 0 || active.burst_left > Bytes::ZERO {
            return active.last;
        }
        let on_rate = active.began + active.probe.rate.time_for(active.sent);
        on_rate.max(active.last + active.probe.spacing)
    }

    /// Abandons the cluster if its next packet is too late.
    pub fn expire(&mut self, now: Time) {
        if let Some(active) = self.active
            && active.packets > 0
            && now > self.next_send() + MAX_DELAY
        {
            self.finish(active.probe.cluster);
        }
    }

    /// A packet of the cluster left.
    pub fn on_sent(&mut self, now: Time, size: Bytes) {
        let Some(active) = &mut self.active else { return };
        if active.burst_left == Bytes::ZERO {
            // A burst carries what the probe rate amounts to in its spacing, at least one packet.
            active.burst_left = active.probe.rate.over(active.probe.spacing);
            active.last = now;
        }
        active.burst_left = active.burst_left.saturating_sub(size);
        active.sent += size;
        active.packets += 1;
        if active.packets >= active.probe.packets && active.sent >= active.probe.bytes {
            let cluster = active.probe.cluster;
            self.finish(cluster);
        }
    }

    fn finish(&mut self, cluster: u32) {
        self.active = None;
        self.finished = Some(cluster);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Rate;

    fn probe() -> Probe {
        Probe::new(1, Rate::from_kbps(900), 5, Bytes::new(1688), Span::from_millis(2))
    }

    #[test]
    fn a_cluster_leaves_at_its_rate_and_then_is_over() {
        let mut prober = Prober::default();
        prober.begin(Time::ZERO, probe());
        let mut times = alloc::vec::Vec::new();
        while prober.cluster().is_some() {
            let now = prober.next_send();
            times.push(now);
            prober.on_sent(now, Bytes::new(1200));
        }
        let expected: alloc::vec::Vec<Time> =
            (0..5).map(|i| Time::ZERO + Rate::from_kbps(900).time_for(Bytes::new(1200 * i))).collect();
        assert_eq!(times, expected);
        prober.begin(Time::from_millis(60), probe());
        assert_eq!(prober.cluster(), None, "a cluster runs once");
    }

    #[test]
    fn a_cluster_that_cannot_keep_its_schedule_is_given_up() {
        let mut prober = Prober::default();
        prober.begin(Time::ZERO, probe());
        prober.on_sent(Time::ZERO, Bytes::new(1200));
        prober.expire(Time::from_millis(20));
        assert_eq!(prober.cluster(), Some(1));
        prober.expire(Time::from_millis(21));
        assert_eq!(prober.cluster(), None);
    }
}
