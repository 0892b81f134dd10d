//! FBRA (Nagy, Singh, Ott, Eggert, MMSys 2014; specs/fbra.md): probes the path with forward error correction.
//!
//! While the path is quiet, one FEC packet leaves after every N media packets. If the path carries them, their rate is
//! given to media. Losses, late packets and delays above percentiles of earlier ones lower the rate below the rate that
//! arrived, from where it bounces back.
//!
//! * [`config`](Config): all thresholds, each marked as the paper's or a reading;
//! * `observed`: losses, discards, goodput and one-way delay of a report interval;
//! * [`states`](State): STAY, PROBE, UP, DOWN; `fec`: N and the FEC packets sent;
//! * this module: when an interval ends, and what happens to the rate.

mod config;
mod fec;
mod observed;
mod states;
#[cfg(test)]
mod tests;

use thalweg_units::{ConfigError, Rate, Span, Time};

use crate::controller::{Controller, Decision, Demand, SendLimits};
use crate::decisions::Decisions;
use crate::estimate::WindowedMax;
use crate::feedback::timeout::{FeedbackTimeout, Then};
use crate::feedback::{Cause, Feedback};
use crate::packet::SentPacket;
use crate::reporting::{Accumulator, Interval, Limits, Reported};
pub use config::{Config, FecConfig, RateConfig, Thresholds};
use fec::Fec;
use observed::{Delays, Rates, Signs};
pub use states::State;
use states::{Action, step};

/// Datagrams within this many round trips are one report: a report on many packets takes several datagrams, and
/// regular reports are half an interval apart at least, one round trip.
const ONE_REPORT: f64 = 0.1;

/// The state after an undershoot.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Pause {
    /// Number of reports to ignore before the next is evaluated.
    left: u32,
    /// G_stored: the goodput before.
    goodput: Rate,
}

/// FBRA's state.
#[derive(Debug, Clone)]
pub struct Fbra {
    config: Config,
    limits: Limits,
    accumulator: Accumulator,
    timeout: FeedbackTimeout,
    delays: Delays,
    /// R: the media rate.
    rate: Rate,
    state: State,
    /// The previous state.
    before: State,
    pause: Option<Pause>,
    /// When the last feedback timeout was.
    silent: Option<Time>,
    fec: Fec,
    /// R_hi: the recent max of goodput, media rate and total sent rate.
    greatest: WindowedMax<Rate>,
    /// R_init: the first goodput after the start or a bounce back.
    first: Option<Rate>,
    /// The rates of the newest interval.
    rates: Option<Rates>,
    signs: Option<Signs>,
    /// The last interval.
    last: Interval,
    /// True if the last report was evaluated early: at most every other one may be.
    was_early: bool,
    decisions: Decisions,
}

