//! SCReAM v2 (Johansson, Westerlund, Kuehlewind; draft-ietf-ccwg-rfc8298bis-screamv2; specs/scream.md): a window that
//! shrinks on a queue of 60 ms, marks or losses, and an encoder target slightly below the window's rate.
//!
//! * [`config`](Config): the draft's constants;
//! * `queue_delay`: the one-way delay above the path's; `drain`: what is done about a queue that never empties;
//! * `in_flight`: how much of the window is used; `window`: ref_wnd;
//! * `media`: the encoder's target and the pacing rate.

mod config;
mod drain;
mod in_flight;
mod media;
mod queue_delay;
#[cfg(test)]
mod tests;
mod window;

use thalweg_units::{Bytes, ConfigError, Rate, Span, Time};

use crate::controller::{Controller, Decision, Demand, SendLimits, Signal};
use crate::decisions::Decisions;
use crate::ecn::{Classic, Marking};
use crate::feedback::{Cause, Fate, Feedback};
use crate::packet::SentPacket;
pub use config::{Config, DelayConfig, DrainConfig, L4s, Losses, MediaConfig, WindowConfig};
use in_flight::InFlight;
use media::Media;
use queue_delay::QueueDelay;
use window::{Congestion, Window};

/// SCReAM's state.
#[derive(Debug, Clone)]
pub struct Scream {
    config: Config,
    demand: Demand,
    srtt: Option<Span>,
    queue: QueueDelay,
    marking: Marking,
    /// Detector of a classic queue as the one that marks; `None` where it is not used.
    classic: Option<Classic>,
    in_flight: InFlight,
    window: Window,
    media: Media,
    /// True if packets were lost or marked since the window last reacted.
    lost: bool,
    marked: bool,
    /// True if the queue was above half its target at the last report.
    delayed: bool,
    /// When the last mark came.
    last_mark: Option<Time>,
    /// True while the last mark is so recent that frames are paced out slowly.
    paces_out: bool,
    /// Since when packets are in flight without feedback.
    quiet_since: Option<Time>,
    target: Rate,
    decisions: Decisions,
}

impl Scream {
    /// The controller before the first packet.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn new(config: Config) -> Result<Scream, ConfigError> {
        config.check()?;
        Ok(Scream {
            demand: Demand { min: Rate::from_bps(1), max: Rate::MAX },
            srtt: None,
            queue: QueueDelay::new(config.delay),
            marking: Marking::default(),
            classic: config.l4s.and_then(|l4s| l4s.classic).map(Classic::new).transpose()?,
            in_flight: InFlight::default(),
            window: Window::new(config.window),
            media: Media::new(config.media, config.window.segment),
            lost: false,
            marked: false,
            delayed: false,
            last_mark: None,
            paces_out: false,
            quiet_since: None,
            target: config.start,
            decisions: Decisions::default(),
            config,
        })
    }

    fn srtt(&self) -> Span {
        // Before the first sample it is used only for timeouts.
        self.srtt.unwrap_or(Span::from_millis(100))
    }

    fn on_round_trip(&mut self, srtt: Span) {
        if self.srtt.is_none() {
            self.window.set(self.config.start.over(srtt));
        }
        self.srtt = Some(srtt.max(Span::from_nanos(1)));
    }

    /// The congestion in this report to which the window must react, and the reason; the most severe first.
    fn congestion(&self, now: Time, srtt: Span) -> Option<(Congestion, &'static str)> {
        if !self.window.answers(now, srtt) {
            return None;
        }
        if self.lost && self.window.answers_loss(now, srtt) {
            return Some((Congestion::Lost, "packets were lost"));
        }
        if self.marked {
            let congestion = match (&self.config.l4s, self.classic_beta()) {
                (None, _) => Congestion::Marked(self.config.window.beta_ecn),
                (Some(_), Some(beta)) => Congestion::Marked(beta),
                (Some(_), None) => Congestion::MarkedL4s {
                    alpha: self.marking.alpha(),
                    queue_is_short: self.queue.latest() < self.queue.target() / 4,
                    in_flight_before: self.in_flight.before(),
                },
            };
            return Some((congestion, "packets were marked"));
        }
        let alpha = self.queue.alpha();
        (alpha > 0.0).then_some((Congestion::Delayed { alpha }, "queueing delay above half its target"))
    }

    /// Factor on the window after a mark by a queue that is taken for a classic one.
    fn classic_beta(&self) -> Option<f64> {
        self.classic.as_ref().and_then(Classic::beta)
    }

    fn update_window(&mut self, now: Time, srtt: Span, acked: Bytes) -> Option<&'static str> {
        let closeness = self.window.closeness();
        let congestion = self.congestion(now, srtt);
        if let Some((congestion, _)) = congestion {
            self.window.reduce(now, srtt, congestion, closeness);
            self.lost = false;
            self.marked = false;
        }
        // The same report may also let the window grow (spec, pitfalls).
        if self.target < self.demand.max {
            self.window.increase(now, srtt, acked, closeness, self.in_flight.max());
        }
        let was_delayed = core::mem::replace(&mut self.delayed, self.queue.alpha() > 0.0);
        // Of the many reductions while the queue lasts, only the first is reported.
        congestion.filter(|(kind, _)| !(was_delayed && matches!(kind, Congestion::Delayed { .. }))).map(|(_, why)| why)
    }

    fn update_target(&mut self, now: Time, what: &'static str, why: Option<&'static str>) {
        let from = self.target;
        if let Some(srtt) = self.srtt {
            let target = self.media.target(&self.window, srtt, self.demand);
            self.target = target.scale(self.queue.share()).max(self.demand.min);
        } else {
            self.target = self.config.start.clamp(self.demand.min, self.demand.max);
        }
        if let Some(why) = why {
            self.decisions.push(Decision { at: now, what, why, from, to: self.target });
        }
    }

    fn timeout(&self) -> Span {
        self.config.feedback_timeout.max(self.srtt().scale(self.config.feedback_timeout_rtts))
    }
}

