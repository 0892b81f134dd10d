//! TFRC (RFC 5348; specs/tfrc.md): the rate of a TCP flow at the same round trip and loss event rate.
//!
//! * [`equation`](Equation), [`loss_events`](LossEvents): also used by others (RRTCC's floor, C-NADU's X);
//! * `received`: X_recv_set;
//! * this module: slow start, feedback and the no-feedback timer. A report covers the feedback of one round trip, and
//!   the receiver's part runs at the sender.

mod config;
mod equation;
mod loss_events;
mod received;
#[cfg(test)]
mod tests;

use thalweg_units::{Bytes, ConfigError, Rate, Span, Time};

use crate::controller::{Controller, Decision, Demand, SendLimits};
use crate::decisions::Decisions;
use crate::feedback::Feedback;
use crate::packet::{MSS, SentPacket};
use crate::reporting::{Accumulator, Interval, Limits};
pub use config::Config;
pub use equation::Equation;
pub use loss_events::LossEvents;
use received::Received;

/// W_init is min(4 s, max(2 s, this)) (RFC 5348 section 4.2).
const INITIAL_WINDOW: Bytes = Bytes::new(4380);
/// t_mbi: one packet per this time is the min rate (section 4.3).
const LONGEST_GAP: Span = Span::from_secs(64);
/// The weight of one packet in s.
const SIZE_GAIN: f64 = 1.0 / 16.0;

/// TFRC's state.
#[derive(Debug, Clone)]
pub struct Tfrc {
    config: Config,
    limits: Limits,
    accumulator: Accumulator,
    losses: LossEvents,
    received: Received,
    /// X.
    rate: Rate,
    /// R; `None` before the first sample.
    rtt: Option<Span>,
    /// The newest sample of R, and the mean of its square root in square roots of seconds.
    sample: Span,
    root: f64,
    /// s, in bytes.
    packet: f64,
    /// p, as of the last report.
    loss: f64,
    /// Bytes sent since the last report.
    sent: Bytes,
    /// tld: when the rate last doubled.
    doubled: Option<Time>,
    /// When the no-feedback timer expires, and whether nothing was sent since it was set.
    deadline: Time,
    idle: bool,
    decisions: Decisions,
}

