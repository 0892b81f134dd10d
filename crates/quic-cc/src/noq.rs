//! The adapter of noq 1.4, which shows each departure with its number, and paces at the controller's rate.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use noq_proto::{RttEstimator, congestion};

use crate::{Factory, Flow};

/// More packets than this are not under way: the oldest belong to keys that were discarded, and noq says no more of them.
const MAX_OPEN: usize = 1 << 16;

/// A controller on one path.
#[derive(Debug, Clone)]
pub struct Controller {
    flow: Flow,
    /// Packets under way and our keys of them. Three spaces of packet numbers share a controller, so that a number may be
    /// there more than once.
    open: BTreeMap<(u64, Instant), u64>,
    /// Declared lost in the batch that is being read.
    lost: Vec<u64>,
}

impl congestion::ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn congestion::Controller> {
        Box::new(Controller { flow: self.flow(now, current_mtu), open: BTreeMap::new(), lost: Vec::new() })
    }
}

impl congestion::Controller for Controller {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        // A probe of a larger packet: its loss says nothing of congestion, and noq does not report it.
        if u64::from(bytes) > self.flow.mtu() {
            return;
        }
        if self.open.len() == MAX_OPEN {
            self.open.pop_first();
        }
        self.open.insert((pn, now), self.flow.on_sent(now, bytes.into()));
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, _bytes: u64, pn: u64, _app_limited: bool, rtt: &RttEstimator) {
        self.flow.set_round_trips(rtt.min(), rtt.get(), now - sent);
        if let Some(key) = self.open.remove(&(pn, sent)) {
            self.flow.on_ack(key);
        }
    }

    fn on_end_acks(&mut self, now: Instant, _in_flight: u64, app_limited: bool, _largest: Option<u64>) {
        self.flow.on_end_acks(now, app_limited);
    }

    /// Reports a packet lost; of those with the same number it is the oldest.
    fn on_packet_lost(&mut self, _lost_bytes: u16, pn: u64, now: Instant) {
        let oldest = self.open.range((pn, self.flow.epoch())..=(pn, now)).next().map(|(packet, _)| *packet);
        self.lost.extend(oldest.and_then(|packet| self.open.remove(&packet)));
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        _sent: Instant,
        _is_persistent_congestion: bool,
        is_ecn: bool,
        _lost_bytes: u64,
        _largest_lost_pn: u64,
    ) {
        if is_ecn {
            self.flow.on_marked();
        }
        if !self.lost.is_empty() {
            self.flow.on_lost(now, &std::mem::take(&mut self.lost));
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.flow.on_mtu(new_mtu);
    }

    fn window(&self) -> u64 {
        self.flow.window()
    }

    fn metrics(&self) -> congestion::ControllerMetrics {
        let mut metrics = congestion::ControllerMetrics::default();
        metrics.congestion_window = self.window();
        metrics.pacing_rate = Some((self.flow.pacing().as_bps() / 8).max(1));
        metrics.send_quantum = Some(self.flow.quantum());
        metrics.bandwidth_estimate = Some(self.flow.capacity().as_bps());
        metrics
    }

    fn clone_box(&self) -> Box<dyn congestion::Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.flow.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
