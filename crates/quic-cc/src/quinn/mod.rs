//! The adapter of quinn 0.11.
//!
//! For an acknowledged packet, quinn gives only its departure time and size; that is enough to find it among the
//! packets that left. quinn paces by window and round trip, not by a rate: the window is the rate.

mod transmits;

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use quinn_proto::{RttEstimator, congestion};

use crate::{Factory, Flow};
use transmits::Transmits;

/// A controller on one path.
#[derive(Debug, Clone)]
pub struct Controller {
    flow: Flow,
    transmits: Transmits,
}

impl congestion::ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn congestion::Controller> {
        Box::new(Controller { flow: self.flow(now, current_mtu), transmits: Transmits::default() })
    }
}

impl congestion::Controller for Controller {
    fn on_sent(&mut self, now: Instant, bytes: u64, _last_packet_number: u64) {
        let Controller { flow, transmits } = self;
        transmits.on_sent(now, bytes, flow.mtu(), |size| flow.on_sent(now, size));
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, _app_limited: bool, rtt: &RttEstimator) {
        let Controller { flow, transmits } = self;
        flow.set_round_trips(rtt.min(), rtt.get(), now - sent);
        // A probe of a larger packet is not among the transmits.
        if bytes <= flow.mtu() {
            transmits.on_ack(sent, bytes, |key| flow.on_ack(key));
        }
    }

    fn on_end_acks(&mut self, now: Instant, _in_flight: u64, app_limited: bool, _largest: Option<u64>) {
        self.flow.on_end_acks(now, app_limited);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, _is_persistent_congestion: bool, lost_bytes: u64) {
        if lost_bytes == 0 {
            self.flow.on_marked();
        } else {
            self.flow.on_lost(now, &self.transmits.take_lost(sent, lost_bytes));
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.flow.on_mtu(new_mtu);
    }

    /// quinn sends only while less than this is in flight with the next packet.
    fn window(&self) -> u64 {
        self.flow.window_as_pace() + 1
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