impl Fbra {
    /// The controller before the first packet.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn new(config: Config) -> Result<Fbra, ConfigError> {
        config.check()?;
        let limits = Limits::new(config.min);
        Ok(Fbra {
            limits,
            accumulator: Accumulator::default(),
            // If the path's round trip is longer, no feedback can arrive earlier.
            timeout: FeedbackTimeout::new(config.timeout, 1, Then::Every(config.timeout)),
            delays: Delays::new(&config),
            rate: limits.clamp(config.start),
            state: State::Stay,
            before: State::Down,
            pause: None,
            silent: None,
            fec: Fec::default(),
            greatest: WindowedMax::default(),
            first: None,
            rates: None,
            signs: None,
            last: Interval::default(),
            was_early: false,
            decisions: Decisions::default(),
            config,
        })
    }

    /// The current state.
    pub fn state(&self) -> State {
        self.state
    }

    /// The length of a report interval.
    fn interval(&self) -> Span {
        let round_trips = self.delays.round_trip().map_or(Span::ZERO, |rtt| rtt.scale(self.config.report_round_trips));
        round_trips.max(self.config.report_interval).min(self.config.longest_interval)
    }

    /// Returns whether an interval that has lasted this long is over, and whether its report is early: trouble is
    /// reported at once, but not twice in a row and not while reports are ignored, unless each report ends one.
    fn is_due(&self, lasted: Span, trouble: bool) -> Option<bool> {
        if lasted >= self.interval() {
            return Some(false);
        }
        let within = |round_trips: f64| self.delays.round_trip().is_some_and(|rtt| lasted < rtt.scale(round_trips));
        let is_another = self.config.each_report && !within(ONE_REPORT);
        let may_be_early = is_another || (trouble && !self.was_early && self.pause.is_none());
        let early = within(self.config.rate.early);
        may_be_early.then_some(early)
    }

    fn on_report(&mut self, now: Time, regular: bool, early: bool) {
        let interval = self.accumulator.end(now);
        let signs = self.delays.judge(now, &interval, early);
        let rates = self.measure(interval, regular);
        self.was_early = !regular;
        self.signs = Some(signs);
        self.rates = Some(rates);
        self.greatest.add(now, rates.greatest(), self.config.fec.history);
        self.first.get_or_insert(rates.goodput);
        match self.pause {
            Some(pause) if pause.left > 0 => self.pause = Some(Pause { left: pause.left - 1, ..pause }),
            Some(pause) => self.bounce_back(now, pause.goodput, &signs, &rates),
            None => self.evaluate(now, &signs, &rates),
        }
    }

    /// The rates of an interval, combined with the interval before it if it ended early.
    fn measure(&mut self, interval: Interval, regular: bool) -> Rates {
        let delays = &self.delays;
        let arrived_in_time = |reported: &Reported| !reported.is_lost() && !delays.is_discarded(reported);
        let mut last = core::mem::replace(&mut self.last, interval);
        if regular || !self.config.rate.early_with_last {
            return Rates::of(&self.last, arrived_in_time);
        }
        last.reported.extend_from_slice(&self.last.reported);
        last.span += self.last.span;
        Rates::of(&last, arrived_in_time)
    }

    fn evaluate(&mut self, now: Time, signs: &Signs, rates: &Rates) {
        let top = self.greatest.get().unwrap_or(self.rate).scale(self.config.thresholds.near_top);
        let step = step(self.state, self.before, signs, self.rate > top, &self.config.thresholds);
        let from = self.rate;
        match step.action {
            Action::Keep => {}
            // At a few packets a second, N of them take longer than an interval: without an FEC packet, nothing was
            // probed.
            Action::Raise if self.fec.is_unsent() => {
                return self.enter(now, State::Probe, "no FEC has left yet", from);
            }
            Action::Undershoot { pauses } => self.undershoot(rates.goodput, pauses),
            Action::Probe => self.fec.begin(now, self.fec_interval(rates)),
            Action::Widen => self.fec.widen(&self.config.fec),
            Action::Raise => self.rate = self.raised(self.fec.rate(now), rates.media),
        }
        self.enter(now, step.next, step.why, from);
    }

    fn enter(&mut self, now: Time, next: State, why: &'static str, from: Rate) {
        let state = self.state;
        self.before = core::mem::replace(&mut self.state, next);
        if next != State::Probe {
            self.fec.end();
        }
        if next == state && self.rate == from {
            return;
        }
        let what = match next {
            State::Down => "undershoot",
            State::Stay => "stay",
            State::Probe => "probe",
            State::Up => "raise",
        };
        self.decisions.push(Decision { at: now, what, why, from, to: self.rate });
    }

    /// R = 0.9 (R - 2 (R - G)).
    fn undershoot(&mut self, goodput: Rate, pauses: bool) {
        let goodput = goodput.min(self.rate);
        let aim = (goodput + goodput).saturating_sub(self.rate).scale(self.config.rate.undershoot);
        self.rate = self.limits.clamp(aim);
        self.pause = pauses.then_some(Pause { left: self.config.rate.left_out, goodput });
    }

    /// The first report after an undershoot's pause: return to slightly less than the goodput before it, or undershoot
    /// again.
    fn bounce_back(&mut self, now: Time, goodput: Rate, signs: &Signs, rates: &Rates) {
        let from = self.rate;
        self.pause = None;
        if signs.losses_or_discards() || signs.high > self.config.thresholds.stay {
            self.undershoot(rates.goodput, false);
            self.enter(now, State::Down, "still congested after the pause", from);
        } else {
            self.rate = self.limits.clamp(goodput.scale(self.config.rate.bounce_back));
            self.first = None;
            self.enter(now, State::Stay, "bounce back to 0.9 of what had arrived", from);
        }
    }

    /// Feedback timeout by this controller's clock or the history's; handled once each time.
    fn on_feedback_timeout(&mut self, now: Time) {
        if self.silent.is_some_and(|at| now - at < self.config.timeout) {
            return;
        }
        let from = self.rate;
        self.silent = Some(now);
        self.rate = self.limits.clamp(from.scale(self.config.rate.timeout_share));
        self.pause = None;
        self.accumulator.clear();
        self.enter(now, State::Down, "no report for too long", from);
    }

    /// R, or the encoder's actual rate if that is much lower.
    fn actual(&self, media: Rate) -> Rate {
        if self.rate > media.scale(self.config.rate.max_of_actual) { media } else { self.rate }
    }

    fn fec_interval(&self, rates: &Rates) -> u16 {
        let config = &self.config.fec;
        let actual = self.actual(rates.media);
        let interval = config.interval(actual, self.greatest.get().unwrap_or(actual), self.first.unwrap_or(Rate::ZERO));
        let before_end = config.before_end.map(|spare| rates.media_packets.saturating_sub(spare).max(config.min));
        before_end.map_or(interval, |max| interval.min(max))
    }

    /// R += FEC_rate: at most the FEC rate of min N, and not far above the encoder's actual rate.
    fn raised(&self, fec: Rate, media: Rate) -> Rate {
        let fec = fec.min(self.rate.scale(1.0 / f64::from(self.config.fec.min)));
        let max = media.scale(self.config.rate.max_of_actual).max(self.rate);
        self.limits.clamp((self.rate + fec).min(max))
    }
}