impl Tfrc {
    /// The controller before the first packet.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn new(config: Config) -> Result<Tfrc, ConfigError> {
        config.check()?;
        let limits = Limits::new(config.min);
        Ok(Tfrc {
            limits,
            accumulator: Accumulator::default(),
            losses: LossEvents::default(),
            received: Received::default(),
            rate: limits.clamp(config.start),
            rtt: None,
            sample: Span::ZERO,
            root: 0.0,
            packet: MSS.as_f64(),
            loss: 0.0,
            sent: Bytes::ZERO,
            doubled: None,
            deadline: Time::NEVER,
            idle: true,
            decisions: Decisions::default(),
            config,
        })
    }

    /// s.
    fn packet(&self) -> Bytes {
        Bytes::new(libm::round(self.packet).max(1.0) as u64)
    }

    fn equation(&self) -> Equation {
        let rtt = self.rtt.unwrap_or(Span::from_secs(1));
        let Config { per_acknowledgement, timeout, .. } = self.config;
        Equation { packet: self.packet(), rtt, per_acknowledgement, timeout }
    }

    /// W_init / R.
    fn initial(&self) -> Rate {
        let (packet, rtt) = (self.packet(), self.rtt.unwrap_or(Span::from_secs(1)));
        (packet * 4).min(INITIAL_WINDOW.max(packet * 2)).per(rtt)
    }

    fn min(&self) -> Rate {
        self.packet().per(LONGEST_GAP)
    }

    fn measure(&mut self, sample: Span) {
        let root = libm::sqrt(sample.as_secs_f64());
        let memory = self.config.rtt_memory;
        self.root = if self.rtt.is_none() { root } else { memory * self.root + (1.0 - memory) * root };
        self.rtt = Some(self.rtt.map_or(sample, |rtt| sample + (rtt - sample).scale(memory)));
        self.sample = sample;
    }

    /// A report (section 4.3).
    fn on_report(&mut self, now: Time, interval: &Interval, first: bool) {
        let rtt = self.rtt.unwrap_or(Span::from_secs(1));
        // The first report covers no time.
        let received = if first { self.rate } else { interval.rate(|reported| !reported.is_lost()) };
        let allowed = self.rate.over(interval.span).scale(self.config.data_limited_below);
        let data_limited = core::mem::take(&mut self.sent) < allowed;
        let equation = self.equation();
        let mut new_loss = false;
        for reported in &interval.reported {
            if reported.is_lost() {
                new_loss |= self.losses.on_lost(&reported.packet, rtt, || 1.0 / equation.loss_events_for(received));
            } else {
                self.losses.on_arrived(&reported.packet, reported.was_lost);
            }
        }
        let before = core::mem::replace(&mut self.loss, self.losses.rate());
        if first {
            self.received.set(now, received);
            self.change(now, self.initial(), "start", "first report: W_init / R");
            self.doubled = Some(now);
            return;
        }
        let limit = if !data_limited {
            self.received.add(now, received, rtt);
            self.received.greatest().scale(2.0)
        } else if new_loss || self.loss > before {
            self.received.halve(now, received.scale(self.config.limited_loss_factor));
            self.received.greatest()
        } else {
            self.received.keep_greatest(now, received);
            self.received.greatest().scale(2.0)
        };
        self.update(now, limit);
    }

    /// Updates X, limited to `limit` (section 4.3, step 4).
    fn update(&mut self, now: Time, limit: Rate) {
        if self.loss > 0.0 {
            let aim = self.equation().rate(self.loss).min(limit).max(self.min());
            self.change(now, aim, "follow", "p is above 0: X_eq, or what arrived");
        } else if self.doubled.is_none_or(|at| Some(now - at) >= self.rtt) {
            self.doubled = Some(now);
            let aim = self.rate.scale(2.0).min(limit).max(self.initial());
            self.change(now, aim, "double", "no loss yet: slow start");
        }
    }

    fn change(&mut self, now: Time, to: Rate, what: &'static str, why: &'static str) {
        let from = core::mem::replace(&mut self.rate, self.limits.clamp(to));
        if self.rate != from {
            self.decisions.push(Decision { at: now, what, why, from, to: self.rate });
        }
    }

    /// The longer of 4 R and the time of two packets; before the first report, the initial timeout.
    fn timeout(&self) -> Span {
        let two_packets = self.rate.time_for(self.packet() * 2);
        self.rtt.map_or(self.config.initial_timeout, |rtt| (rtt * 4).max(two_packets))
    }

    fn set_timer(&mut self, now: Time) {
        self.deadline = now + self.timeout().max(Span::from_millis(1));
        self.idle = true;
    }

    /// The no-feedback timer expired (section 4.4).
    fn on_no_feedback(&mut self, now: Time) {
        let (received, recover) = (self.received.greatest(), self.initial());
        let slow = if self.loss > 0.0 { received < recover } else { self.rate < recover.scale(2.0) };
        if self.idle && slow {
            return;
        }
        let why = if self.idle { "nothing sent for too long" } else { "no feedback for too long" };
        if self.loss == 0.0 {
            let aim = self.rate.scale(0.5).max(self.min());
            self.change(now, aim, "halve", why);
            return;
        }
        let aim = self.equation().rate(self.loss);
        let limit = if aim > received.scale(2.0) { received } else { aim.scale(0.5) }.max(self.min());
        self.received.set(now, limit.scale(0.5));
        self.change(now, aim.min(limit).max(self.min()), "limit", why);
    }

    /// X, or with damping X_inst: lower while the round trip is above its mean.
    fn sending(&self) -> Rate {
        if !self.config.damped || self.sample <= Span::ZERO {
            return self.rate;
        }
        self.limits.clamp(self.rate.scale(self.root / libm::sqrt(self.sample.as_secs_f64())))
    }
}

impl Controller for Tfrc {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.accumulator.on_feedback(feedback);
        let first = self.rtt.is_none();
        let Some(sample) = feedback.path_rtt.or(feedback.rtt) else { return };
        self.measure(sample);
        self.set_timer(feedback.now);
        let rtt = self.rtt.unwrap_or(sample);
        if self.accumulator.lasted(feedback.now).is_some_and(|span| first || span >= rtt) {
            let interval = self.accumulator.end(feedback.now);
            self.on_report(feedback.now, &interval, first);
        }
    }

    fn limits(&self) -> SendLimits {
        let rate = self.sending();
        SendLimits { capacity: rate, ..SendLimits::of_rate(rate.scale(self.config.pacing_gain)) }
    }

    fn on_sent(&mut self, packet: &SentPacket) {
        self.accumulator.on_sent(packet.at);
        self.packet += (packet.size.as_f64() - self.packet) * SIZE_GAIN;
        self.sent += packet.size;
        if !self.deadline.is_set() {
            self.set_timer(packet.at);
        }
        self.idle = false;
    }

    fn on_demand(&mut self, now: Time, demand: Demand) {
        self.limits.follow(demand);
        self.change(now, self.rate, "limit", "what the application could use");
    }

    fn on_timeout(&mut self, now: Time) {
        if now >= self.deadline {
            self.on_no_feedback(now);
            self.set_timer(now);
        }
    }

    fn next_timeout(&self) -> Time {
        self.deadline
    }

    fn poll_decision(&mut self) -> Option<Decision> {
        self.decisions.pop()
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("X_bps", self.rate.as_bps_f64());
        see("X_recv_bps", self.received.greatest().as_bps_f64());
        if self.loss > 0.0 {
            see("X_eq_bps", self.equation().rate(self.loss).as_bps_f64());
        }
        see("p", self.loss);
        see("R_ms", self.rtt.unwrap_or(Span::ZERO).as_millis_f64());
        see("s_bytes", self.packet);
    }
}
