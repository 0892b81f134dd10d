//! SCReAM v2 as libwebrtc and so Chromium have it behind a field trial (`WebRTC-Bwe-ScreamV2`; specs/l4s.md 3.1, 3.2): the
//! rules of July and August 2026, with what is said to differ from the draft.
//!
//! * [`config`](Config): parameters and their field-trial keys;
//! * `delay`: queueing delay and the damping by its variation; `losses`: when losses count;
//! * here: the window, the target, the pacing, padding.
//!
//! Not here: the encoder's push-back by the pacer's queue, and the pacer's bursts of 10 or 40 ms, which are the scheme's.

mod config;
mod delay;
mod losses;
#[cfg(test)]
mod tests;

use alloc::collections::VecDeque;

use thalweg_units::{Bytes, ConfigError, Rate, Span, Time};

use crate::controller::{Controller, Decision, Demand, PaddingLimit, SendLimits};
use crate::decisions::Decisions;
use crate::ecn::Marking;
use crate::feedback::{Cause, Fate, Feedback};
use crate::packet::SentPacket;
pub use config::Config;
use delay::Delay;
use losses::Losses;

/// The gain of the round trip and of the hold time, and that of the round trip while the application sends less than it
/// may (`SmoothedRttAvgG`, `FeedbackHoldTimeAvgG`, `SmoothedRttAvgInAlrG`).
const GAIN: f64 = 1.0 / 8.0;
const GAIN_LIMITED: f64 = 1.0 / 128.0;
/// The received rate is measured over this long (`ReceivedRateWindow`).
const RECEIVED_WINDOW: Span = Span::from_millis(100);
/// The application sends less than it may while what arrives is below this share of the target (`AlrThreshold`).
const LIMITED: f64 = 0.9;
/// Padding: for this long at the start (`InitialProbingDuration`), and then on and off in turn (`PaddingDuration`,
/// `PeriodicPadding`), once so long has passed since a decrease (`AllowPaddingAfterLastCongestionTimeout`).
const PADDING_AT_START: Span = Span::from_secs(6);
const PADDING_TURN: Span = Span::from_secs(3);
const PADDING_AFTER: Span = Span::from_secs(1);

/// The controller.
#[derive(Debug, Clone)]
pub struct ScreamLibwebrtc {
    config: Config,
    demand: Demand,
    /// ref_window and ref_window_i, in bytes.
    window: f64,
    inflection: f64,
    may_set_inflection: bool,
    srtt: Option<Span>,
    hold: Option<Span>,
    delay: Delay,
    losses: Losses,
    marking: Marking,
    last_reaction: Option<Time>,
    last_decrease: Option<Time>,
    /// The most in flight in this period and in the one before, and when this one began.
    in_flight: (Bytes, Bytes),
    in_flight_since: Time,
    /// Bytes delivered so far, at reports of the last 100 ms and the one before.
    received: VecDeque<(Time, Bytes)>,
    started: Option<Time>,
    pads: bool,
    target: Rate,
    decisions: Decisions,
}

