//! Rebera (specs/rebera.md 3 and 4): what the path will bear in the next second, forecast from what it bore in the seconds before.
//!
//! Each frame leaves as a train of packets, whose spacing at the peer is the path's. Once a period, with every group of frames, a
//! linear filter forecasts the capacity of the next one ([`crate::estimate::forecast`]), from which the quantile of its own errors and
//! what is still under way are taken: the budget of the group. There is no window and no pacing; which frames of the group are sent is
//! up to the one who has them ([`crate::MediaLimit::Period`]).
//!
//! * [`Measurement`]: trains, and loss distinguished from backlog by the bytes sent before each packet;
//! * here: the budget, and when it is made.

mod config;
mod sent;
#[cfg(test)]
mod tests;

use thalweg_units::{Bytes, ConfigError, Rate, Span, Time};

use crate::controller::{Controller, Decision, MediaLimit, SendLimits, Signal};
use crate::decisions::Decisions;
use crate::estimate::WindowedMin;
pub use crate::estimate::forecast::{Errors, MarginConfig};
use crate::estimate::forecast::{Guarded, Predictor};
pub use crate::estimate::{Arrival, Measurement, MeasurementConfig, Short};
use crate::feedback::timeout::{FeedbackTimeout, Then};
use crate::feedback::{End, Feedback, PathReport};
use crate::packet::SentPacket;
pub use config::{Backlog, Config};
use sent::Sent;

/// What no path of today exceeds.
const FASTEST: Rate = Rate::from_kbps(10_000_000);
/// The smallest capacity reported, so that there is one.
const SLOWEST: Rate = Rate::from_kbps(1);
/// What is sent keeps ahead of every plan: packets leave as they are made.
const UNPACED: Rate = FASTEST;
/// How long the minimum time from sending to the report is kept.
const MIN_DELAY_MEMORY: Span = Span::from_secs(30);
/// Where groups of frames are reported, a period begins by itself only after so many of them.
const TIMEOUT: i64 = 2;
/// A group that begins within less than this share of the last one's time (the receiver asked for a keyframe) is no new sample.
const A_SAMPLE_TAKES: f64 = 0.5;

/// What is planned for a period.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Plan {
    /// c-hat + u.
    capacity: Rate,
    /// u in bit/s.
    margin: f64,
    /// b.
    budget: Bytes,
    /// q.
    backlog: Bytes,
}

/// Rebera's state.
#[derive(Debug, Clone)]
pub struct Rebera {
    config: Config,
    measurement: Measurement,
    sent: Sent,
    forecast: Guarded,
    /// Once expired sending stops, twice one frame a period tries (specs/rebera.md 2 and 7).
    timeout: FeedbackTimeout,
    /// The last report: the receiver's own or the sender's.
    report: PathReport,
    /// When the receiver last reported the path; `None` if it does not.
    last_report: Option<Time>,
    /// c-tilde: what was measured last.
    capacity: Option<Rate>,
    min_delay: WindowedMin<Span>,
    plan: Plan,
    period: Span,
    /// When the period began.
    began: Option<Time>,
    /// Whether somebody says when groups of frames begin.
    led: bool,
    decisions: Decisions,
}

impl Rebera {
    /// The controller before anything was sent.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn new(config: Config) -> Result<Rebera, ConfigError> {
        config.check()?;
        let plan = Plan {
            capacity: config.start,
            margin: 0.0,
            budget: config.start.over(config.period),
            backlog: Bytes::ZERO,
        };
        Ok(Rebera {
            measurement: config.measurement.build()?,
            sent: Sent::default(),
            forecast: Guarded::new(config.predictor, config.margin)?,
            timeout: FeedbackTimeout::new(config.stop_after, 0, Then::Once(config.retry_after)),
            report: PathReport::default(),
            last_report: None,
            capacity: None,
            min_delay: WindowedMin::default(),
            plan,
            period: config.period,
            began: None,
            led: false,
            decisions: Decisions::default(),
            config,
        })
    }

    /// What the path is forecast to bear in this period, without the margin; `None` before anything was measured.
    pub fn forecast(&self) -> Option<Rate> {
        self.forecast.forecast()
    }

    /// What was measured last; `None` before anything was.
    pub fn measured(&self) -> Option<Rate> {
        self.capacity
    }

    /// q: what is on its way as far as is known.
    fn backlog(&self) -> Bytes {
        let all = self.sent.total().saturating_sub(self.report.received + self.report.lost);
        match (self.config.backlog, self.min_delay.get(), self.capacity) {
            (Backlog::Waiting, Some(delay), Some(capacity)) => all.saturating_sub(capacity.over(delay)),
            _ => all,
        }
    }

    /// A report is here, of either end.
    fn take(&mut self, now: Time, report: PathReport) {
        // What the receiver measured is the sender's unless it says less than was reported before.
        let new_reports = report.received > self.report.received;
        self.report = report;
        let more = self.sent.total() > report.received + report.lost;
        if new_reports {
            self.timeout.on_reports(now, None, more);
        }
        // Where nothing was measured the last measure stays.
        self.capacity = report.capacity.map(|rate| rate.min(FASTEST)).or(self.capacity);
    }

    /// A period begins: what went before is a sample, and the next one is planned.
    fn step(&mut self, now: Time) {
        let short = self.began.is_some_and(|began| now - began < self.period.scale(A_SAMPLE_TAKES));
        if !short {
            self.began = Some(now);
            if let Some(sample) = self.capacity {
                self.forecast.observe(sample);
            }
        }
        self.replan(now);
    }

    fn replan(&mut self, now: Time) {
        let before = self.plan.capacity;
        let backlog = self.backlog();
        let forecast = self.forecast.forecast();
        let margin = self.forecast.margin().unwrap_or(0.0);
        let capacity =
            forecast.map_or(self.config.start, |forecast| Rate::from_bps_f64(forecast.as_bps_f64() + margin));
        let tries = self.timeout.expired() > 1;
        let budget = if tries { Bytes::ZERO } else { capacity.over(self.period).saturating_sub(backlog) };
        let capacity = capacity.clamp(SLOWEST, FASTEST);
        self.plan = Plan { capacity, margin, budget, backlog };
        let (what, why) = match forecast {
            _ if tries => ("retry", "no feedback for seconds: one frame a period"),
            None => ("start", "nothing measured yet"),
            Some(_) => ("plan", "forecast less the quantile of its errors"),
        };
        self.decisions.push(Decision { at: now, what, why, from: before, to: capacity });
    }
}

