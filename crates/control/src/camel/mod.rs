//! Camel (WWW 2026, arXiv 2602.09500; specs/camel.md): frame-based congestion control.
//!
//! A frame leaves back to back, so the spacing of its packets at the receiver shows the capacity of the bottleneck even
//! if the encoder undershoots. Three modules, as in the paper:
//!
//! * bandwidth and delay: `bursts` -> `bandwidth`, min(D) here, and from both cwnd = gamma * BDP;
//! * congestion: `gradient`, the slope of delay over bytes in flight, moves gamma;
//! * burst length: `burst_length`, losses by their position in the burst, and `fallback`, GCC where even the
//!   shortest burst is too long.
//!
//! The sender splits the target between the encoder and redundancy (`thalweg_sender::frames::share`,
//! `thalweg_sender::repair::shares`).
//!
//! [`Timeout`]: missing feedback.

mod bandwidth;
mod burst_length;
mod bursts;
mod config;
mod fallback;
mod gradient;
#[cfg(test)]
mod tests;
mod train;

use alloc::boxed::Box;

use thalweg_units::{Bytes, ConfigError, Rate, Span, Time};

use crate::controller::{Controller, Decision, Demand, Probe, SendLimits};
use crate::decisions::Decisions;
use crate::estimate::{Percentiles, WindowedMin};
use crate::feedback::timeout::{FeedbackTimeout, Then};
use crate::feedback::{Cause, Fate, Feedback, Report};
use crate::packet::SentPacket;
use bandwidth::Bandwidth;
pub use bandwidth::{Config as BandwidthConfig, Mean, ShortBursts};
pub use burst_length::{Bins, Config as BurstLengthConfig, Unseen};
use burst_length::{BurstLength, Outcome, Verdict};
use bursts::{BurstReport, Bursts};
pub use config::{Config, Gamma, IdleTrain, Timeout, Window};
pub use fallback::Config as FallbackConfig;
use fallback::{Change, Fallback};
pub use gradient::{Config as GradientConfig, Gradient, Reading, Verdict as GradientVerdict};
use train::Train;

/// Two smoothed round trips and this long after it left, a burst is measured on the reports available by then
/// (specs/camel.md 2.1) (R).
const TIMEOUT: Span = Span::from_millis(100);
/// Between bursts, gamma slows the pacing to no less than this share of avg(B) (specs/camel.md 6) (R).
const MIN_PACING: f64 = 0.5;
/// A train leaves at once: its packets fit into one burst of a probe with this spacing.
const TRAIN_SPACING: Span = Span::from_millis(1);

/// Camel's state.
#[derive(Debug, Clone)]
pub struct Camel {
    bursts: Bursts,
    bandwidth: Bandwidth,
    min_delay: WindowedMin<Span>,
    /// D in the gradient's window.
    delays: Percentiles,
    /// The allowance for jitter that the window adds to min(D).
    jitter: Span,
    gradient: Gradient,
    verdict: gradient::Verdict,
    gamma: f64,
    /// When gamma may change again, and whether there is a new burst to base the change on.
    gamma_due: Time,
    fresh: bool,
    burst_length: BurstLength,
    next_judgement: Time,
    timeout: FeedbackTimeout,
    /// The factor that feedback timeouts have applied to the target: 1 while feedback arrives.
    left: f64,
    /// Smoothed wait of a packet's feedback for its report.
    held: Span,
    fallback: Option<Box<Fallback>>,
    /// The target until the first burst is measured.
    start: Rate,
    demand: Option<Demand>,
    idle_since: Option<Time>,
    train: Option<Probe>,
    clusters: u32,
    decisions: Decisions,
    config: Config,
}

