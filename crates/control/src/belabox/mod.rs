//! Belabox: the rule by which belacoder sets the rate of a bonded SRT stream (docs/papers/opponents.md).
//!
//! Every 20 ms it compares what is under way and the round trip with thresholds learned from their own past, and raises
//! or cuts the encoder's rate.

mod config;
mod signals;
#[cfg(test)]
mod tests;

use thalweg_units::{Bytes, ConfigError, Rate, Span, Time};

use crate::controller::{Controller, Decision, Demand, SendLimits, Signal};
use crate::decisions::Decisions;
use crate::estimate::Ewma;
use crate::feedback::Feedback;
use crate::packet::{Payload, SentPacket};
use crate::reporting::Limits;
pub use config::Config;
use signals::{RoundTrip, UnderWay};

/// SRT smooths the round trip with 1/8 at each acknowledgement, which come every 10 ms (draft-sharabayko-srt section
/// 4.10).
const ROUND_TRIP_MEMORY: f64 = 0.875;
const ACKNOWLEDGED_EVERY: Span = Span::from_millis(10);

/// Belabox's state.
#[derive(Debug, Clone)]
pub struct Belabox {
    config: Config,
    limits: Limits,
    /// The rate before rounding.
    rate: Rate,
    /// SRT's round trip in seconds.
    smoothed: Ewma,
    round_trip: RoundTrip,
    under_way: UnderWay,
    in_flight: Bytes,
    /// Media that has not left yet.
    waiting: Bytes,
    /// Bytes sent since the last look, and when that was.
    sent: Bytes,
    looked: Time,
    next_look: Time,
    next_raise: Time,
    next_cut: Time,
    decisions: Decisions,
}

impl Belabox {
    /// The controller before the first packet.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn new(config: Config) -> Result<Belabox, ConfigError> {
        config.check()?;
        let limits = Limits::new(config.min);
        Ok(Belabox {
            limits,
            rate: limits.clamp(config.start),
            smoothed: Ewma::keeping(ROUND_TRIP_MEMORY, ACKNOWLEDGED_EVERY),
            round_trip: RoundTrip::default(),
            under_way: UnderWay::default(),
            in_flight: Bytes::ZERO,
            waiting: Bytes::ZERO,
            sent: Bytes::ZERO,
            looked: Time::ZERO,
            next_look: Time::NEVER,
            next_raise: Time::ZERO,
            next_cut: Time::ZERO,
            decisions: Decisions::default(),
            config,
        })
    }

    /// The rate set: rounded down, and never below the min rate.
    fn encoder(&self) -> Rate {
        let step = self.config.step.as_bps();
        self.limits.clamp(Rate::from_bps(self.rate.as_bps() / step * step))
    }

    fn look(&mut self, now: Time) {
        let sent = core::mem::take(&mut self.sent).per(now - self.looked);
        self.looked = now;
        self.under_way.look(self.in_flight + self.waiting, sent, &self.config);
        let Some(smoothed) = self.smoothed.get() else { return };
        self.round_trip.look(Span::from_secs_f64(smoothed));
        self.decide(now);
    }

    fn decide(&mut self, now: Time) {
        let Config { latency, raise, raise_divisor, cut, cut_divisor, .. } = self.config;
        let (latency, round_trip, packets) = (latency.as_millis_f64(), self.round_trip.now, self.under_way.packets);
        let (from, may_cut) = (self.rate, now > self.next_cut);
        let bps = from.as_bps();
        let (to, why) = if from > self.limits.min()
            && (round_trip >= libm::trunc(latency / 3.0) || packets > self.under_way.worst())
        {
            self.next_cut = now + self.config.cut_interval;
            (self.limits.min(), "the path stands still")
        } else if may_cut && (round_trip > libm::trunc(latency / 5.0) || packets > self.under_way.heavy(&self.config)) {
            self.next_cut = now + self.config.heavy_cut_interval;
            (from.saturating_sub(cut + Rate::from_bps(bps / cut_divisor)), "heavy congestion")
        } else if may_cut && (round_trip > self.round_trip.light() || packets > self.under_way.light()) {
            self.next_cut = now + self.config.cut_interval;
            (from.saturating_sub(cut), "light congestion")
        } else if now > self.next_raise && round_trip < self.round_trip.free() && self.round_trip.slope < 0.01 {
            self.next_raise = now + self.config.raise_interval;
            (from + raise + Rate::from_bps(bps / raise_divisor), "the path is free")
        } else {
            return;
        };
        self.change(now, to, why);
    }

    fn change(&mut self, at: Time, to: Rate, why: &'static str) {
        let from = core::mem::replace(&mut self.rate, self.limits.clamp(to));
        if self.rate != from {
            let what = if self.rate > from { "increase" } else { "decrease" };
            self.decisions.push(Decision { at, what, why, from, to: self.rate });
        }
    }
}

impl Controller for Belabox {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.in_flight = feedback.in_flight;
        if let Some(sample) = feedback.path_rtt.or(feedback.rtt) {
            self.smoothed.add(feedback.now, sample.as_secs_f64());
        }
    }

    fn limits(&self) -> SendLimits {
        let rate = self.encoder();
        SendLimits { capacity: rate, ..SendLimits::of_rate(rate.scale(self.config.pacing_gain)) }
    }

    fn on_sent(&mut self, packet: &SentPacket) {
        self.in_flight = packet.in_flight;
        self.sent += packet.size;
        if packet.payload == Payload::Media {
            self.waiting = self.waiting.saturating_sub(packet.size);
        }
        if !self.next_look.is_set() {
            (self.looked, self.next_look) = (packet.at, packet.at + self.config.period);
        }
    }

    fn on_demand(&mut self, now: Time, demand: Demand) {
        self.limits.follow(demand);
        self.change(now, self.rate, "what the application could use");
    }

    fn on_signal(&mut self, _now: Time, signal: Signal) {
        if let Signal::FrameQueued(frame) = signal {
            self.waiting = frame.ahead + frame.size;
        }
    }

    fn on_timeout(&mut self, now: Time) {
        if now >= self.next_look {
            self.look(now);
            self.next_look = now + self.config.period;
        }
    }

    fn next_timeout(&self) -> Time {
        self.next_look
    }

    fn poll_decision(&mut self) -> Option<Decision> {
        self.decisions.pop()
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("bitrate_bps", self.rate.as_bps_f64());
        see("bs", self.under_way.packets);
        see("bs_th1", self.under_way.light());
        see("bs_th2", self.under_way.heavy(&self.config));
        see("bs_th3", self.under_way.worst());
        see("rtt_ms", self.round_trip.now);
        see("rtt_min_ms", self.round_trip.least);
        see("rtt_th_min_ms", self.round_trip.free());
        see("rtt_th_max_ms", self.round_trip.light());
    }
}
