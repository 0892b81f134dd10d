//! The rate with the highest likelihood for the observed losses (specs/gcc.md 6.2; libwebrtc `loss_based_bwe_v2.cc`).
//!
//! The model: losses come from an inherent loss rate p and from sending faster than the bandwidth b. With each new
//! observation, a few candidate bandwidths are compared by the likelihood of all recent observations.

mod likelihood;
mod observations;
#[cfg(test)]
mod tests;

use thalweg_units::{Rate, Span, Time};

use super::{Input, LossState};
use likelihood::{newton_step, objective};
use observations::Observations;

/// Candidates, as factors of the current bandwidth.
const CANDIDATES: [f64; 3] = [1.02, 1.0, 0.95];
/// The inherent loss at the start.
const INITIAL_INHERENT: f64 = 0.01;
/// Above this average loss the bandwidth is at most `balance / (loss - INSTANT_OFFSET)` (kbps).
const INSTANT_OFFSET: f64 = 0.05;
/// While loss limits, a new growth bound is set at this interval ...
const WINDOW: Span = Span::from_millis(300);
/// ... at this factor of the current bandwidth, 5 kbps at least (`kCongestionControllerMinBitrate`) ...
const WINDOW_FACTOR: f64 = 1.3;
const MIN_BOUND: f64 = 5.0;
/// ... and growth is bounded to this factor of the acknowledged rate (the smaller one while near the hold rate).
const RAMP_UP: f64 = 1.5;
const RAMP_UP_NEAR_HOLD: f64 = 1.2;
const HOLD_NEAR: f64 = 1.3;
/// A hold after a decrease lasts this long at first; each further hold doubles it, up to the maximum.
const HOLD: Span = Span::from_millis(300);
const MAX_HOLD: Span = Span::from_secs(60);
/// Max time for which padding may probe a new maximum.
const PADDING: Span = Span::from_secs(2);

/// Parameters; what builds since 2023 share is constant.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct V2Config {
    /// Number of observations remembered.
    pub window: usize,
    /// No estimate before this many observations.
    pub min_observations: usize,
    /// How far loss bounds bandwidth and bandwidth inherent loss, in kbps (`InstantUpperBoundBwBalance`,
    /// `InherentLossUpperBoundBwBalance`).
    pub balance: f64,
    /// The average loss at which the preference for higher bandwidth turns around
    /// (`LossThresholdOfHighBandwidthPreference`).
    pub turn: f64,
    /// Loss is counted in packets, not in bytes (until 1f2f5dc, October 2023).
    pub by_packets: bool,
    /// The observations of the most and the least loss do not count for the average (since 0478d3e, August 2024).
    pub without_outliers: bool,
    /// The estimate is bounded by what arrives and by the delay-based rate, grows no faster than the former, holds after
    /// a decrease, and is tried with padding (the commits of October to December 2023).
    pub bounded: bool,
}

impl Default for V2Config {
    fn default() -> V2Config {
        V2Config {
            window: 15,
            min_observations: 3,
            balance: 100.0,
            turn: 0.2,
            by_packets: false,
            without_outliers: true,
            bounded: true,
        }
    }
}

impl V2Config {
    /// The defaults of f42cfc5, of 1 May 2023.
    pub fn of_2023() -> V2Config {
        V2Config {
            window: 20,
            min_observations: 1,
            balance: 75.0,
            turn: 0.15,
            by_packets: true,
            without_outliers: false,
            bounded: false,
        }
    }
}

/// The state of the estimator. Rates inside are in kbps, as the constants expect. Its clock is the sending time of the
/// observed packets.
#[derive(Debug, Clone)]
pub(in super::super) struct LossV2 {
    config: V2Config,
    observations: Observations,
    bandwidth: f64,
    inherent: f64,
    /// The last known acknowledged rate.
    acknowledged: Option<f64>,
    state: LossState,
    /// When growth was bounded, and the bound.
    bound: Option<(Time, f64)>,
    /// End of the hold, and the held rate.
    hold: Option<(Time, f64)>,
    hold_span: Span,
    /// When padding began to probe the highest rate, and that rate.
    padding: Option<(Time, f64)>,
    result: Rate,
}