impl Camel {
    /// The controller before the first packet.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn new(config: Config) -> Result<Camel, ConfigError> {
        config.check()?;
        Ok(Camel {
            bursts: Bursts::default(),
            bandwidth: Bandwidth::new(config.bandwidth),
            min_delay: WindowedMin::default(),
            delays: Percentiles::new(config.gradient.window, config.gradient.max_frames),
            jitter: Span::ZERO,
            gradient: Gradient::new(config.gradient),
            verdict: gradient::Verdict::UNKNOWN,
            gamma: 1.0,
            gamma_due: Time::ZERO,
            fresh: false,
            burst_length: BurstLength::new(config.burst_length),
            next_judgement: Time::NEVER,
            timeout: FeedbackTimeout::new(config.feedback_timeout.min, config.feedback_timeout.round_trips, Then::Same),
            left: 1.0,
            held: Span::ZERO,
            fallback: None,
            start: config.start,
            demand: None,
            idle_since: None,
            train: None,
            clusters: 0,
            decisions: Decisions::default(),
            config,
        })
    }

    fn bounded(&self, rate: Rate) -> Rate {
        let demand = self.demand.unwrap_or(Demand { min: Rate::ZERO, max: Rate::MAX });
        let max = demand.max.max(Rate::from_bps(1));
        rate.max(self.config.min).max(demand.min).min(max)
    }

    /// gamma * avg(B), equation 6.
    fn target(&self) -> Rate {
        if let Some(fallback) = &self.fallback {
            return fallback.limits(Bytes::ZERO).capacity;
        }
        let believed = self.bandwidth.average().map_or(self.start, |average| average.scale(self.gamma));
        self.bounded(believed.scale(self.left))
    }

    /// BDP = avg(B) * min(D), equation 3, plus what waits for reports and jitter; `None` before both are known.
    fn product(&self) -> Option<Bytes> {
        let mut delay = self.min_delay.get()?;
        // With reports at this interval, feedback waits for half of it on average.
        if self.config.window.covers_reports.is_some_and(|apart| self.held * 2 > apart) {
            delay += self.held;
        }
        delay += self.jitter;
        Some(self.bandwidth.average()?.over(delay))
    }

    /// The jitter that the window must cover. While delay grows with bytes in flight, it is a queue's and not jitter.
    fn jitter(&self) -> Span {
        let covered = self.config.window.covers_jitter.filter(|_| !self.verdict.congested);
        let high = covered.and_then(|quantile| self.delays.get(quantile));
        high.zip(self.min_delay.get()).map_or(Span::ZERO, |(high, min)| (high - min).max(Span::ZERO))
    }

    /// cwnd = gamma * BDP, equation 1, with the additions that make it usable (specs/camel.md 5).
    fn window(&self) -> Bytes {
        let config = &self.config.window;
        let min = config.packet * config.min_packets;
        if self.left < 1.0 {
            return min;
        }
        let Some(product) = self.product() else { return config.packet * config.first_packets };
        let burst = self.bursts.frame_size().min(self.burst_length.get());
        let burst = match config.holds_burst {
            true if self.gamma < 1.0 => burst.scale(self.gamma),
            true => burst + config.packet,
            false => Bytes::ZERO,
        };
        product.scale(config.gain * self.gamma).max(burst).max(min)
    }

    /// Returns true if packets leave in bursts, so that bandwidth can be measured.
    fn bursting(&self) -> bool {
        self.fallback.as_ref().is_none_or(|fallback| fallback.in_trial())
    }

    /// The M in force.
    fn max(&self) -> Bytes {
        if self.fallback.is_some() { self.config.burst_length.min } else { self.burst_length.get() }
    }

    fn on_train(&mut self, now: Time, train: &Train) {
        if !self.bursting() {
            return;
        }
        let (before, first) = (self.target(), self.bandwidth.average().is_none());
        if self.bandwidth.on_train(now, train) {
            self.idle_since = Some(now);
            self.fresh = true;
            if first && self.fallback.is_none() {
                self.decide(now, "begin", "the first burst was measured", before);
            }
        }
    }

    fn on_burst_report(&mut self, feedback: &Feedback<'_>, report: &Report, burst_report: &BurstReport) {
        let outcome = match report.fate {
            Fate::Lost => Outcome::Lost,
            Fate::Arrived { .. } if burst_report.was_lost => Outcome::ArrivedLate,
            Fate::Arrived { .. } => Outcome::Arrived,
        };
        // Packets given up at a feedback timeout are not known to be lost (specs/camel.md 7).
        if feedback.cause == Cause::Report {
            let BurstReport { offset, size, first, of_frame, .. } = *burst_report;
            match &mut self.fallback {
                Some(fallback) if report.packet.at < fallback.since() => {}
                Some(fallback) if !fallback.in_trial() && offset >= self.config.burst_length.bin => {}
                Some(fallback) if !fallback.in_trial() => fallback.count(outcome),
                fallback if of_frame || fallback.is_some() => {
                    self.burst_length.on_packet(offset, size, first.is_some(), outcome)
                }
                _ => {}
            }
        }
        if let (Some(in_flight), Some(delay)) = (burst_report.first, feedback.rtt_of(report)) {
            self.min_delay.add(feedback.now, delay, self.config.delay_window);
            self.delays.add(feedback.now, delay);
            if self.fallback.is_none() {
                self.gradient.add(feedback.now, in_flight, delay);
                self.fresh = true;
            }
        }
        if let Some(train) = &burst_report.train {
            self.on_train(feedback.now, train);
        }
    }

    fn move_gamma(&mut self, now: Time) {
        let Some(average) = self.bandwidth.average().filter(|_| self.fallback.is_none()) else { return };
        if now < self.gamma_due || !self.fresh {
            return;
        }
        self.fresh = false;
        let turn = self.min_delay.get().unwrap_or(Span::ZERO).max(self.config.gamma.min_interval);
        self.gamma_due = now + turn;
        self.verdict = self.gradient.judge(now, average, self.config.window.packet);
        let (before, from) = (self.gamma, self.target());
        let Gamma { factor, min, .. } = self.config.gamma;
        self.gamma = if self.verdict.congested { (self.gamma * factor).max(min) } else { 1.0 };
        self.jitter = self.jitter();
        if self.gamma < before {
            self.decide(now, "slow down", self.verdict.why, from);
        } else if self.gamma > before {
            self.decide(now, "speed up", "delay no longer grows with bytes in flight", from);
        }
    }

    fn judge_burst_length(&mut self, now: Time) {
        self.next_judgement = now + self.config.burst_length.period;
        let target = self.target();
        match self.burst_length.judge(now) {
            Verdict::Keep => {}
            Verdict::Grow => {
                self.decide(now, "lengthen bursts", "their end loses no more than their beginning", target)
            }
            Verdict::Shrink => self.decide(now, "shorten bursts", "their end loses more than their beginning", target),
            Verdict::GiveUp => {
                self.fallback =
                    Some(Box::new(Fallback::new(now, &self.config.fallback, target, self.demand, self.clusters)));
                self.train = None;
                // Measurements of bursts that overflowed the queue must not influence a trial.
                self.forget_measurements();
                self.decide(now, "fall back to GCC", "the shortest burst loses more than the path does", target);
            }
        }
    }

    fn forget_measurements(&mut self) {
        self.bandwidth = Bandwidth::new(self.config.bandwidth);
        self.gradient.clear();
        self.verdict = gradient::Verdict::UNKNOWN;
        self.gamma = 1.0;
        self.jitter = Span::ZERO;
    }

    fn run_fallback(&mut self, now: Time) {
        let from = self.target();
        let (bursts, base) = (self.burst_length.end_loss(), self.burst_length.min_loss());
        let Some(fallback) = &mut self.fallback else { return };
        match fallback.on_timeout(now, bursts, base, &self.config.burst_length) {
            Change::None => {}
            Change::TrialBegins => {
                self.burst_length.restart();
                self.decide(now, "try bursts", "GCC has run for long enough", from);
            }
            Change::TrialFailed => {
                self.forget_measurements();
                self.decide(now, "stay with GCC", "the shortest burst still loses more than the path does", from);
            }
            Change::Over => {
                self.clusters = fallback.clusters();
                self.fallback = None;
                self.start = from;
                self.idle_since = Some(now);
                self.burst_length.restart();
                self.next_judgement = now + self.config.burst_length.period;
                self.decide(now, "return from GCC", "bursts lose no more than paced packets", from);
            }
        }
    }

    /// Sends a train of padding on an inactive connection.
    fn fill_idleness(&mut self, now: Time) {
        let Some(idle) = self.config.idle.filter(|_| self.idle_ends() <= now) else { return };
        self.idle_since = Some(now);
        self.clusters = self.clusters.saturating_add(1);
        let bytes = idle.packet * u64::from(idle.packets);
        self.train = Some(Probe {
            cluster: self.clusters,
            rate: bytes.per(TRAIN_SPACING),
            packets: idle.packets,
            bytes,
            spacing: TRAIN_SPACING,
        });
    }

    fn idle_ends(&self) -> Time {
        match (self.config.idle, self.idle_since) {
            (Some(idle), Some(since)) if self.fallback.is_none() => since + idle.after,
            _ => Time::NEVER,
        }
    }

    fn decide(&mut self, at: Time, what: &'static str, why: &'static str, from: Rate) {
        self.decisions.push(Decision { at, what, why, from, to: self.target() });
    }
}

