//! A C-NADU-like controller (Singh, Ott, Curcio 2012; specs/cnadu.md): a reading, because the rules of the two papers
//! were not available.
//!
//! The receiver estimates the capacity from the times between frames and reports how long frames wait for playout. The
//! sender chooses a rate between that and the rate of a TCP flow, by percentiles of the round trip. Both halves run at
//! the sender here: the receiver's half takes the arrivals reported in feedback.

mod config;
mod receiver;
mod sender;
#[cfg(test)]
mod tests;

use thalweg_units::{ConfigError, Rate, Span, Time};

use crate::controller::{Controller, Decision, Demand, SendLimits};
use crate::decisions::Decisions;
use crate::estimate::{Percentiles, WindowedMin};
use crate::feedback::timeout::{FeedbackTimeout, Then};
use crate::feedback::{Cause, Feedback};
use crate::packet::SentPacket;
use crate::reporting::{Accumulator, Interval, Limits};
use crate::tfrc::{Equation, LossEvents};
pub use config::{Config, ReceiverConfig, SenderConfig};
use receiver::{Receiver, ReceiverReport};
use sender::{Judged, Verdict};

/// The window of the min round trip.
const MIN_WINDOW: Span = Span::from_secs(60);

/// After an undershoot: the number of reports to ignore, and the rate that arrived before.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Pause {
    left: u32,
    goodput: Rate,
}

/// The controller's state.
#[derive(Debug, Clone)]
pub struct Cnadu {
    config: Config,
    limits: Limits,
    accumulator: Accumulator,
    timeout: FeedbackTimeout,
    receiver: Receiver,
    losses: LossEvents,
    /// R.
    rate: Rate,
    /// Round trips of reports without loss.
    round_trips: Percentiles,
    min_rtt: WindowedMin<Span>,
    /// The round trip of the newest report.
    rtt: Option<Span>,
    reported: Option<ReceiverReport>,
    tcp: Rate,
    pause: Option<Pause>,
    /// When the last feedback timeout was.
    timed_out: Option<Time>,
    decisions: Decisions,
}

impl Cnadu {
    /// The controller before the first packet.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn new(config: Config) -> Result<Cnadu, ConfigError> {
        config.check()?;
        let limits = Limits::new(config.min);
        let SenderConfig { history, max_history, .. } = config.sender;
        Ok(Cnadu {
            limits,
            accumulator: Accumulator::default(),
            // If the path's round trip is longer, no feedback can arrive earlier.
            timeout: FeedbackTimeout::new(config.timeout, 1, Then::Every(config.timeout)),
            receiver: Receiver::new(config.receiver, config.start),
            losses: LossEvents::default(),
            rate: limits.clamp(config.start),
            round_trips: Percentiles::new(history, max_history),
            min_rtt: WindowedMin::default(),
            rtt: None,
            reported: None,
            tcp: Rate::MAX,
            pause: None,
            timed_out: None,
            decisions: Decisions::default(),
            config,
        })
    }

    fn interval(&self) -> Span {
        let round_trips = self.rtt.map_or(Span::ZERO, |rtt| rtt.scale(self.config.report_round_trips));
        round_trips.max(self.config.report_interval).min(self.config.longest_interval)
    }

    /// Half of the min round trip: the one-way delay of the path itself.
    fn min_one_way(&self) -> Span {
        self.min_rtt.get().unwrap_or(Span::ZERO) / 2
    }

    fn on_report(&mut self, now: Time, interval: &Interval) {
        let Some(rtt) = interval.mean_rtt() else { return };
        let (deadline, one_way) = (self.config.receiver.deadline, self.min_one_way());
        let goodput = interval.rate(|reported| reported.rtt.is_some_and(|rtt| rtt - one_way <= deadline));
        let reported = self.receiver.report(goodput);
        self.rtt = Some(rtt);
        self.reported = Some(reported);
        self.tcp = self.tcp_rate(interval, rtt, goodput);
        let judged = self.judge(&reported, interval, rtt, goodput);
        if judged.lost == 0.0 {
            self.round_trips.add(now, rtt);
        }
        match self.pause {
            Some(pause) if pause.left > 0 => self.pause = Some(Pause { left: pause.left - 1, ..pause }),
            Some(pause) if judged.is_clean() => {
                self.pause = None;
                let back = pause.goodput.scale(self.config.sender.bounce_back);
                self.change(now, back, "bounce back", "0.9 of what had arrived");
            }
            _ => self.step(now, &judged),
        }
    }

    fn step(&mut self, now: Time, judged: &Judged) {
        let (rate, verdict, why) = self.config.sender.step(self.rate, judged);
        let what = match verdict {
            Verdict::Undershoot => "undershoot",
            Verdict::Decrease => "decrease",
            Verdict::Hold => "hold",
            Verdict::Grow => "increase",
        };
        let pause = Pause { left: self.config.sender.left_out, goodput: judged.goodput };
        self.pause = (verdict == Verdict::Undershoot).then_some(pause);
        self.change(now, rate, what, why);
    }

    /// Compares the round trip with those before it.
    fn judge(&self, reported: &ReceiverReport, interval: &Interval, rtt: Span, goodput: Rate) -> Judged {
        let SenderConfig { min_history, hold_share, decrease_share, quiet, .. } = self.config.sender;
        let known = self.round_trips.len() >= min_history;
        let percentile = |share| self.round_trips.get(share).filter(|_| known).map_or(Span::MAX, |rtt| rtt + quiet);
        let (long, very_long) = (percentile(hold_share), percentile(decrease_share));
        let (missed, lost) = (reported.missed_share(), interval.loss_ratio());
        let lost_packets = interval.reported.iter().filter(|reported| reported.is_lost()).count() as u32;
        Judged { capacity: reported.capacity, goodput, tcp: self.tcp, missed, lost, lost_packets, rtt, long, very_long }
    }

    /// X; without loss, a rate above all others.
    fn tcp_rate(&mut self, interval: &Interval, rtt: Span, goodput: Rate) -> Rate {
        let equation = Equation::new(interval.mean_size(), rtt);
        for reported in &interval.reported {
            if reported.is_lost() {
                self.losses.on_lost(&reported.packet, rtt, || 1.0 / equation.loss_events_for(goodput));
            } else {
                self.losses.on_arrived(&reported.packet, reported.was_lost);
            }
        }
        let loss = self.losses.rate();
        if loss > 0.0 { equation.rate(loss) } else { Rate::MAX }
    }

    /// Feedback timeout by this controller's clock or the history's; handled once each time.
    fn on_feedback_timeout(&mut self, now: Time) {
        if self.timed_out.is_some_and(|at| now - at < self.config.timeout) {
            return;
        }
        self.timed_out = Some(now);
        self.pause = None;
        self.accumulator.clear();
        self.change(now, self.rate.scale(self.config.timeout_share), "halve", "no report for too long");
    }

    fn change(&mut self, now: Time, to: Rate, what: &'static str, why: &'static str) {
        let from = core::mem::replace(&mut self.rate, self.limits.clamp(to));
        if self.rate != from {
            self.decisions.push(Decision { at: now, what, why, from, to: self.rate });
        }
    }
}

