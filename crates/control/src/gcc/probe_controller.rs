//! When to send probes, and at what rate (specs/gcc.md 8; libwebrtc `probe_controller.cc`).

use alloc::collections::VecDeque;

use thalweg_units::{Rate, Span, Time};

use crate::controller::Probe;

/// Parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// The first two probes of a call, as multiples of the start rate.
    pub first: [f64; 2],
    /// Further probes while the estimate follows, as a multiple of the estimate ...
    pub further: f64,
    /// ... that is, while it exceeds this share of the previous probe's rate.
    pub further_share: f64,
    /// Min packets of a probe ...
    pub packets: u32,
    /// ... and its min duration.
    pub duration: Span,
    /// Min time between its bursts (20 ms, and 100 ms of duration, belong to repeated initial probing, which is off
    /// unless an application asks for it).
    pub spacing: Span,
    /// Probes every five seconds in application-limited regions (WebRTC: screen sharing only).
    pub periodic_in_alr: bool,
    /// Probes even while delay, round trip or loss says that the path is congested (until 7c612c3, October 2023).
    pub while_congested: bool,
    /// A result below the acknowledged rate is raised to 0.85 of it, but not above the estimate
    /// (`limit_probes_lower_than_throughput_estimate_`, since 8e18e2e, October 2023).
    pub at_least_acknowledged: bool,
    /// A raised maximum is probed only in application-limited regions, by at most this many times the estimate at once
    /// (`alloc_current_bwe_limit`); `None` to probe it as such, at any time (`SetBitrates`).
    #[cfg_attr(feature = "serde", serde(default))]
    pub raised_step: Option<f64>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            first: [3.0, 6.0],
            further: 2.0,
            further_share: 0.7,
            packets: 5,
            duration: Span::from_millis(15),
            spacing: Span::from_millis(2),
            periodic_in_alr: false,
            while_congested: false,
            at_least_acknowledged: true,
            raised_step: Some(2.0),
        }
    }
}

/// How long to wait for the result of a probe.
const MAX_WAIT: Span = Span::from_secs(1);
/// Interval between probes in application-limited regions.
const ALR_INTERVAL: Span = Span::from_secs(5);
/// A region that ended within this time still counts.
const ALR_RECENT: Span = Span::from_secs(3);
/// A drop below this share of the estimate triggers recovery ...
const DROP_SHARE: f64 = 0.66;
/// ... within this time ...
const DROP_RECENT: Span = Span::from_secs(5);
/// ... by a probe at this share of the estimate before the drop.
const RECOVERY_SHARE: f64 = 0.85;
/// Probe only when the result could exceed the estimate by this margin.
const PROBE_UNCERTAINTY: f64 = 0.05;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Init,
    Waiting,
    Complete,
}

/// The controller's state.
#[derive(Debug, Clone)]
pub(super) struct ProbeController {
    config: Config,
    state: State,
    next_cluster: u32,
    pending: VecDeque<Probe>,
    estimate: Rate,
    start: Rate,
    max: Rate,
    /// The estimate above which a further probe is sent.
    further_above: Option<Rate>,
    last_probed: Time,
    alr_since: Option<Time>,
    alr_ended: Option<Time>,
    /// The last large drop: its time, and the estimate before it.
    drop: Option<(Time, Rate)>,
    last_recovery: Option<Time>,
    congested: bool,
}

impl ProbeController {
    pub(super) fn new(config: Config, start: Rate) -> ProbeController {
        ProbeController {
            config,
            state: State::Init,
            next_cluster: 1,
            pending: VecDeque::new(),
            estimate: start,
            start,
            max: Rate::MAX,
            further_above: None,
            last_probed: Time::ZERO,
            alr_since: None,
            alr_ended: None,
            drop: None,
            last_recovery: None,
            congested: false,
        }
    }

    /// The next cluster not yet begun.
    pub(super) fn pending(&self) -> Option<Probe> {
        self.pending.front().copied()
    }

    /// Records a sent packet of this cluster; returns the cluster if the packet is its first.
    pub(super) fn on_sent(&mut self, cluster: u32) -> Option<Probe> {
        let first = self.pending.front().is_some_and(|probe| probe.cluster == cluster);
        if first { self.pending.pop_front() } else { None }
    }

    /// Sets the application's maximum; a raised one is probed.
    pub(super) fn set_max(&mut self, now: Time, max: Rate) {
        let raised = max > self.max;
        self.max = max;
        if !raised || self.state != State::Complete || self.estimate >= max {
            return;
        }
        match self.config.raised_step {
            None => {
                self.probe(now, &[max], false);
            }
            Some(step) if self.alr_since.is_some() => {
                let ceiling = self.estimate.scale(step);
                self.probe(now, &[max.min(ceiling)], ceiling < max);
            }
            Some(_) => {}
        }
    }