impl Controller for Camel {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let now = feedback.now;
        let (from, left) = (self.target(), self.left);
        if feedback.cause == Cause::FeedbackTimeout {
            self.timeout.stop();
        } else {
            self.timeout.on_feedback(feedback);
            self.left = 1.0;
        }
        if left < self.left && self.fallback.is_none() {
            self.decide(now, "resume", "reports come again", from);
        }
        if let Some(held) = feedback.mean_held() {
            self.held += (held - self.held) / 8;
        }
        self.min_delay.expire(now, self.config.delay_window);
        for report in feedback.reports {
            if let Some(burst_report) = self.bursts.on_report(report) {
                self.on_burst_report(feedback, report, &burst_report);
            }
        }
        let timeout = feedback.srtt.unwrap_or(Span::ZERO) * 2 + TIMEOUT;
        while let Some(train) = self.bursts.pop_expired(now, timeout) {
            self.on_train(now, &train);
        }
        if feedback.cause == Cause::Report {
            self.move_gamma(now);
        }
        if let Some(fallback) = &mut self.fallback {
            fallback.on_feedback(feedback);
        }
    }

    fn limits(&self) -> SendLimits {
        if let Some(fallback) = &self.fallback {
            return fallback.limits(self.config.burst_length.min);
        }
        let target = self.target();
        let drained = self.bandwidth.spacing().filter(|_| self.left >= 1.0);
        let pacing = drained.map_or(target, |drained| drained.scale(self.gamma.max(MIN_PACING)));
        SendLimits {
            window: Some(self.window()),
            capacity: target,
            burst: Some(self.burst_length.get()),
            probe: self.train,
            ..SendLimits::of_rate(pacing.max(self.config.min))
        }
    }

    fn on_sent(&mut self, packet: &SentPacket) {
        if self.idle_since.is_none() {
            self.idle_since = Some(packet.at);
            self.next_judgement = packet.at + self.config.burst_length.period;
        }
        if packet.in_flight <= packet.size {
            self.timeout.restart(packet.at);
        } else {
            self.timeout.on_sent(packet.at);
        }
        if packet.probe.is_some() && packet.probe == self.train.map(|train| train.cluster) {
            self.train = None;
        }
        let window = self.fallback.is_none().then(|| self.window());
        if let Some(train) = self.bursts.on_sent(packet, self.max(), window) {
            self.on_train(packet.at, &train);
        }
        if let Some(fallback) = &mut self.fallback {
            fallback.on_sent(packet);
        }
    }

    fn on_demand(&mut self, now: Time, demand: Demand) {
        self.demand = Some(demand);
        if let Some(fallback) = &mut self.fallback {
            fallback.on_demand(now, demand);
        }
    }

    fn on_timeout(&mut self, now: Time) {
        let from = self.target();
        let expired = self.timeout.on_timeout(now);
        if expired {
            // Small enough to put every target at its minimum, but large enough to be scaled back up.
            self.left = (self.left * self.config.feedback_timeout.factor).max(1e-6);
        }
        if expired && self.fallback.is_none() {
            self.gamma = 1.0;
            self.decide(now, "lower", "no feedback for three round trips", from);
        }
        if self.fallback.is_some() {
            self.run_fallback(now);
            return;
        }
        self.fill_idleness(now);
        if self.next_judgement <= now {
            self.judge_burst_length(now);
        }
    }

    fn next_timeout(&self) -> Time {
        let own = match &self.fallback {
            Some(fallback) => fallback.next_timeout(),
            None => self.next_judgement.min(self.idle_ends()),
        };
        own.min(self.timeout.deadline())
    }

    fn poll_decision(&mut self) -> Option<Decision> {
        self.decisions.pop()
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("avg_B_bps", self.bandwidth.average().unwrap_or(Rate::ZERO).as_bps_f64());
        see("jitter_ms", self.jitter.as_millis_f64());
        see("min_D_ms", self.min_delay.get().unwrap_or(Span::ZERO).as_millis_f64());
        see("BDP_bytes", self.product().unwrap_or(Bytes::ZERO).as_f64());
        see("cwnd_bytes", self.window().as_f64());
        see("gradient", self.verdict.slope);
        see("gamma", self.gamma);
        see("M_bytes", self.max().as_f64());
        let (first, last) = self.burst_length.seen();
        see("L_0", first);
        see("L_i", last);
        see("in_gcc", f64::from(u8::from(self.fallback.is_some())));
    }
}
