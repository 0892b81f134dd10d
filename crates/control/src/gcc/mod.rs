//! Google Congestion Control, sender side, as libwebrtc runs it (specs/gcc.md; libwebrtc at 3710345, January 2026).
//!
//! * delay: `packet_groups` -> `trendline` -> `overuse` -> `aimd` with `link_capacity`;
//! * acknowledged rate: `acknowledged_rate`;
//! * loss: `loss`; probing: `probe_controller`, `probe_estimator`; application-limited regions: `alr`;
//! * more bytes in flight than wanted: `pushback`, `outstanding`; late feedback: `back_off`.

mod acknowledged_rate;
mod aimd;
mod alr;
mod back_off;
mod config;
mod link_capacity;
mod loss;
mod outstanding;
mod overuse;
mod packet_groups;
mod probe_controller;
mod probe_estimator;
mod pushback;
#[cfg(test)]
mod tests;
mod trendline;

use alloc::vec::Vec;

use thalweg_units::{ConfigError, Rate, Span, Time};

use crate::controller::{Controller, Decision, Demand, MediaLimit, PaddingLimit, SendLimits, Signal};
use crate::decisions::Decisions;
use crate::feedback::{Cause, Feedback, Report};
use crate::packet::{Payload, SentPacket};
use acknowledged_rate::AcknowledgedRate;
pub use acknowledged_rate::Config as AcknowledgedRateConfig;
pub use aimd::Config as AimdConfig;
use aimd::{Aimd, Change};
use alr::AlrDetector;
pub use alr::Config as AlrConfig;
use back_off::BackOff;
pub use config::{Config, Restart};
pub use loss::Config as LossConfig;
use loss::{Input, LossBased, LossState};
pub use loss::{V1Config, V2Config};
use outstanding::Outstanding;
pub use overuse::Config as OveruseConfig;
use overuse::{Detector, Usage};
use packet_groups::PacketGroups;
pub use probe_controller::Config as ProbeConfig;
use probe_controller::ProbeController;
use probe_estimator::ProbeEstimator;
pub use pushback::Config as PushbackConfig;
use pushback::Pushback;
use trendline::Trendline;

/// The controller's tick (libwebrtc: 25 ms).
const TICK: Span = Span::from_millis(25);
/// After a pause longer than this, the estimation restarts (`kStreamTimeOut`).
const STREAM_TIMEOUT: Span = Span::from_secs(2);

/// GCC's state.
#[derive(Debug, Clone)]
pub struct Gcc {
    config: Config,
    /// The rates that the encoder can use.
    demand: Option<Demand>,
    /// The application's bounds.
    bounds: Option<Demand>,
    min: Rate,
    max: Rate,
    /// The most that the receiver allows.
    receiver_limit: Option<Rate>,
    /// When the present route was taken: reports on packets sent before are ignored (`TransportFeedbackAdapter`).
    routed: Time,
    groups: PacketGroups,
    trendline: Trendline,
    detector: Detector,
    acknowledged: AcknowledgedRate,
    aimd: Aimd,
    loss: LossBased,
    loss_state: LossState,
    /// The loss-based rate, at most the delay-based rate.
    loss_based: Rate,
    alr: AlrDetector,
    probes: ProbeController,
    probe_results: ProbeEstimator,
    pushback: Option<Pushback>,
    outstanding: Outstanding,
    back_off: BackOff,
    /// The target was lowered because feedback was missing, and none has arrived since.
    backed_off: bool,
    target: Rate,
    last_packet_seen: Option<Time>,
    rtt: Span,
    next_tick: Time,
    arrived: Vec<Report>,
    decisions: Decisions,
}