impl ScreamLibwebrtc {
    /// The controller before the first packet.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn new(config: Config) -> Result<ScreamLibwebrtc, ConfigError> {
        config.check()?;
        Ok(ScreamLibwebrtc {
            demand: Demand { min: Rate::from_bps(1), max: Rate::MAX },
            window: config.min_window.as_f64(),
            inflection: 1.0,
            may_set_inflection: true,
            srtt: None,
            hold: None,
            delay: Delay::new(),
            losses: Losses::default(),
            marking: Marking::default(),
            last_reaction: None,
            last_decrease: None,
            in_flight: (Bytes::ZERO, Bytes::ZERO),
            in_flight_since: Time::ZERO,
            received: VecDeque::new(),
            started: None,
            pads: false,
            target: config.start,
            decisions: Decisions::default(),
            config,
        })
    }

    /// The round trip with the time for which reports are held.
    fn cycle(&self) -> Span {
        self.srtt.unwrap_or(Span::from_millis(100)) + self.hold.unwrap_or_default()
    }

    /// scl: 0.1 at the window of the last decrease, 1 half of it away.
    fn closeness(&self) -> f64 {
        let away = self.config.closeness * (self.window - self.inflection) / self.inflection;
        (away * away).clamp(0.1, 1.0)
    }

    /// Up to where the window may grow.
    fn cap(&self) -> f64 {
        let most = self.in_flight.0.max(self.in_flight.1).as_f64();
        (self.config.segment.as_f64() + self.config.headroom * most).max(self.config.min_window.as_f64())
    }

    fn received_rate(&self) -> Rate {
        let (Some((from, before)), Some((to, after))) = (self.received.front(), self.received.back()) else {
            return Rate::ZERO;
        };
        if to > from { (*after - *before).per(*to - *from) } else { Rate::ZERO }
    }

    fn measure(&mut self, feedback: &Feedback<'_>) {
        let now = feedback.now;
        self.received.push_back((now, feedback.delivered));
        while self.received.len() > 2 && now - self.received[1].0 >= RECEIVED_WINDOW {
            self.received.pop_front();
        }
        let is_limited = self.cap() < self.window && self.received_rate() < self.target.scale(LIMITED);
        let averaged = |average: Option<Span>, sample: Span, gain: f64| {
            Some(average.map_or(sample, |average| average + (sample - average).scale(gain)))
        };
        if let Some(rtt) = feedback.path_rtt.or(feedback.rtt) {
            self.srtt = averaged(self.srtt, rtt, if is_limited { GAIN_LIMITED } else { GAIN });
        }
        // From the first arrival to the report.
        if let Some(held) = feedback.reports.iter().filter_map(|report| feedback.held(report)).max() {
            self.hold = averaged(self.hold, held, GAIN);
        }
    }

    /// The window after a report of these packets.
    fn update_window(&mut self, now: Time, marked: u32, unmarked: Bytes, lost: bool) {
        let Config { virtual_rtt, segment, .. } = self.config;
        let srtt = self.srtt.unwrap_or(Span::from_millis(100));
        let (turn, turns) = (srtt.min(virtual_rtt), srtt.ratio(virtual_rtt).max(1.0));
        let late = self.delay.average() > self.config.delay_target / 2;
        let lost = lost && (self.losses.count() || late);
        let before = self.window;
        let answers = self.last_reaction.is_none_or(|at| now - at >= turn);
        let reacts = (marked > 0 || late || lost) && answers;
        if reacts {
            let half = self.config.delay_target / 2;
            let share = if lost {
                1.0 - self.config.beta_loss
            } else if marked > 0 {
                let near = self.closeness().max(0.25) * self.delay.least_damping(&self.config);
                self.marking.alpha() / 2.0 / turns * if late { 1.0 } else { near }
            } else {
                (self.delay.average() - half).ratio(half).clamp(0.0, 1.0) / 2.0 / turns
            };
            self.window = (self.window * (1.0 - share)).max(self.config.min_window.as_f64());
        }
        if reacts || marked == 0 && !late && self.losses.none() {
            let closeness = self.closeness();
            let ratio = self.cycle().ratio(virtual_rtt).min(1.0);
            let step = (segment.as_f64() / self.window).min(1.0)
                * ratio
                * ratio
                * closeness.max(0.25)
                * self.delay.least_damping(&self.config)
                * self.delay.spread_damping(&self.config);
            // libwebrtc counts from the present reaction too.
            let last = if reacts { Some(now) } else { self.last_reaction };
            let long = srtt.max(virtual_rtt).scale(self.config.post_congestion);
            let post = last.map_or(1.0, |at| (now - at).ratio(long).clamp(0.0, 1.0));
            let more = 1.0 + self.config.multiplicative * self.window / segment.as_f64() * post * closeness;
            let cap = self.cap();
            if self.window < cap {
                self.window = cap.min(self.window + unmarked.as_f64() * step * more);
            }
        }
        if reacts {
            self.last_reaction = Some(now);
        }
        if self.window > before {
            self.may_set_inflection = true;
        } else if self.window < before {
            self.last_decrease = Some(now);
            if self.may_set_inflection {
                (self.inflection, self.may_set_inflection) = (before, false);
            }
            let why = match (lost, marked > 0) {
                (true, _) => "losses lasted",
                (false, true) => "packets were marked",
                (false, false) => "queueing delay above half its target",
            };
            self.set_target(now, "decrease", Some(why));
        }
    }

    fn set_target(&mut self, now: Time, what: &'static str, why: Option<&'static str>) {
        let from = self.target;
        let few_packets = 1.0 - (self.config.segment.as_f64() / self.window - 0.1).clamp(0.0, 0.2);
        let rate = match self.srtt {
            None => self.config.start,
            Some(_) => Bytes::new(self.window as u64).per(self.cycle().max(Span::from_millis(1))).scale(few_packets),
        };
        let rate = if self.delay.drains() { rate.scale(0.5) } else { rate };
        self.target = rate.clamp(self.demand.min, self.demand.max.max(self.demand.min));
        if let Some(why) = why {
            self.decisions.push(Decision { at: now, what, why, from, to: self.target });
        }
    }

    /// Turns padding on or off: on at first, and then by turns.
    fn set_padding(&mut self, now: Time) {
        let since_start = now - *self.started.get_or_insert(now);
        let calm = self.last_decrease.is_none_or(|at| now - at > PADDING_AFTER);
        let turn = (since_start - PADDING_AT_START).ratio(PADDING_TURN);
        let is_on = since_start < PADDING_AT_START || turn as u64 % 2 == 1;
        self.pads = is_on && calm;
    }
}

