//! GCC as the fallback where even the shortest bursts are too long for the path, and the return to bursts (Camel
//! section 4.3; specs/camel.md 4).

use alloc::vec::Vec;

use thalweg_units::{Bytes, Rate, Span, Time};

use super::burst_length::{self, Count, Outcome};
use crate::controller::{Controller, Demand, SendLimits};
use crate::feedback::{Feedback, Report};
use crate::gcc::{self, Gcc};
use crate::packet::SentPacket;

/// When bursts are tried again.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// How long GCC runs before bursts are tried again (R: 30 s; the paper warns of frequent switching).
    pub retry: Span,
    /// Duration of a trial with bursts of the min M (R: 5 s).
    pub trial: Span,
    /// GCC; it starts at Camel's current target instead of its own start rate.
    pub gcc: gcc::Config,
}

impl Default for Config {
    fn default() -> Config {
        Config { retry: Span::from_secs(30), trial: Span::from_secs(5), gcc: gcc::Config::default() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Paced,
    Trial,
}

/// The result of a timeout of the fallback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    None,
    TrialBegins,
    TrialFailed,
    /// The fallback is over: bursts lose no more than paced packets.
    Over,
}

/// GCC, and the losses of paced packets.
#[derive(Debug, Clone)]
pub(super) struct Fallback {
    retry: Span,
    trial: Span,
    gcc: Gcc,
    phase: Phase,
    since: Time,
    paced: Count,
    /// Probe clusters numbered below this are not GCC's.
    base: u32,
    /// The highest probe cluster number so far.
    clusters: u32,
    reports: Vec<Report>,
}

impl Fallback {
    /// Starts GCC at `target`. Its probe clusters are numbered from `clusters` on.
    pub(super) fn new(now: Time, config: &Config, target: Rate, demand: Option<Demand>, clusters: u32) -> Fallback {
        let mut gcc = Gcc::of_checked(gcc::Config { start: target.max(config.gcc.min), ..config.gcc.clone() });
        if let Some(demand) = demand {
            gcc.on_demand(now, demand);
        }
        gcc.on_timeout(now);
        let mut fallback = Fallback {
            retry: config.retry,
            trial: config.trial,
            gcc,
            phase: Phase::Paced,
            since: now,
            paced: Count::default(),
            base: clusters,
            clusters,
            reports: Vec::new(),
        };
        fallback.follow_clusters();
        fallback
    }

    /// Returns true during a trial of bursts.
    pub(super) fn in_trial(&self) -> bool {
        self.phase == Phase::Trial
    }

    /// The highest probe cluster number so far.
    pub(super) fn clusters(&self) -> u32 {
        self.clusters
    }

    fn follow_clusters(&mut self) {
        if let Some(probe) = self.gcc.limits().probe {
            self.clusters = self.clusters.max(self.base.saturating_add(probe.cluster));
        }
    }

    /// The packet with GCC's own cluster number.
    fn own(&self, packet: &SentPacket) -> SentPacket {
        SentPacket { probe: packet.probe.and_then(|cluster| cluster.checked_sub(self.base)), ..*packet }
    }

    /// GCC's limits; in a trial, with bursts of `min` in addition.
    pub(super) fn limits(&self, min: Bytes) -> SendLimits {
        let limits = self.gcc.limits();
        let probe = limits
            .probe
            .map(|probe| crate::controller::Probe { cluster: self.base.saturating_add(probe.cluster), ..probe });
        SendLimits { burst: self.in_trial().then_some(min), probe, ..limits }
    }

    pub(super) fn on_sent(&mut self, packet: &SentPacket) {
        self.gcc.on_sent(&self.own(packet));
        self.follow_clusters();
    }

    pub(super) fn on_demand(&mut self, now: Time, demand: Demand) {
        self.gcc.on_demand(now, demand);
        self.follow_clusters();
    }

    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let mut reports = core::mem::take(&mut self.reports);
        reports.clear();
        reports.extend(feedback.reports.iter().map(|report| Report { packet: self.own(&report.packet), ..*report }));
        self.gcc.on_feedback(&Feedback { reports: &reports, ..*feedback });
        self.reports = reports;
        self.follow_clusters();
    }

    /// Counts a paced packet.
    pub(super) fn count(&mut self, outcome: Outcome) {
        self.paced.add(outcome);
    }

    /// When GCC or the trial began.
    pub(super) fn since(&self) -> Time {
        self.since
    }

    /// `bursts` is the loss at the end of the trial's bursts; `base` the path's own loss, used if too few paced packets
    /// were sent to measure it.
    pub(super) fn on_timeout(
        &mut self,
        now: Time,
        bursts: Option<f64>,
        base: Option<f64>,
        config: &burst_length::Config,
    ) -> Change {
        if self.gcc.next_timeout() <= now {
            self.gcc.on_timeout(now);
            self.follow_clusters();
        }
        if self.phase_ends() > now {
            return Change::None;
        }
        self.since = now;
        if self.phase == Phase::Paced {
            self.phase = Phase::Trial;
            return Change::TrialBegins;
        }
        self.phase = Phase::Paced;
        let own = self.paced.loss(config.min_packets).or(base).unwrap_or(0.0);
        self.paced = Count::default();
        match bursts {
            Some(loss) if loss <= own + config.margin_at_min => Change::Over,
            _ => Change::TrialFailed,
        }
    }

    fn phase_ends(&self) -> Time {
        self.since + if self.in_trial() { self.trial } else { self.retry }
    }

    pub(super) fn next_timeout(&self) -> Time {
        self.phase_ends().min(self.gcc.next_timeout())
    }
}
