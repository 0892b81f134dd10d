//! Pudica (Wang et al., NSDI 2024; specs/pudica.md): measures the share of each frame interval that the path needs for
//! a frame.
//!
//! The share, called bandwidth utilisation ratio R, is below 1 as long as the queue is empty when the next frame
//! begins. B is multiplied while the smoothed ratio is low, drifts when it is near 1, falls for one frame after a frame
//! with R > 1, and is set to drain the queue after three such frames.

mod config;
mod receive_rate;
mod smoothed;
mod steps;
mod utilization;

use thalweg_units::{Bytes, ConfigError, Rate, Span, Time};

use crate::controller::{Controller, Decision, Demand, PaddingLimit, SendLimits};
use crate::decisions::Decisions;
use crate::estimate::WindowedMin;
use crate::feedback::timeout::{FeedbackTimeout, Then};
use crate::feedback::{Cause, Feedback};
use crate::packet::SentPacket;
use crate::trains::{Train, Trains};
pub use config::{Config, DrainRate, Drained, RateOfFrame};
use receive_rate::ReceiveRate;
use smoothed::Smoothed;
use utilization::Utilization;

/// The state of Pudica.
#[derive(Debug, Clone)]
pub struct Pudica {
    config: Config,
    /// B, as committed.
    rate: Rate,
    max: Rate,
    trains: Trains,
    /// D_min: min of arrival minus sending time, by two clocks.
    min_delay: WindowedMin<Span>,
    /// The last delay.
    delay: Option<Span>,
    received: ReceiveRate,
    smoothed: Smoothed,
    timeout: FeedbackTimeout,
    srtt: Span,
    min_round_trip: Span,
    /// R of the newest frame.
    ratio: Option<f64>,
    /// rho.
    pacing: f64,
    /// Number of frames in a row with R > 1.
    high: u32,
    /// When the rate of the drain was computed.
    draining: Option<Time>,
    /// True if the next frame is to be smaller.
    fallback: bool,
    /// Time of the last decision, whose effect only frames sent since then can show.
    decided: Option<Time>,
    tau_began: Time,
    decisions: Decisions,
}

impl Pudica {
    /// The controller before the first packet.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn new(config: Config) -> Result<Pudica, ConfigError> {
        config.check()?;
        Ok(Pudica {
            rate: config.initial,
            max: config.max,
            trains: Trains::new(config.frame_interval).standing_in_after(config.stand_in_after),
            min_delay: WindowedMin::default(),
            delay: None,
            received: ReceiveRate::new(config.history),
            smoothed: Smoothed::new(config.history, config.max_rectified),
            timeout: FeedbackTimeout::new(
                config.feedback_timeout,
                config.feedback_timeout_srtts,
                Then::Every(config.feedback_timeout),
            ),
            srtt: Span::ZERO,
            min_round_trip: Span::ZERO,
            ratio: None,
            pacing: config.pacing_gain,
            high: 0,
            draining: None,
            fallback: false,
            decided: None,
            tau_began: Time::ZERO,
            decisions: Decisions::default(),
            config,
        })
    }

    /// The published rate: B, or less for one frame.
    fn published(&self) -> Rate {
        let share = if self.fallback { 1.0 - self.config.fallback } else { 1.0 };
        self.rate.scale(share).max(Rate::from_bps(1))
    }

    fn set_rate(&mut self, rate: Rate) {
        self.rate = rate.min(self.max).max(self.config.min);
    }

    fn decide(&mut self, at: Time, what: &'static str, why: &'static str, from: Rate) {
        self.decisions.push(Decision { at, what, why, from, to: self.published() });
    }

    /// Takes a packet's arrival time minus sending time.
    fn on_delay(&mut self, now: Time, delay: Span) {
        let last = self.delay.replace(delay);
        if last.is_some_and(|last| delay - last > self.config.clock_step) {
            self.min_delay.clear();
        }
        self.min_delay.add(now, delay, self.config.delay_window);
    }

    fn on_train(&mut self, now: Time, train: &Train, in_flight: Bytes) {
        let Some(min) = self.min_delay.get() else { return };
        let interval = self.config.frame_interval.or(train.until_next).unwrap_or(self.trains.interval());
        let interval = interval.max(Span::from_millis(1));
        let Some(utilization) = utilization::of_train(train, min, interval, self.pacing, &self.config) else {
            return;
        };
        self.ratio = Some(utilization.ratio);
        self.pacing = utilization::pacing(utilization.ratio, &self.config);
        let rate = match self.config.rate_of_frame {
            RateOfFrame::Actual => train.size.per(interval),
            RateOfFrame::Target => train.aimed,
        };
        self.smoothed.add(train.began, utilization.ratio, rate);
        self.control(now, train.began, utilization, in_flight);
    }

    /// The control step for one frame; the order of its parts matters (specs/pudica.md 4).
    fn control(&mut self, now: Time, sent: Time, utilization: Utilization, in_flight: Bytes) {
        let smoothed = self.smoothed.at(self.rate).unwrap_or(0.0);
        if smoothed > 1.0 {
            self.tau_began = now;
        }
        if self.draining.is_some() && utilization.ratio < 1.0 {
            self.leave_drain(now);
            return;
        }
        self.high = if utilization.ratio > 1.0 { self.high.saturating_add(1) } else { 0 };
        if self.draining.is_some() || self.high >= self.config.drain_frames {
            self.drain(now, sent, utilization, in_flight);
        } else if utilization.ratio > 1.0 {
            self.fall_back(now, "a frame needs more than its interval");
        } else if self.decided.is_none_or(|decided| sent >= decided) {
            let from = self.published();
            self.decided = Some(now);
            if smoothed <= self.config.threshold {
                self.set_rate(self.rate.scale(steps::multiplied(smoothed, &self.config)));
                self.decide(now, "multiply", "smoothed utilisation up to alpha", from);
            } else {
                let tau = self.tau(now);
                self.set_rate(steps::drifted(self.rate, self.max, tau, &self.config));
                self.decide(now, "drift", "smoothed utilisation above alpha", from);
            }
        }
    }

    fn drain(&mut self, now: Time, sent: Time, utilization: Utilization, in_flight: Bytes) {
        let anew = match (self.draining, self.config.drain_rate) {
            (None, _) | (_, DrainRate::EachFrame) => true,
            (Some(_), DrainRate::Once) => false,
            (Some(set), DrainRate::Anew) => utilization.by_delay && sent > set + self.config.drain_horizon,
        };
        if anew {
            let from = self.published();
            let again = self.draining.replace(now).is_some();
            self.fallback = false;
            let received = self.received.get();
            let held = match self.config.drained {
                Drained::Queue => received.over(self.min_round_trip),
                Drained::Flight => Bytes::ZERO,
            };
            self.set_rate(steps::draining(received, in_flight.saturating_sub(held), &self.config));
            let why = if again { "the queue is still there" } else { "frames in a row need more than their interval" };
            self.decide(now, "drain", why, from);
        }
    }

    fn leave_drain(&mut self, now: Time) {
        let from = self.published();
        self.draining = None;
        self.high = 0;
        self.set_rate(self.received.get());
        self.tau_began = now;
        self.decided = Some(now);
        self.decide(now, "resume", "the queue is gone: the rate that arrived", from);
    }

    fn fall_back(&mut self, now: Time, why: &'static str) {
        if !self.fallback {
            let from = self.published();
            self.fallback = true;
            self.decide(now, "fall back for a frame", why, from);
        }
    }

    /// tau: the time since its last restart.
    fn tau(&mut self, now: Time) -> Span {
        if now - self.tau_began > self.config.period {
            self.tau_began = now;
        }
        now - self.tau_began
    }

    /// When the oldest frame in flight counts as late.
    fn late(&self) -> Time {
        match self.trains.oldest().filter(|_| !self.fallback && self.draining.is_none()) {
            Some(oldest) => {
                let round_trip = if self.config.late_after_round_trip { self.srtt } else { Span::ZERO };
                oldest + self.trains.interval().scale(self.config.late_intervals) + round_trip
            }
            None => Time::NEVER,
        }
    }

    /// The padding rate for N probes in each interval, within their max share.
    fn probing(&self) -> Rate {
        let probes = (self.config.probe_size * u64::from(self.config.probes)).per(self.trains.interval());
        probes.min(self.rate.scale(self.config.probe_share))
    }
}