impl LossV2 {
    pub(super) fn new(config: V2Config, start: Rate) -> LossV2 {
        LossV2 {
            config,
            observations: Observations::new(config),
            bandwidth: start.as_kbps_f64(),
            inherent: INITIAL_INHERENT,
            acknowledged: None,
            state: LossState::DelayBased,
            bound: None,
            hold: None,
            hold_span: HOLD,
            padding: None,
            result: Rate::MAX,
        }
    }

    pub(super) fn update(&mut self, input: &Input<'_>) -> (Rate, LossState) {
        self.acknowledged = input.acknowledged.map(Rate::as_kbps_f64).or(self.acknowledged);
        if self.observations.add(input.reports) {
            if self.observations.len() == 1 {
                (self.bandwidth, self.result) = (input.delay_based.as_kbps_f64(), input.delay_based);
            }
            self.estimate(input);
        }
        if self.observations.len() < self.config.min_observations {
            return (input.delay_based, LossState::DelayBased);
        }
        (self.result.min(input.delay_based), self.state)
    }

    fn estimate(&mut self, input: &Input<'_>) {
        let average_loss = self.observations.average_loss();
        let delay_based = input.delay_based.as_kbps_f64();
        let current = self.bandwidth;
        let (mut bandwidth, inherent) = self.best_candidate(input, average_loss);
        if average_loss > inherent && bandwidth > current {
            bandwidth = current;
        }
        if self.state != LossState::DelayBased {
            bandwidth = self.bounded_growth(bandwidth);
        }
        let upper = if average_loss > INSTANT_OFFSET {
            self.config.balance / (average_loss - INSTANT_OFFSET)
        } else {
            f64::INFINITY
        };
        if !self.config.bounded {
            return self.settle_unbounded(bandwidth, inherent, upper, delay_based);
        }
        let lower = input.min.as_kbps_f64().max(self.acknowledged.unwrap_or(0.0));
        let bounded = lower.max(bandwidth.min(upper).min(delay_based));
        (self.bandwidth, self.inherent) =
            if bounded < bandwidth { (bounded, 0.0) } else { (bandwidth.max(lower), inherent) };
        if !self.hold_back(bounded, lower, delay_based) {
            self.settle(input, bounded, delay_based);
        }
    }

    /// As before October 2023: the best candidate is the estimate, and its bounds apply to the result alone.
    fn settle_unbounded(&mut self, bandwidth: f64, inherent: f64, upper: f64, delay_based: f64) {
        let limited = self.state != LossState::DelayBased;
        let grows = bandwidth > self.bandwidth || (bandwidth == self.bandwidth && self.state == LossState::Increasing);
        self.state = if bandwidth >= delay_based {
            LossState::DelayBased
        } else if limited && grows {
            LossState::Increasing
        } else {
            LossState::Decreasing
        };
        (self.bandwidth, self.inherent) = (bandwidth, inherent);
        self.result = Rate::from_bps_f64(bandwidth.min(upper) * 1e3);
        self.renew_bound();
    }

    /// While loss limits, sets a new bound on growth when the last one is old.
    fn renew_bound(&mut self) {
        let until = self.observations.until();
        if self.state != LossState::DelayBased && self.bound.is_none_or(|(since, _)| since + WINDOW < until) {
            self.bound = Some((until, (WINDOW_FACTOR * self.bandwidth).max(MIN_BOUND)));
        }
    }