impl Controller for Cnadu {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.timeout.on_arrivals(feedback);
        let now = feedback.now;
        if feedback.cause == Cause::FeedbackTimeout {
            self.on_feedback_timeout(now);
            return;
        }
        for rtt in self.accumulator.on_feedback(feedback).iter().filter_map(|reported| reported.rtt) {
            self.min_rtt.add(now, rtt, MIN_WINDOW);
        }
        let min_rtt = self.min_one_way() * 2;
        for (at, packet) in feedback.in_order_of_arrival() {
            self.receiver.on_arrival(at, &packet, min_rtt);
        }
        if self.accumulator.lasted(now).is_some_and(|span| span >= self.interval()) {
            let interval = self.accumulator.end(now);
            self.on_report(now, &interval);
        }
    }

    fn limits(&self) -> SendLimits {
        SendLimits { capacity: self.rate, ..SendLimits::of_rate(self.rate.scale(self.config.pacing_gain)) }
    }

    fn on_sent(&mut self, packet: &SentPacket) {
        self.timeout.on_sent(packet.at);
        self.accumulator.on_sent(packet.at);
    }

    fn on_demand(&mut self, _now: Time, demand: Demand) {
        self.limits.follow(demand);
        self.rate = self.limits.clamp(self.rate);
    }

    fn on_timeout(&mut self, now: Time) {
        if self.timeout.on_timeout(now) {
            self.on_feedback_timeout(now);
        }
    }

    fn next_timeout(&self) -> Time {
        self.timeout.deadline()
    }

    fn poll_decision(&mut self) -> Option<Decision> {
        self.decisions.pop()
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("R_bps", self.rate.as_bps_f64());
        see("C_bps", self.receiver.capacity().as_bps_f64());
        if self.tcp < Rate::MAX {
            see("X_bps", self.tcp.as_bps_f64());
        }
        see("playout_delay_ms", self.receiver.playout_delay().as_millis_f64());
        see("p", self.losses.rate());
        if let Some(reported) = self.reported {
            see("f", reported.missed_share());
            if let Some(stretch) = reported.stretch {
                see("x", stretch);
            }
        }
        if let Some(rtt) = self.rtt {
            see("RTT_ms", rtt.as_millis_f64());
        }
        for (name, share) in [("q75_ms", self.config.sender.hold_share), ("q90_ms", self.config.sender.decrease_share)]
        {
            if let Some(percentile) = self.round_trips.get(share) {
                see(name, percentile.as_millis_f64());
            }
        }
    }
}