impl Controller for Rebera {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        if let Some(rtt) = feedback.path_rtt {
            let round_trip = self.config.measurement.interval * 2 + rtt;
            self.timeout.set_min(self.config.stop_after.max(round_trip));
        }
        let arrivals = self.sent.arrivals(feedback);
        let Some(newest) = arrivals.last().map(|arrival| arrival.at) else { return };
        for arrival in &arrivals {
            self.measurement.on_arrival(arrival);
        }
        let waits = feedback
            .reports
            .iter()
            .filter(|report| report.arrival().is_some())
            .map(|report| feedback.now - report.packet.at);
        if let Some(reported) = waits.min() {
            self.min_delay.add(feedback.now, reported, MIN_DELAY_MEMORY);
        }
        let more = feedback.in_flight > Bytes::ZERO;
        self.timeout.on_reports(feedback.now, None, more);
        // A receiver that stopped reporting is not waited for: what is under way would only seem to grow.
        self.last_report = self.last_report.filter(|reported| feedback.now - *reported <= self.config.retry_after);
        if self.last_report.is_none() {
            let report = self.measurement.report(newest);
            self.take(feedback.now, report);
        }
    }

    fn limits(&self) -> SendLimits {
        let media = match self.timeout.expired() {
            1 => MediaLimit::Share(0.0),
            _ => MediaLimit::Period(self.plan.budget),
        };
        SendLimits { capacity: self.plan.capacity, media, ..SendLimits::of_rate(UNPACED) }
    }

    fn on_sent(&mut self, packet: &SentPacket) {
        self.sent.on_sent(packet);
        self.timeout.on_sent(packet.at);
        if self.began.is_none() {
            self.began = Some(packet.at);
        }
    }

    fn on_signal(&mut self, now: Time, signal: Signal) {
        match signal {
            Signal::PathReport(report) => self.on_path_report(now, report),
            Signal::Period(period) => self.on_period(now, period),
            _ => {}
        }
    }

    fn on_timeout(&mut self, now: Time) {
        let before = self.timeout.expired();
        while self.timeout.on_timeout(now) {}
        if self.timeout.expired() != before {
            if self.timeout.expired() == 1 {
                let Plan { capacity, .. } = self.plan;
                let why = "no feedback on what is in flight";
                self.decisions.push(Decision { at: now, what: "stop", why, from: capacity, to: capacity });
            } else {
                self.replan(now);
            }
        }
        if self.next_period() <= now {
            self.step(now);
        }
    }

    fn next_timeout(&self) -> Time {
        self.next_period().min(self.timeout.deadline())
    }

    fn poll_decision(&mut self) -> Option<Decision> {
        self.decisions.pop()
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        if let Some(capacity) = self.capacity {
            see("c kbps", capacity.as_kbps_f64());
        }
        if let Some(forecast) = self.forecast.forecast() {
            see("forecast kbps", forecast.as_kbps_f64());
            see("u kbps", self.plan.margin / 1e3);
        }
        see("b kB", self.plan.budget.as_f64() / 1e3);
        see("q kB", self.plan.backlog.as_f64() / 1e3);
    }
}

impl Rebera {
    fn on_path_report(&mut self, now: Time, report: PathReport) {
        // Bytes that were never sent cannot have come.
        let possible = report.received <= self.sent.total() && report.lost <= self.sent.total();
        // What came only grows: a report of less was overtaken by a newer one.
        let older = self.last_report.is_some() && report.received < self.report.received;
        if self.config.measured_by == End::Receiver && possible && !older {
            self.last_report = Some(now);
            self.take(now, report);
        }
    }

    fn on_period(&mut self, now: Time, period: Span) {
        self.led = true;
        if period > Span::ZERO && period != self.period {
            self.period = period;
            self.measurement.set_window(period);
        }
        self.step(now);
    }

    /// When a period begins although nobody says so.
    fn next_period(&self) -> Time {
        let periods = if self.led { TIMEOUT } else { 1 };
        self.began.map_or(Time::NEVER, |began| began + self.period * periods)
    }
}