impl Gcc {
    /// The controller before the first packet.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn new(config: Config) -> Result<Gcc, ConfigError> {
        config.check()?;
        Ok(Gcc::of_checked(config))
    }

    /// The controller for parameters already checked.
    pub(crate) fn of_checked(config: Config) -> Gcc {
        Gcc {
            demand: None,
            bounds: None,
            min: config.min,
            max: Rate::MAX,
            receiver_limit: None,
            routed: Time::ZERO,
            groups: PacketGroups::default(),
            trendline: Trendline::default(),
            detector: Detector::new(config.overuse),
            acknowledged: AcknowledgedRate::new(config.acknowledged_rate),
            aimd: Aimd::new(config.aimd, config.start, config.min),
            loss: LossBased::new(config.loss, config.start),
            loss_state: LossState::DelayBased,
            loss_based: config.start,
            alr: AlrDetector::new(config.alr),
            probes: ProbeController::new(config.probing, config.start),
            probe_results: ProbeEstimator::default(),
            pushback: config.pushback.map(Pushback::new),
            outstanding: Outstanding::default(),
            back_off: BackOff::new(&config),
            backed_off: false,
            target: config.start,
            last_packet_seen: None,
            rtt: Span::ZERO,
            next_tick: Time::ZERO,
            arrived: Vec::new(),
            decisions: Decisions::default(),
            config,
        }
    }

    /// Updates the delay-based part from one report; returns how the path is used, and whether the delay returned to
    /// normal.
    fn judge_delay(&mut self, now: Time) -> (Usage, bool) {
        let mut recovered = false;
        let mut overused = false;
        for report in &self.arrived {
            let Some(arrival) = report.arrival() else { continue };
            if self.last_packet_seen.is_some_and(|last| now - last > STREAM_TIMEOUT) {
                self.groups = PacketGroups::default();
                self.trendline = Trendline::default();
                if !self.config.overuse.outlasts_pauses {
                    self.detector = Detector::new(self.config.overuse);
                }
            }
            self.last_packet_seen = Some(now);
            if let Some(delta) = self.groups.on_packet(report.packet.at, arrival, now) {
                let before = self.detector.usage();
                let slope = self.trendline.on_delta(delta, arrival);
                let usage = self.detector.on_slope(slope, self.trendline.deltas(), delta.sent, arrival);
                recovered |= before == Usage::Under && usage == Usage::Normal;
            }
            overused |= self.detector.usage() == Usage::Over;
        }
        let usage = if overused && self.config.overuse.whole_report { Usage::Over } else { self.detector.usage() };
        (usage, recovered)
    }

    /// Records the age of this report's feedback.
    fn note_age(&mut self, now: Time) {
        let Some(newest) = self.arrived.last().and_then(Report::arrival) else { return };
        // A packet's round-trip time excludes its wait for packets reported with it.
        let waited = |report: &Report| report.arrival().map_or(Span::ZERO, |arrival| newest - arrival);
        let rtt = self.arrived.iter().map(|report| (now - report.packet.at) - waited(report)).min();
        self.back_off.on_report(now, rtt.unwrap_or(Span::ZERO));
    }

    /// The result of a probe, raised to the rate known to arrive.
    fn probe_result(&mut self) -> Option<Rate> {
        let mut result = None;
        for report in &self.arrived {
            result = self.probe_results.on_arrival(report).or(result);
        }
        let (probed, acknowledged) = (result?, self.acknowledged.rate());
        Some(match acknowledged {
            Some(rate) if probed < rate && self.config.probing.at_least_acknowledged => {
                probed.max(self.aimd.rate().min(rate.scale(self.config.aimd.beta)))
            }
            _ => probed,
        })
    }

    fn follow_alr(&mut self, now: Time) {
        let since = self.alr.since();
        let ended = self.aimd.in_alr && since.is_none();
        if ended {
            self.acknowledged.on_alr_ended(now);
        }
        self.aimd.in_alr = since.is_some();
        self.probes.set_alr(now, since);
    }

    /// Combines the delay-based and the loss-based limit; while feedback is too old, the target does not rise.
    fn combine(&mut self, now: Time, what: &'static str, why: &'static str, allowed: Rate) {
        let stale = self.back_off.above_limit();
        let target = if stale { self.target } else { allowed }.min(self.delay_based());
        let (what, why) = match self.backed_off {
            true if target > self.target => ("come back", "reports are young again"),
            _ => (what, why),
        };
        self.backed_off &= stale;
        self.set_target(now, what, why, target);
    }

    fn set_target(&mut self, now: Time, what: &'static str, why: &'static str, target: Rate) {
        let from = self.target;
        self.target = target.clamp(self.min, self.max.max(self.min));
        let limited = self.limited_target();
        self.alr.set_estimate(limited);
        self.probes.on_estimate(now, limited, self.congested());
        if !what.is_empty() && from != self.target {
            self.decisions.push(Decision { at: now, what, why, from, to: self.target });
        }
    }

    /// The rate that delay allows. Where reports do not have delay, the receiver may measure it and say what it allows.
    fn delay_based(&self) -> Rate {
        if self.config.delay { self.aimd.rate() } else { self.receiver_limit.unwrap_or(Rate::MAX) }
    }

    /// The target, at most what the receiver allows.
    fn limited_target(&self) -> Rate {
        self.receiver_limit.map_or(self.target, |limit| self.target.min(limit).max(self.min))
    }

    fn apply_bounds(&mut self) {
        let (demand, bounds) = (self.demand, self.bounds);
        let both = || demand.into_iter().chain(bounds);
        self.min = both().map(|one| one.min).fold(self.config.min, Rate::max);
        self.max = both().map(|one| one.max).fold(Rate::MAX, Rate::min);
        self.aimd.set_min(self.min);
    }

    /// Starts the estimate over on a new route. What is known of packets in flight, of the application and of the
    /// round trip's limit stays (`GoogCcNetworkController::OnNetworkRouteChange`).
    fn restart(&mut self, now: Time) {
        let known = match self.config.restart {
            Restart::Start => None,
            Restart::Target => Some(self.limited_target()),
            Restart::Acknowledged => self.acknowledged.rate(),
        };
        let start = known.map_or(self.config.start, |known| known.min(self.config.start)).max(self.min);
        self.probes.restart(start);
        let fresh = Gcc::of_checked(Config { start, ..self.config.clone() });
        let old = core::mem::replace(self, fresh);
        (self.config, self.demand, self.bounds) = (old.config, old.demand, old.bounds);
        (self.alr, self.probes, self.back_off) = (old.alr, old.probes, old.back_off);
        (self.pushback, self.outstanding) = (old.pushback, old.outstanding);
        (self.next_tick, self.decisions, self.target, self.routed) = (old.next_tick, old.decisions, old.target, now);
        self.apply_bounds();
        self.set_target(now, "start over", "another route", start);
        self.probes.on_available(now);
    }

    /// Returns true if probes are forbidden. Libwebrtc's probes of 1.5 times the estimate, sent while loss limits and
    /// the estimate rises (`loss_limited_scale`), need the state without padding, which today's default never enters.
    fn congested(&self) -> bool {
        self.back_off.above_limit()
            || self.detector.usage() != Usage::Normal
            || self.loss_state != LossState::DelayBased
    }

    fn update_pushback(&mut self) {
        let in_flight = self.outstanding.bytes();
        if let Some(pushback) = &mut self.pushback {
            pushback.on_in_flight(in_flight);
        }
    }
}