impl Controller for Fbra {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.timeout.on_arrivals(feedback);
        let now = feedback.now;
        if feedback.cause == Cause::FeedbackTimeout {
            self.on_feedback_timeout(now);
            return;
        }
        let new_reports = self.accumulator.on_feedback(feedback);
        for rtt in new_reports.iter().filter_map(|reported| reported.rtt) {
            self.delays.add(now, rtt);
        }
        let trouble = new_reports.iter().any(|reported| reported.is_lost() || self.delays.is_discarded(reported));
        if let Some(lasted) = self.accumulator.lasted(now)
            && let Some(early) = self.is_due(lasted, trouble)
        {
            self.on_report(now, lasted >= self.interval(), early);
        }
    }

    fn limits(&self) -> SendLimits {
        let fec_interval = self.fec.interval();
        let fec = fec_interval.map_or(Rate::ZERO, |interval| self.rate.scale(1.0 / f64::from(interval)));
        let pacing = (self.rate + fec).scale(self.config.pacing_gain);
        SendLimits { capacity: self.rate, fec_interval, ..SendLimits::of_rate(pacing) }
    }

    fn on_sent(&mut self, packet: &SentPacket) {
        self.timeout.on_sent(packet.at);
        self.accumulator.on_sent(packet.at);
        self.fec.on_sent(packet);
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
        see("state", f64::from(self.state as u8));
        see("N", f64::from(self.fec.interval().unwrap_or(0)));
        see("R_hi_bps", self.greatest.get().unwrap_or(Rate::ZERO).as_bps_f64());
        see("RTT_median_ms", self.delays.round_trip().unwrap_or(Span::ZERO).as_millis_f64());
        see("OWD_ms", self.delays.newest().unwrap_or(Span::ZERO).as_millis_f64());
        if let (Some(signs), Some(rates)) = (&self.signs, &self.rates) {
            see("C_high", signs.high);
            see("C_low", signs.low);
            see("G_bps", rates.goodput.as_bps_f64());
            see("media_bps", rates.media.as_bps_f64());
        }
    }
}