impl Controller for Scream {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let now = feedback.now;
        if feedback.cause == Cause::FeedbackTimeout {
            // No feedback on packets in flight can arrive any more; the timeout has shrunk the window.
            self.quiet_since = None;
            return;
        }
        self.quiet_since = (feedback.in_flight > Bytes::ZERO).then_some(now);
        if let Some(srtt) = feedback.srtt {
            self.on_round_trip(srtt);
        }
        let srtt = self.srtt();
        if let Some(delay) = feedback.newest_delay {
            self.queue.on_delay(now, delay, self.window.turn(srtt), srtt);
        }
        let (mut acked, mut arrived, marked, mut lost) = (Bytes::ZERO, 0, feedback.marks(), false);
        for report in feedback.reports {
            match report.fate {
                Fate::Lost => lost = true,
                fate @ Fate::Arrived { .. } => {
                    arrived += 1;
                    acked += if fate.is_marked() { Bytes::ZERO } else { report.packet.size };
                }
            }
        }
        if let Some(classic) = &mut self.classic {
            classic.on_feedback(feedback);
        }
        if let Some(l4s) = &self.config.l4s {
            self.marking.on_arrivals(now, arrived, marked, srtt, &l4s.marking);
            if marked > 0 {
                self.last_mark = Some(now);
            }
            self.paces_out = self.last_mark.is_some_and(|at| now - at <= l4s.pacing_for);
        }
        self.lost |= lost && self.window.answers_loss(now, srtt);
        let is_same = self.classic_beta().is_some() && !self.window.answers_classic_mark(now, srtt);
        self.marked |= marked > 0 && !is_same;
        if lost || marked > 0 {
            self.window.note_congestion(now);
        }
        self.in_flight.note(now, feedback.in_flight, srtt);
        let why = self.update_window(now, srtt, acked);
        self.update_target(now, "decrease", why);
    }

    fn limits(&self) -> SendLimits {
        let window = self.window.bytes().scale(self.config.media.window_overhead);
        let pacing = match &self.config.l4s {
            Some(l4s) if self.paces_out => self.target.max(self.config.media.min_pacing).scale(l4s.pacing),
            _ => self.media.pacing(self.target, self.demand),
        };
        SendLimits { window: Some(window), capacity: self.target, ..SendLimits::of_rate(pacing) }
    }

    fn on_sent(&mut self, packet: &SentPacket) {
        self.quiet_since.get_or_insert(packet.at);
        self.in_flight.note(packet.at, packet.in_flight, self.srtt());
    }

    fn on_demand(&mut self, now: Time, demand: Demand) {
        let min = demand.min.max(Rate::from_bps(1));
        self.demand = Demand { min, max: demand.max.max(min) };
        self.update_target(now, "", None);
    }

    fn on_signal(&mut self, now: Time, signal: Signal) {
        if let Signal::FrameQueued(frame) = signal {
            self.media.on_frame(&frame, self.target);
            self.update_target(now, "", None);
        }
    }

    fn on_timeout(&mut self, now: Time) {
        if now < self.next_timeout() {
            return;
        }
        self.quiet_since = Some(now);
        self.window.set(self.window.bytes().scale(self.config.feedback_timeout_share));
        self.update_target(now, "decrease", Some("no feedback for too long"));
    }

    fn next_timeout(&self) -> Time {
        self.quiet_since.map_or(Time::NEVER, |since| since + self.timeout())
    }

    fn poll_decision(&mut self) -> Option<Decision> {
        self.decisions.pop()
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("ref_wnd_bytes", self.window.bytes().as_f64());
        see("ref_wnd_i_bytes", self.window.inflection().as_f64());
        see("qdelay_ms", self.queue.latest().as_millis_f64());
        see("qdelay_avg_ms", self.queue.average().as_millis_f64());
        see("qdelay_target_ms", self.queue.target().as_millis_f64());
        see("l4s_alpha", self.marking.alpha());
        if let Some(classic) = &self.classic {
            classic.inspect(see);
        }
        see("max_bytes_in_flight", self.in_flight.max().as_f64());
        see("rate_adjust", self.media.rate_adjust());
        see("frame_size_deviation", self.media.size_deviation());
        see("s_rtt_ms", self.srtt.unwrap_or(Span::ZERO).as_millis_f64());
    }
}