    /// The most likely bandwidth, and the inherent loss that goes with it.
    fn best_candidate(&self, input: &Input<'_>, average_loss: f64) -> (f64, f64) {
        let current = self.bandwidth;
        let padded = self.padding.is_some_and(|(since, _)| since + PADDING >= self.observations.until());
        let acknowledged = self.acknowledged.filter(|_| !input.in_alr || padded || !self.config.bounded);
        let delay_based = Some(input.delay_based.as_kbps_f64()).filter(|rate| *rate > current);
        // While loss limits, candidates are capped at the growth bound: one further away would lose against no change.
        let limited = self.bound.filter(|_| self.state != LossState::DelayBased);
        let max = limited.map_or(input.max.as_kbps_f64(), |(_, bound)| bound).max(current);
        let factors = CANDIDATES.iter().map(|factor| factor * current);
        let mut best = (f64::NEG_INFINITY, current, self.inherent);
        for candidate in factors.chain(acknowledged).chain(delay_based).map(|candidate| candidate.min(max)) {
            let inherent = newton_step(&self.config, &self.observations, candidate, self.inherent);
            let score = objective(&self.config, &self.observations, candidate, inherent, average_loss);
            if score > best.0 || (score == best.0 && candidate > best.1) {
                best = (score, candidate, inherent);
            }
        }
        (best.1, best.2)
    }

    /// While loss limits, the growth of the estimate is bounded.
    fn bounded_growth(&self, bandwidth: f64) -> f64 {
        let mut bandwidth = bandwidth;
        if let Some((since, bound)) = self.bound
            && since + WINDOW > self.observations.until()
        {
            bandwidth = bandwidth.min(bound);
        }
        if self.config.bounded
            && bandwidth > self.bandwidth
            && let Some(acknowledged) = self.acknowledged
        {
            let near_hold = self.hold.is_some_and(|(_, rate)| acknowledged < HOLD_NEAR * rate);
            let factor = if near_hold { RAMP_UP_NEAR_HOLD } else { RAMP_UP };
            bandwidth = self.bandwidth.max(bandwidth.min(factor * acknowledged));
            if self.state == LossState::Decreasing {
                // Increased by a minimal amount, so that it counts as increasing.
                bandwidth = bandwidth.max(self.bandwidth + 0.001);
            }
        }
        bandwidth
    }

    /// During a hold, limits the rate to the held rate, which follows the acknowledged rate; returns whether the hold
    /// lasts.
    fn hold_back(&mut self, bounded: f64, lower: f64, delay_based: f64) -> bool {
        let until = self.observations.until();
        match &mut self.hold {
            Some((held_until, rate)) if *held_until > until && bounded < delay_based => {
                *rate = rate.max(lower);
                self.result = Rate::from_bps_f64(rate.min(bounded) * 1e3);
                true
            }
            _ => false,
        }
    }

    fn settle(&mut self, input: &Input<'_>, bounded: f64, delay_based: f64) {
        let until = self.observations.until();
        let result = Rate::from_bps_f64(bounded * 1e3);
        let increasing = self.keeps_increasing(bounded, result);
        self.result = result;
        if bounded >= delay_based || result >= input.max {
            self.state = LossState::DelayBased;
            (self.hold, self.hold_span, self.padding) = (None, HOLD, None);
            return;
        }
        if increasing {
            if self.padding.is_none_or(|(_, highest)| bounded > highest) {
                self.padding = Some((until, bounded));
            }
            self.state = LossState::IncreaseUsingPadding;
        } else {
            if self.state != LossState::Decreasing {
                self.hold = Some((until + self.hold_span, bounded));
                self.hold_span = (self.hold_span * 2).min(MAX_HOLD);
            }
            self.padding = None;
            self.state = LossState::Decreasing;
        }
        self.renew_bound();
    }

    /// Returns true if a loss-limited rate grows, false if it stays constant while padding probes it.
    fn keeps_increasing(&self, bounded: f64, result: Rate) -> bool {
        match self.state {
            LossState::DelayBased | LossState::Increasing => false,
            LossState::Decreasing => result > self.result,
            LossState::IncreaseUsingPadding => {
                let proving = |(since, highest)| since + PADDING >= self.observations.until() || bounded > highest;
                result >= self.result && self.padding.is_some_and(proving)
            }
        }
    }
}