    /// Sets the application's bound on the estimate; a raised one is probed at once and as such (`SetBitrates`).
    pub(super) fn set_bound(&mut self, now: Time, max: Rate) {
        let raised = max > self.max;
        self.max = max;
        if raised && self.state == State::Complete && self.estimate < max {
            self.probe(now, &[max], false);
        }
    }

    /// Begins anew at this rate, on another route; clusters keep their numbers.
    pub(super) fn restart(&mut self, start: Rate) {
        let (next_cluster, max) = (self.next_cluster, self.max);
        *self = ProbeController { next_cluster, max, ..ProbeController::new(self.config, start) };
    }

    pub(super) fn set_alr(&mut self, now: Time, since: Option<Time>) {
        if self.alr_since.is_some() && since.is_none() {
            self.alr_ended = Some(now);
        }
        self.alr_since = since;
    }

    /// The path is available: starts the first probes.
    pub(super) fn on_available(&mut self, now: Time) {
        if self.state == State::Init {
            let rates = self.config.first.map(|factor| self.start.scale(factor));
            self.probe(now, &rates, true);
        }
    }

    /// Takes the estimate, and whether congestion forbids probes (`BandwidthLimitedCause`: delay, round trip or loss).
    pub(super) fn on_estimate(&mut self, now: Time, estimate: Rate, congested: bool) {
        self.congested = congested;
        if estimate < self.estimate.scale(DROP_SHARE) {
            self.drop = Some((now, self.estimate));
        }
        self.estimate = estimate;
        if self.state == State::Waiting
            && let Some(above) = self.further_above
            && estimate > above
        {
            self.probe(now, &[estimate.scale(self.config.further)], true);
        }
    }

    /// The delay returned to normal: after a large drop, the old rate may be available again.
    pub(super) fn on_recovered(&mut self, now: Time) -> bool {
        let in_alr = self.alr_since.is_some() || self.alr_ended.is_some_and(|ended| now - ended < ALR_RECENT);
        if !in_alr || self.state != State::Complete {
            return false;
        }
        let Some((at, before)) = self.drop else { return false };
        let suggested = before.scale(RECOVERY_SHARE);
        let finds_more = suggested.scale(1.0 - PROBE_UNCERTAINTY) > self.estimate;
        let rested = self.last_recovery.is_none_or(|last| now - last > ALR_INTERVAL);
        if finds_more && now - at < DROP_RECENT && rested {
            self.last_recovery = Some(now);
            return self.probe(now, &[suggested], false);
        }
        false
    }

    pub(super) fn on_tick(&mut self, now: Time) {
        if self.state == State::Waiting && now - self.last_probed > MAX_WAIT {
            self.state = State::Complete;
            self.further_above = None;
        }
        if self.config.periodic_in_alr
            && self.state == State::Complete
            && let Some(since) = self.alr_since
            && now >= since.max(self.last_probed) + ALR_INTERVAL
        {
            self.probe(now, &[self.estimate.scale(2.0)], true);
        }
    }

