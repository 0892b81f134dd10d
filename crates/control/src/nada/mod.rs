//! NADA (Zhu, Pan, Ramalho, Mena; RFC 8698; specs/nada.md), entirely at the sender: delay, losses and marks form one
//! signal, and the rate settles where the signal is PRIO x XREF x RMAX / rate.
//!
//! * [`config`](Config): the RFC's parameters, and the rate-shaping buffer's;
//! * `observed`: the observation window; `losses`: loss intervals; `signal`: x_curr from both;
//! * `rate`: accelerated ramp-up and gradual update.

mod config;
mod losses;
mod observed;
mod rate;
mod signal;
#[cfg(test)]
mod tests;

use thalweg_units::{Bytes, ConfigError, Rate, Span, Time};

use crate::controller::{self, Controller, Decision, Demand, SendLimits};
use crate::decisions::Decisions;
use crate::feedback::{Cause, Feedback};
use crate::packet::SentPacket;
pub use config::{Config, RateConfig, SignalConfig};
use rate::Gradual;
use signal::Signal;

/// NADA's state.
#[derive(Debug, Clone)]
pub struct Nada {
    config: Config,
    min: Rate,
    max: Rate,
    signal: Signal,
    /// r_ref.
    rate: Rate,
    /// x_prev.
    before: Option<Span>,
    /// t_last.
    updated: Option<Time>,
    rtt: Span,
    ramping_up: bool,
    /// Bytes queued when the last frame was queued, and the frame interval.
    waiting: Option<(Bytes, Span)>,
    /// Since when packets are in flight without feedback.
    quiet_since: Option<Time>,
    /// True once the feedback timeout has expired, and the sending time up to which packets have no report because of
    /// it.
    timed_out: bool,
    unreported_until: Time,
    decisions: Decisions,
}

impl Nada {
    /// The controller before the first packet.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn new(config: Config) -> Result<Nada, ConfigError> {
        config.check()?;
        Ok(Nada {
            min: config.min,
            max: config.max,
            signal: Signal::new(config.signal),
            rate: config.start.clamp(config.min, config.max),
            before: None,
            updated: None,
            rtt: Span::ZERO,
            ramping_up: true,
            waiting: None,
            quiet_since: None,
            timed_out: false,
            unreported_until: Time::ZERO,
            decisions: Decisions::default(),
            config,
        })
    }

    fn received(&self) -> Rate {
        self.signal.observed.rate(self.config.signal.window)
    }

    fn update(&mut self, now: Time) {
        let interval = self.updated.map_or(self.config.rate.delta, |at| now - at);
        if interval < self.config.rate.min_interval {
            return;
        }
        self.updated = Some(now);
        let from = self.rate;
        let signal = self.signal.update();
        let before = self.before.replace(signal).unwrap_or(signal);
        let trouble = self.signal.trouble();
        let received = self.received();
        let rate = match trouble {
            None => self.config.rate.ramp_up(self.rate, received, self.rtt),
            Some(_) => {
                let by = Gradual { signal, before, interval, max: self.max, received };
                self.config.rate.gradual(self.rate, &by)
            }
        };
        self.rate = rate.clamp(self.min, self.max);
        let ramped_up = core::mem::replace(&mut self.ramping_up, trouble.is_none());
        let (what, why) = match (ramped_up, trouble) {
            (true, Some(why)) => ("update gradually", why),
            (false, None) => ("ramp up", "neither loss nor queue for LOGWIN"),
            _ => return,
        };
        self.decisions.push(Decision { at: now, what, why, from, to: self.rate });
    }

    /// The rate offset by which the encoder produces less and the pacer sends more.
    fn shaping(&self, share: f64) -> Rate {
        self.waiting.map_or(Rate::ZERO, |(bytes, interval)| self.config.shaping(self.rate, share, bytes, interval))
    }
}

impl Controller for Nada {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        if feedback.cause == Cause::FeedbackTimeout {
            // The timeout has lowered the rate, and packets in flight may still arrive.
            self.quiet_since = None;
            return;
        }
        self.quiet_since = (feedback.in_flight > Bytes::ZERO).then_some(feedback.now);
        if let Some(rtt) = feedback.path_rtt.or(feedback.rtt) {
            self.rtt = rtt;
        }
        if core::mem::take(&mut self.timed_out) {
            self.unreported_until = feedback.now;
        }
        self.signal.on_feedback(feedback, self.rtt, self.unreported_until);
        if !feedback.reports.is_empty() {
            self.update(feedback.now);
        }
    }

    fn limits(&self) -> SendLimits {
        let encoder = self.rate.saturating_sub(self.shaping(self.config.encoder_share)).max(self.min);
        let sending = (self.rate + self.shaping(self.config.sending_share)).min(self.max);
        SendLimits { capacity: encoder, ..SendLimits::of_rate(sending) }
    }

    fn on_sent(&mut self, packet: &SentPacket) {
        self.quiet_since.get_or_insert(packet.at);
    }

    fn on_demand(&mut self, _now: Time, demand: Demand) {
        if self.config.follows_demand {
            self.min = demand.min.max(Rate::from_bps(1));
            self.max = demand.max.max(self.min);
            self.rate = self.rate.clamp(self.min, self.max);
        }
    }

    fn on_signal(&mut self, _now: Time, signal: controller::Signal) {
        if let controller::Signal::FrameQueued(frame) = signal {
            self.waiting = Some((frame.ahead, frame.interval));
        }
    }

    fn on_timeout(&mut self, now: Time) {
        if now < self.next_timeout() {
            return;
        }
        self.quiet_since = Some(now - self.rtt);
        self.timed_out = true;
        let from = self.rate;
        self.rate = self.rate.scale(self.config.feedback_timeout_share).max(self.min);
        if self.rate != from {
            let why = "no feedback for too long";
            self.decisions.push(Decision { at: now, what: "decrease", why, from, to: self.rate });
        }
    }

    fn next_timeout(&self) -> Time {
        self.quiet_since.map_or(Time::NEVER, |since| since + self.rtt + self.config.feedback_timeout)
    }

    fn poll_decision(&mut self) -> Option<Decision> {
        self.decisions.pop()
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("r_ref_bps", self.rate.as_bps_f64());
        see("r_recv_bps", self.received().as_bps_f64());
        see("x_ms", self.before.unwrap_or(Span::ZERO).as_millis_f64());
        see("d_queue_ms", self.signal.delay().as_millis_f64());
        see("p_loss", self.signal.loss_ratio);
        see("p_mark", self.signal.mark_ratio);
        see("ramp_up", f64::from(u8::from(self.ramping_up)));
    }
}