impl Controller for Gcc {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let now = feedback.now;
        if feedback.cause == Cause::FeedbackTimeout {
            self.outstanding.on_feedback_timeout(feedback);
            return;
        }
        self.outstanding.on_report(feedback);
        let earlier = feedback.reports.partition_point(|report| report.packet.at < self.routed);
        let reports = &feedback.reports[earlier..];
        if earlier > 0 && reports.is_empty() {
            return;
        }
        // libwebrtc uses the RTT from RTCP reports, which do not wait for a batch.
        if let Some(rtt) = feedback.path_rtt.or(feedback.rtt) {
            self.rtt = rtt;
            self.aimd.set_rtt(rtt);
        }
        self.follow_alr(now);
        self.arrived.clear();
        self.arrived.extend(reports.iter().filter(|report| report.arrival().is_some()));
        self.arrived.sort_by_key(|report| (report.arrival(), report.packet.id));
        let arrived = core::mem::take(&mut self.arrived);
        self.acknowledged.on_arrivals(&arrived);
        self.arrived = arrived;
        self.note_age(now);
        let acknowledged = self.acknowledged.rate();
        let hears_delay = self.config.delay;
        let probed = if hears_delay { self.probe_result() } else { None };
        let (usage, recovered) = if hears_delay { self.judge_delay(now) } else { (Usage::Normal, false) };
        let change = match hears_delay && !self.arrived.is_empty() {
            true => self.aimd.on_usage(now, usage, acknowledged, probed),
            false => Change::None,
        };
        let (what, why) = match change {
            Change::Decreased => ("decrease", "delay trend above threshold"),
            Change::Probed => {
                self.loss.on_probe(self.aimd.rate());
                ("take probe", "a probe cluster measured it")
            }
            Change::Moved | Change::None => ("", ""),
        };
        let (allowed, state) = self.loss.update(&Input {
            now,
            reports,
            delay_based: self.delay_based(),
            acknowledged,
            in_alr: self.aimd.in_alr,
            min: self.min,
            max: self.max,
            rtt: self.rtt,
        });
        let (what, why) = match state {
            LossState::Decreasing if !hears_delay && allowed < self.loss_based => ("decrease", "over a tenth was lost"),
            LossState::Decreasing if !hears_delay => ("", ""),
            LossState::Decreasing if self.loss_state != state => ("limit by loss", "a lower rate explains the losses"),
            _ => (what, why),
        };
        (self.loss_state, self.loss_based) = (state, allowed);
        self.combine(now, what, why, allowed);
        if recovered {
            self.probes.on_recovered(now);
        }
        let target = self.limited_target();
        if let Some(pushback) = &mut self.pushback {
            let longest = self.arrived.iter().map(|report| now - report.packet.at).max();
            pushback.on_report(longest, target);
        }
        self.update_pushback();
    }

    fn limits(&self) -> SendLimits {
        let target = self.limited_target();
        let lowered = self.pushback.as_ref().map_or(target, |pushback| pushback.lower(target));
        let trial = if self.loss_state == LossState::IncreaseUsingPadding { target } else { Rate::ZERO };
        SendLimits {
            capacity: lowered,
            padding: PaddingLimit::up_to(self.config.padding.max(trial).min(lowered)),
            probe: self.probes.pending().filter(|_| self.config.delay),
            media: MediaLimit::Share(self.pushback.as_ref().map_or(1.0, Pushback::share_of_frames)),
            // Not the lowered target: pushback must not build a queue in the pacer.
            ..SendLimits::of_rate(target.scale(self.config.pacing_factor))
        }
    }

    fn on_sent(&mut self, packet: &SentPacket) {
        self.back_off.on_sent(packet.at);
        self.outstanding.on_sent(packet);
        self.alr.on_sent(packet.at, packet.size);
        if let Some(pushback) = self.pushback.as_mut().filter(|_| packet.payload == Payload::Media) {
            pushback.on_media(packet.size);
        }
        if let Some(probe) = packet.probe.and_then(|cluster| self.probes.on_sent(cluster)) {
            self.probe_results.on_begun(probe);
        }
        self.update_pushback();
    }

    fn on_demand(&mut self, now: Time, demand: Demand) {
        self.demand = Some(demand);
        self.apply_bounds();
        self.probes.set_max(now, self.max);
    }

    fn on_signal(&mut self, now: Time, signal: Signal) {
        match signal {
            Signal::FrameQueued(frame) => {
                if let Some(pushback) = &mut self.pushback {
                    pushback.on_queued(frame.ahead + frame.size);
                }
            }
            Signal::ReceiverLimit(limit) => {
                self.receiver_limit = limit;
                self.set_target(now, "", "", self.target);
            }
            Signal::RouteChanged { adapter } if adapter || !self.config.restart_by_adapter => self.restart(now),
            Signal::Bounds(bounds) => {
                self.bounds = Some(bounds);
                self.apply_bounds();
                self.set_target(now, "obey", "the application's bounds", self.target);
                self.probes.set_bound(now, self.max);
            }
            _ => {}
        }
    }

    fn obeys(&self, limit: &Signal) -> bool {
        matches!(limit, Signal::ReceiverLimit(_) | Signal::Bounds(_))
    }

    fn on_timeout(&mut self, now: Time) {
        self.next_tick = now + TICK;
        self.probes.on_available(now);
        if let Some(target) = self.back_off.lower(now, self.target) {
            self.backed_off = true;
            self.set_target(now, "back off", "round trip above limit", target);
        }
        self.probes.on_tick(now);
        let target = self.limited_target();
        if let Some(pushback) = &mut self.pushback {
            pushback.follow(target);
        }
        self.update_pushback();
    }

    fn next_timeout(&self) -> Time {
        self.next_tick
    }

    fn poll_decision(&mut self) -> Option<Decision> {
        self.decisions.pop()
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("delay_based_bps", self.aimd.rate().as_bps_f64());
        see("loss_based_bps", self.loss_based.as_bps_f64());
        // Not named `target_bps`: the sender uses that name for the encoder's rate, without headers and after pushback.
        see("estimate_bps", self.target.as_bps_f64());
        see("trend_ms", self.detector.trend());
        see("threshold_ms", self.detector.threshold());
        see("acknowledged_bps", self.acknowledged.rate().unwrap_or(Rate::ZERO).as_bps_f64());
        see("in_alr", f64::from(u8::from(self.aimd.in_alr)));
        see("pushback_ratio", self.pushback.as_ref().map_or(1.0, Pushback::ratio));
    }
}
