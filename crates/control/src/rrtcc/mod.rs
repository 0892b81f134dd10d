//! RRTCC: Google's congestion control of 2012 to 2014, with the estimate at the receiver (specs/rrtcc.md); the baseline
//! of FBRA.
//!
//! The receiver detects from the spacing of frames whether a queue grows, and requests a rate A_r by TMMBR. The sender
//! has a rule for losses, A_s, and sends at the lower of the two. Here both halves run at the sender: the receiver's
//! half takes the arrivals reported in feedback, by the receiver's clock, so it works with any receiver.
//!
//! * [`config`](Config): the differences between the versions, by field;
//! * `kalman`, `scalar`: the queue's trend; `detector`: overuse; `rate`, `greatest`: A_r; `receiver`: all of these
//!   combined;
//! * `loss`: A_s; `proof`: raises tried with FEC first, if so configured.

mod config;
mod detector;
mod greatest;
mod kalman;
mod loss;
mod proof;
mod rate;
mod receiver;
mod scalar;
#[cfg(test)]
mod tests;

use thalweg_units::{ConfigError, Rate, Span, Time};

use crate::controller::{Controller, Decision, Demand, SendLimits};
use crate::decisions::Decisions;
use crate::feedback::Feedback;
use crate::packet::SentPacket;
use crate::reporting::{Accumulator, Limits};
use crate::tfrc::Equation;
pub use config::{
    Config, DetectorConfig, FilterConfig, Increase, KalmanConfig, LossConfig, ReceiverConfig, ScalarConfig,
};
pub use detector::Usage;
use proof::{Proof, Taken};
use receiver::Receiver;

/// The round-trip time before the first sample (200 ms, `remote_rate_control.cc`).
const RTT_BEFORE_SAMPLES: Span = Span::from_millis(200);

/// RRTCC's state.
#[derive(Debug, Clone)]
pub struct Rrtcc {
    config: Config,
    limits: Limits,
    receiver: Receiver,
    accumulator: Accumulator,
    /// A_s.
    sending: Rate,
    rtt: Span,
    /// p of the last receiver report.
    loss: f64,
    proof: Option<Proof>,
    decisions: Decisions,
}

impl Rrtcc {
    /// The controller before the first packet.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn new(config: Config) -> Result<Rrtcc, ConfigError> {
        config.check()?;
        let limits = Limits::new(config.min);
        Ok(Rrtcc {
            limits,
            receiver: Receiver::new(config),
            accumulator: Accumulator::default(),
            sending: limits.clamp(config.start),
            rtt: RTT_BEFORE_SAMPLES,
            loss: 0.0,
            proof: config.prove_for.map(|lasting| Proof::new(lasting, limits.clamp(config.start))),
            decisions: Decisions::default(),
            config,
        })
    }

    /// The lower of A_s and A_r.
    pub fn rate(&self) -> Rate {
        self.sending.min(self.receiver.rate.rate())
    }

    /// The path's utilisation according to the receiver's detector.
    pub fn usage(&self) -> Usage {
        self.receiver.usage()
    }

    /// The media rate: the lower of A_s and A_r, minus the FEC of a running probe.
    pub fn media(&self) -> Rate {
        self.proof.as_ref().map_or(self.rate(), Proof::media)
    }

    fn decide(&mut self, at: Time, why: &'static str, from: Rate) {
        let to = self.rate();
        if let Some(proof) = &mut self.proof {
            let from = proof.media();
            let (what, why) = match proof.on_rate(at, to) {
                Taken::Fell => ("decrease", why),
                Taken::Begun => ("probe", why),
                Taken::Proved => ("raise", "the path has borne it as FEC"),
                Taken::Unchanged => return,
            };
            self.decisions.push(Decision { at, what, why, from, to: proof.media() });
            return;
        }
        if to != from {
            let what = if to > from { "increase" } else { "decrease" };
            self.decisions.push(Decision { at, what, why, from, to });
        }
    }

    /// Processes a receiver report.
    fn on_report(&mut self, now: Time) {
        let interval = self.accumulator.end(now);
        self.loss = interval.loss_ratio();
        let path = Equation::new(interval.mean_size(), self.rtt);
        let from = self.rate();
        let (rate, why) = self.config.loss.step(self.sending, self.loss, &path);
        self.sending = self.limits.clamp(rate.min(self.receiver.rate.rate()));
        self.decide(now, why, from);
    }
}

impl Controller for Rrtcc {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.accumulator.on_feedback(feedback);
        self.rtt = feedback.path_rtt.or(feedback.rtt).unwrap_or(self.rtt);
        for (at, packet) in feedback.in_order_of_arrival() {
            let from = self.rate();
            if let Some(why) = self.receiver.on_arrival(at, &packet, self.rtt, self.limits.min()) {
                self.receiver.rate.limit(|rate| self.limits.clamp(rate));
                self.decide(feedback.now, why, from);
            }
        }
        if self.accumulator.lasted(feedback.now).is_some_and(|span| span >= self.config.loss.period) {
            self.on_report(feedback.now);
        }
    }

    fn limits(&self) -> SendLimits {
        let rate = self.rate();
        let fec_interval = self.proof.as_ref().and_then(Proof::fec_interval);
        SendLimits { capacity: self.media(), fec_interval, ..SendLimits::of_rate(rate.scale(self.config.pacing_gain)) }
    }

    fn on_sent(&mut self, packet: &SentPacket) {
        self.accumulator.on_sent(packet.at);
    }

    fn on_demand(&mut self, _now: Time, demand: Demand) {
        self.limits.follow(demand);
        self.sending = self.limits.clamp(self.sending);
        self.receiver.rate.limit(|rate| self.limits.clamp(rate));
    }

    fn poll_decision(&mut self) -> Option<Decision> {
        self.decisions.pop()
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        let (offset, frames, noise) = self.receiver.current();
        if let Some(proof) = &self.proof {
            see("media_bps", proof.media().as_bps_f64());
        }
        see("A_s_bps", self.sending.as_bps_f64());
        see("A_r_bps", self.receiver.rate.rate().as_bps_f64());
        see("R_bps", self.receiver.received().as_bps_f64());
        see("m_ms", offset);
        see("T_ms", offset * f64::from(frames.min(self.config.detector.weighing)));
        see("theta_ms", self.receiver.threshold());
        see("var_noise_ms2", noise);
        see("usage", f64::from(self.receiver.usage() as u8));
        see("region", f64::from(self.receiver.rate.region() as u8));
        see("p", self.loss);
    }
}