impl Controller for ScreamLibwebrtc {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let now = feedback.now;
        if feedback.cause == Cause::FeedbackTimeout || !feedback.has_arrivals() {
            return;
        }
        self.in_flight.0 = self.in_flight.0.max(feedback.in_flight);
        let is_first = self.srtt.is_none();
        self.measure(feedback);
        if is_first {
            self.window = self.config.start.over(self.cycle()).as_f64().max(self.config.min_window.as_f64());
        }
        let (mut arrived, mut marked, mut lost, mut recovered) = (0, 0, 0, 0);
        let mut unmarked = Bytes::ZERO;
        let mut delays: Option<(Span, Span)> = None;
        for report in feedback.reports {
            if !report.fate.is_marked() {
                unmarked += report.packet.size;
            }
            match report.fate {
                Fate::Lost => lost += 1,
                Fate::Arrived { at, was_lost, .. } => {
                    arrived += 1;
                    marked += u32::from(report.fate.is_marked());
                    recovered += u32::from(was_lost);
                    let delay = at - report.packet.at;
                    delays = Some(delays.map_or((delay, delay), |(least, most)| (least.min(delay), most.max(delay))));
                }
            }
        }
        let srtt = self.srtt.unwrap_or(Span::from_millis(100));
        if let Some(delays) = delays {
            self.delay.on_report(now, delays, srtt, &self.config);
        }
        self.marking.on_report(arrived, marked, &self.config.marking);
        let turn = srtt.max(self.config.virtual_rtt);
        self.losses.on_report(now, lost, recovered, turn, &self.config);
        self.update_window(now, marked, unmarked, lost > 0);
        if now - self.in_flight_since >= turn {
            (self.in_flight, self.in_flight_since) = ((Bytes::ZERO, self.in_flight.0), now);
        }
        self.set_padding(now);
        self.set_target(now, "", None);
    }

    fn limits(&self) -> SendLimits {
        let factor = 1.5 + 1.5 * self.delay.openness(&self.config);
        let received = self.received_rate().scale(self.config.pacing_received);
        SendLimits {
            window: Some(Bytes::new((self.window * factor) as u64)),
            capacity: self.target,
            padding: if self.pads { PaddingLimit::UpTo(self.target) } else { PaddingLimit::None },
            ..SendLimits::of_rate(self.target.scale(self.config.pacing).max(received))
        }
    }

    fn on_sent(&mut self, packet: &SentPacket) {
        self.started.get_or_insert(packet.at);
        self.in_flight.0 = self.in_flight.0.max(packet.in_flight);
    }

    fn on_demand(&mut self, now: Time, demand: Demand) {
        let min = demand.min.max(Rate::from_bps(1));
        self.demand = Demand { min, max: demand.max.max(min) };
        self.set_target(now, "", None);
    }

    fn poll_decision(&mut self) -> Option<Decision> {
        self.decisions.pop()
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("ref_wnd_bytes", self.window);
        see("ref_wnd_i_bytes", self.inflection);
        see("qdelay_avg_ms", self.delay.average().as_millis_f64());
        see("l4s_alpha", self.marking.alpha());
        see("s_rtt_ms", self.srtt.unwrap_or(Span::ZERO).as_millis_f64());
        see("hold_ms", self.hold.unwrap_or(Span::ZERO).as_millis_f64());
    }
}
