//! The most that may be sent, whatever the controller believes: a limit of who runs the sender, for a receiver may lie and
//! a path of others may be shared.

use thalweg_control::{Demand, MediaLimit, SendLimits};
use thalweg_units::{Bytes, Rate, Span, Time};

use super::Engine;
use crate::frames::CAP_DEPTH;
use crate::pacing::Pacer;

/// A token bucket beside the pacer: in any time T at most `rate * (T + CAP_DEPTH)` leaves, and a packet.
#[derive(Debug, Clone)]
pub(super) struct Ceiling {
    rate: Option<Rate>,
    pacer: Pacer,
}

impl Ceiling {
    pub(super) fn none() -> Ceiling {
        Ceiling { rate: None, pacer: Pacer::new(CAP_DEPTH) }
    }

    fn set(&mut self, now: Time, rate: Option<Rate>) {
        self.rate = rate;
        self.pacer.set_rate(now, rate.unwrap_or(Rate::MAX));
    }

    /// The rate; [`Rate::MAX`] for none.
    pub(super) fn rate(&self) -> Rate {
        self.rate.unwrap_or(Rate::MAX)
    }

    /// When the next packet may leave.
    pub(super) fn next_send(&self) -> Time {
        if self.rate.is_some() { self.pacer.next_send() } else { Time::ZERO }
    }

    /// A packet leaves.
    pub(super) fn on_sent(&mut self, now: Time, size: Bytes) {
        self.pacer.on_sent(now, size);
    }

    /// Limits of a controller, within the ceiling, so that no queue builds up before it: a window is that of the
    /// ceiling over the round trip and the depth of the bucket, and a frame is what the bucket holds.
    pub(super) fn bound(&self, now: Time, srtt: Span, limits: SendLimits) -> SendLimits {
        let Some(rate) = self.rate else { return limits };
        let mut bounded = limits;
        bounded.capacity = limits.capacity.min(rate);
        bounded.pacing = limits.pacing.min(rate);
        bounded.padding = limits.padding.min(rate);
        bounded.window = limits.window.map(|window| window.min(rate.over(srtt + CAP_DEPTH)));
        if let MediaLimit::Frame(size) = limits.media {
            let held = rate.over((now - self.pacer.next_send()).clamp(Span::ZERO, CAP_DEPTH));
            bounded.media = MediaLimit::Frame(size.min(held));
        }
        bounded
    }

    /// The application's demand within the ceiling: a controller takes the encoder for one that cannot use more.
    pub(super) fn demand(&self, demand: Demand) -> Demand {
        Demand { min: demand.min.min(self.rate()), max: demand.max.min(self.rate()) }
    }
}

impl Engine {
    /// Sets the most that may be sent, from the IP header on and all kinds of packets together; `None` for no limit. Audio
    /// leaves at once all the same, and is made up for by the rest.
    pub fn set_ceiling(&mut self, now: Time, rate: Option<Rate>) {
        self.input(now, |engine| {
            if engine.ceiling.rate != rate {
                engine.ceiling.set(now, rate);
                engine.tell_demand();
            }
        });
    }

    /// Tells the controller what the encoder can use within the ceiling.
    pub(super) fn tell_demand(&mut self) {
        if let Some(demand) = self.parts.policy.demand() {
            self.parts.controller.on_demand(self.now, self.ceiling.demand(demand));
        }
        self.changed.controller = true;
    }
}