impl Controller for Pudica {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.srtt = feedback.srtt.unwrap_or(self.srtt);
        self.min_round_trip = feedback.min_rtt.unwrap_or(self.min_round_trip);
        self.timeout.on_arrivals(feedback);
        self.received.on_feedback(feedback);
        for report in feedback.reports {
            if let Some(at) = report.arrival() {
                self.on_delay(feedback.now, at - report.packet.at);
            }
        }
        self.min_delay.expire(feedback.now, self.config.delay_window);
        self.trains.on_feedback(feedback);
        while let Some(train) = self.trains.take_decided() {
            // Losses declared by a feedback timeout do not measure the path; the timeout has its own reaction.
            if feedback.cause == Cause::Report {
                self.on_train(feedback.now, &train, feedback.in_flight);
            }
        }
    }

    fn limits(&self) -> SendLimits {
        let rate = self.published();
        let padding = PaddingLimit::beside(self.probing());
        SendLimits { capacity: rate, padding, ..SendLimits::of_rate(rate.scale(self.pacing)) }
    }

    fn on_sent(&mut self, packet: &SentPacket) {
        self.timeout.on_sent(packet.at);
        let aimed = self.published();
        if self.trains.on_sent(packet, aimed) {
            self.fallback = false;
        }
    }

    fn on_demand(&mut self, _now: Time, demand: Demand) {
        self.max = demand.max.min(Rate::from_kbps(10_000_000));
        self.set_rate(self.rate);
    }

    fn on_timeout(&mut self, now: Time) {
        if self.timeout.on_timeout(now) {
            let from = self.published();
            self.set_rate(self.rate.scale(self.config.feedback_timeout_factor));
            self.decide(now, "decrease", "no feedback for too long", from);
        }
        if self.late() <= now {
            self.fall_back(now, "the oldest frame under way is late");
        }
    }

    fn next_timeout(&self) -> Time {
        self.timeout.deadline().min(self.late())
    }

    fn poll_decision(&mut self) -> Option<Decision> {
        self.decisions.pop()
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("B kbps", self.rate.as_kbps_f64());
        see("published kbps", self.published().as_kbps_f64());
        see("rho", self.pacing);
        if let Some(ratio) = self.ratio {
            see("R", ratio);
        }
        if let Some(smoothed) = self.smoothed.at(self.rate) {
            see("R smoothed", smoothed);
        }
        if let Some(min) = self.min_delay.get() {
            see("D_min ms", min.as_millis_f64());
        }
        see("received kbps", self.received.get().as_kbps_f64());
        see("draining", f64::from(u8::from(self.draining.is_some())));
        see("L ms", self.trains.interval().as_millis_f64());
    }
}

#[cfg(test)]
mod tests;
