//! Rebera (specs/rebera.md 3 and 4): a forecast of the path's capacity in the next second from the capacity in the
//! seconds before.
//!
//! Each frame leaves as a train of packets, whose spacing at the peer shows the capacity of the path. Once a period,
//! with every group of frames, a linear filter forecasts the capacity for the next group
//! ([`crate::estimate::forecast`]). The budget of the group is that forecast minus the quantile of the filter's own
//! errors and minus the bytes still in flight. There is no window and no pacing; the caller chooses which frames of the
//! group are sent ([`crate::MediaLimit::Period`]).
//!
//! * [`Measurement`]: trains, and the distinction of loss from backlog by the bytes sent before each packet;
//! * this module: the budget, and when it is computed.

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

/// A rate that no path of today exceeds.
const FASTEST: Rate = Rate::from_kbps(10_000_000);
/// The min capacity reported: it is never zero.
const SLOWEST: Rate = Rate::from_kbps(1);
/// Packets leave as they are made, without pacing.
const UNPACED: Rate = FASTEST;
/// The window of the min time from sending to the report.
const MIN_DELAY_MEMORY: Span = Span::from_secs(30);
/// If groups of frames are reported, a period begins by itself only after this many period lengths.
const TIMEOUT: i64 = 2;
/// A group that begins after less than this share of the last group's time (because the receiver requested a keyframe)
/// gives no new sample.
const A_SAMPLE_TAKES: f64 = 0.5;

/// The plan for a period.
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
    /// After the first timeout sending stops; after the second, one frame per period is sent as a test
    /// (specs/rebera.md 2 and 7).
    timeout: FeedbackTimeout,
    /// The last report, from the receiver or the sender's own measurement.
    report: PathReport,
    /// When the receiver last reported the path; `None` if it does not report it.
    last_report: Option<Time>,
    /// c-tilde: the last measured capacity.
    capacity: Option<Rate>,
    min_delay: WindowedMin<Span>,
    plan: Plan,
    period: Span,
    /// When the period began.
    began: Option<Time>,
    /// True if the caller reports when groups of frames begin.
    led: bool,
    decisions: Decisions,
}

impl Rebera {
    /// The controller before the first packet.
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

    /// The forecast capacity of this period, without the margin; `None` before the first measurement.
    pub fn forecast(&self) -> Option<Rate> {
        self.forecast.forecast()
    }

    /// The last measured capacity; `None` before the first measurement.
    pub fn measured(&self) -> Option<Rate> {
        self.capacity
    }

    /// q: the backlog, as far as it is known.
    fn backlog(&self) -> Bytes {
        let all = self.sent.total().saturating_sub(self.report.received + self.report.lost);
        match (self.config.backlog, self.min_delay.get(), self.capacity) {
            (Backlog::Waiting, Some(delay), Some(capacity)) => all.saturating_sub(capacity.over(delay)),
            _ => all,
        }
    }

    /// Takes a report from either side.
    fn take(&mut self, now: Time, report: PathReport) {
        // A receiver's report counts like the sender's unless its byte counts are below those reported before.
        let new_reports = report.received > self.report.received;
        self.report = report;
        let more = self.sent.total() > report.received + report.lost;
        if new_reports {
            self.timeout.on_reports(now, None, more);
        }
        // If nothing was measured, the last measurement stays.
        self.capacity = report.capacity.map(|rate| rate.min(FASTEST)).or(self.capacity);
    }

    /// Begins a period: the measured capacity becomes a sample, and the next period is planned.
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
            self.timeout.set_wait(self.config.stop_after.max(round_trip), 0);
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
        // Do not wait for a receiver that stopped reporting: its backlog would only appear to grow.
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
        // A receiver cannot have received more bytes than were sent.
        let possible = report.received <= self.sent.total() && report.lost <= self.sent.total();
        // The received bytes never decrease: a report of fewer bytes was overtaken by a newer one.
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

    /// When the next period begins if the caller does not begin one.
    fn next_period(&self) -> Time {
        let periods = if self.led { TIMEOUT } else { 1 };
        self.began.map_or(Time::NEVER, |began| began + self.period * periods)
    }
}
