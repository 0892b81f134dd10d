//! The most that may be sent, whatever the controller believes: a limit of who runs the sender, for a receiver may lie and
//! a path of others may be shared; and one of the receiver or of the application that the controller does not obey itself.

use thalweg_control::{Demand, MediaLimit, SendLimits, Signal};
use thalweg_units::{Bytes, Rate, Span, Time};

use super::Engine;
use crate::frames::CAP_DEPTH;
use crate::pacing::Pacer;

/// The time in which a queue before the ceiling is to drain: otherwise what waits when the ceiling falls would wait for
/// the rest of the call, because frames fill all of it. At most half of the ceiling drains it, so that no picture starves.
const DRAIN: Span = Span::from_secs(1);

/// A token bucket beside the pacer: in any time T at most `rate * (T + CAP_DEPTH)` leaves, and a packet.
#[derive(Debug, Clone)]
pub(super) struct Ceiling {
    /// The limit of who runs the sender.
    own: Option<Rate>,
    /// The newest limits of the receiver and of the application.
    pub(super) told: [Option<Signal>; 2],
    /// The least of all that the controller does not obey itself.
    rate: Option<Rate>,
    /// The controller takes the path for one that bears all that who runs the sender lets it have.
    pub(super) is_reached: bool,
    pacer: Pacer,
    /// The length of the group of frames that is planned as a whole.
    pub(super) period: Span,
}

impl Ceiling {
    pub(super) fn none() -> Ceiling {
        Ceiling {
            own: None,
            told: [None; 2],
            rate: None,
            is_reached: false,
            pacer: Pacer::new(CAP_DEPTH),
            period: Span::ZERO,
        }
    }

    /// The controller's own limits, before they are bounded.
    pub(super) fn on_limits(&mut self, limits: &SendLimits) {
        self.is_reached = self.own.is_some_and(|own| limits.capacity >= own);
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
    /// ceiling over the round trip and the depth of the bucket, a frame is what the bucket holds, and the encoder's share
    /// leaves room for what is `queued`.
    pub(super) fn bound(&self, now: Time, srtt: Span, queued: Bytes, limits: SendLimits) -> SendLimits {
        let Some(rate) = self.rate else { return limits };
        let mut bounded = limits;
        bounded.capacity = limits.capacity.min(rate.saturating_sub(queued.per(DRAIN)).max(rate.scale(0.5)));
        bounded.pacing = limits.pacing.min(rate);
        bounded.padding = limits.padding.min(rate);
        bounded.window = limits.window.map(|window| window.min(rate.over(srtt + CAP_DEPTH)));
        let held = || rate.over((now - self.pacer.next_send()).clamp(Span::ZERO, CAP_DEPTH));
        bounded.media = match limits.media {
            MediaLimit::Frame(size) => MediaLimit::Frame(size.min(held())),
            MediaLimit::Period(size) => MediaLimit::Period(size.min(rate.over(self.period))),
            media => media,
        };
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
            engine.ceiling.own = rate;
            engine.hold();
        });
    }

    /// Holds the sender to the least of all limits that its controller does not obey itself.
    pub(super) fn hold(&mut self) {
        let told = self.ceiling.told.iter().flatten().filter(|limit| !self.parts.controller.obeys(limit));
        let most = told.filter_map(|limit| match limit {
            Signal::ReceiverLimit(rate) => *rate,
            Signal::Bounds(bounds) => Some(bounds.max),
            _ => None,
        });
        // No pacer can wait for a packet at a rate of 0.
        let most = most.map(|rate| rate.max(Rate::from_bps(1)));
        let rate = self.ceiling.own.into_iter().chain(most).min();
        if self.ceiling.rate != rate {
            self.ceiling.set(self.now, rate);
            self.tell_demand();
        }
    }

    /// Tells the controller what the encoder can use within the ceiling.
    pub(super) fn tell_demand(&mut self) {
        if let Some(demand) = self.parts.policy.demand() {
            self.parts.controller.on_demand(self.now, self.ceiling.demand(demand));
        }
        self.changed.controller = true;
    }
}