    fn probe(&mut self, now: Time, rates: &[Rate], further: bool) -> bool {
        if self.congested && !self.config.while_congested {
            return false;
        }
        let mut further = further;
        let mut last = Rate::ZERO;
        for &rate in rates {
            let clipped = rate >= self.max;
            let rate = rate.min(self.max);
            self.pending.push_back(Probe {
                cluster: self.next_cluster,
                rate,
                packets: self.config.packets,
                bytes: rate.over(self.config.duration),
                spacing: self.config.spacing,
            });
            self.next_cluster += 1;
            last = rate;
            if clipped {
                further = false;
                break;
            }
        }
        self.last_probed = now;
        if further {
            self.state = State::Waiting;
            self.further_above = Some(last.scale(self.config.further_share));
        } else {
            self.state = State::Complete;
            self.further_above = None;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn pending(controller: &ProbeController) -> Vec<u64> {
        controller.pending.iter().map(|probe| probe.rate.as_bps() / 1000).collect()
    }

    #[test]
    fn a_call_at_300_kbps_probes_900_and_1800_and_goes_on_while_the_estimate_follows() {
        let mut controller = ProbeController::new(Config::default(), Rate::from_kbps(300));
        controller.on_available(Time::ZERO);
        assert_eq!(pending(&controller), [900, 1800]);
        controller.pending.clear();
        controller.on_estimate(Time::from_millis(200), Rate::from_kbps(1200), false);
        assert_eq!(pending(&controller), [0u64; 0], "not above 0.7 of the last probe");
        controller.on_estimate(Time::from_millis(300), Rate::from_kbps(1700), false);
        assert_eq!(pending(&controller), [3400]);
        controller.on_tick(Time::from_millis(1400));
        controller.pending.clear();
        controller.on_estimate(Time::from_millis(1500), Rate::from_kbps(3300), false);
        assert_eq!(pending(&controller), [0u64; 0], "a second after the last probe it is over");
    }

    #[test]
    fn probes_stop_at_the_maximum() {
        let mut controller = ProbeController::new(Config::default(), Rate::from_kbps(300));
        controller.set_max(Time::ZERO, Rate::from_kbps(1000));
        controller.on_available(Time::ZERO);
        assert_eq!(pending(&controller), [900, 1000]);
        assert_eq!(controller.state, State::Complete);
    }

    #[test]
    fn after_a_large_drop_in_an_application_limited_region_the_old_rate_is_probed_for_once() {
        let mut controller = ProbeController::new(Config::default(), Rate::from_kbps(300));
        controller.on_available(Time::ZERO);
        controller.on_tick(Time::from_millis(1500));
        controller.pending.clear();
        controller.on_estimate(Time::from_millis(9000), Rate::from_kbps(2000), false);
        controller.on_estimate(Time::from_millis(10_000), Rate::from_kbps(500), false);
        assert!(!controller.on_recovered(Time::from_millis(10_500)), "not limited by the application");
        controller.set_alr(Time::from_millis(10_500), Some(Time::from_millis(10_500)));
        assert!(controller.on_recovered(Time::from_millis(10_600)));
        assert_eq!(pending(&controller), [1700]);
        assert!(!controller.on_recovered(Time::from_millis(10_700)));
    }

    #[test]
    fn a_raised_maximum_is_probed_for_in_doublings_while_the_application_limits() {
        let mut controller = ProbeController::new(Config::default(), Rate::from_kbps(300));
        controller.set_max(Time::ZERO, Rate::from_kbps(1000));
        controller.on_available(Time::ZERO);
        controller.pending.clear();
        controller.on_estimate(Time::from_millis(100), Rate::from_kbps(1000), false);
        controller.set_max(Time::from_millis(2000), Rate::from_kbps(1500));
        assert_eq!(pending(&controller), [0u64; 0], "not limited by the application");
        controller.set_alr(Time::from_millis(2500), Some(Time::from_millis(2500)));
        controller.set_max(Time::from_millis(3000), Rate::from_kbps(3000));
        assert_eq!(pending(&controller), [2000]);
        controller.on_estimate(Time::from_millis(3100), Rate::from_kbps(1900), false);
        assert_eq!(pending(&controller), [2000, 3000]);
    }

    #[test]
    fn nothing_is_probed_while_the_path_is_congested_except_by_the_builds_before_october_2023() {
        for (while_congested, expected) in [(false, &[][..]), (true, &[900, 1800])] {
            let config = Config { while_congested, ..Config::default() };
            let mut controller = ProbeController::new(config, Rate::from_kbps(300));
            controller.on_estimate(Time::ZERO, Rate::from_kbps(300), true);
            controller.on_available(Time::ZERO);
            assert_eq!(pending(&controller), expected);
        }
    }

    #[test]
    fn without_a_step_a_raised_maximum_is_probed_as_such_and_at_once() {
        let config = Config { raised_step: None, ..Config::default() };
        let mut controller = ProbeController::new(config, Rate::from_kbps(300));
        controller.set_max(Time::ZERO, Rate::from_kbps(1000));
        controller.on_available(Time::ZERO);
        controller.pending.clear();
        controller.set_max(Time::from_millis(2000), Rate::from_kbps(2500));
        assert_eq!(pending(&controller), [2500]);
    }

    #[test]
    fn a_raised_bound_of_the_application_is_probed_whatever_the_application_sends() {
        let mut controller = ProbeController::new(Config::default(), Rate::from_kbps(300));
        controller.set_max(Time::ZERO, Rate::from_kbps(600));
        controller.on_available(Time::ZERO);
        controller.pending.clear();
        controller.on_estimate(Time::from_millis(100), Rate::from_kbps(600), false);
        controller.set_bound(Time::from_millis(2000), Rate::from_kbps(500));
        assert_eq!(pending(&controller), [0u64; 0]);
        controller.set_bound(Time::from_millis(3000), Rate::from_kbps(3000));
        assert_eq!(pending(&controller), [3000]);
    }

    #[test]
    fn on_another_route_it_begins_anew_with_numbers_that_no_cluster_had() {
        let mut controller = ProbeController::new(Config::default(), Rate::from_kbps(300));
        controller.on_available(Time::ZERO);
        controller.restart(Rate::from_kbps(200));
        controller.on_available(Time::from_millis(5000));
        assert_eq!(pending(&controller), [600, 1200]);
        assert_eq!(controller.pending().map(|probe| probe.cluster), Some(3));
    }
}
