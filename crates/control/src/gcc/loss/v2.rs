//! The rate that explains the losses best (gcc.md section 6.2; libwebrtc `loss_based_bwe_v2.cc`).
//!
//! Losses come from an inherent loss rate p and from sending faster than the bandwidth b. Each new observation, a few candidate
//! bandwidths are compared by the likelihood of all recent observations.

use alloc::collections::{BTreeMap, VecDeque};

use thalweg_units::{Bytes, Rate, Span, Time};

use super::{Input, LossState};
use crate::feedback::Fate;
use crate::packet::PacketId;

/// An observation is at least this much sending time.
const OBSERVATION: Span = Span::from_millis(250);
/// Observations remembered.
const WINDOW: usize = 15;
/// No estimate before this many.
const MIN_OBSERVATIONS: usize = 3;
/// Weight of an observation against the next newer one.
const TEMPORAL_WEIGHT: f64 = 0.9;
/// Candidates, as factors of the current bandwidth.
const CANDIDATES: [f64; 3] = [1.02, 1.0, 0.95];
/// The inherent loss at the start and its least.
const INITIAL_INHERENT: f64 = 0.01;
const MIN_INHERENT: f64 = 1e-3;
/// The most inherent loss at bandwidth b is `INHERENT_OFFSET + INHERENT_BALANCE / b` (kbps).
const INHERENT_OFFSET: f64 = 0.05;
const INHERENT_BALANCE: f64 = 100.0;
/// How far one Newton step goes.
const NEWTON_GAIN: f64 = 0.75;
/// Preference for higher bandwidth, linear and logarithmic, and the loss at which it turns (bias(b) in the specification).
const BIAS_LINEAR: f64 = 0.0002;
const BIAS_LOG: f64 = 0.02;
const BIAS_TURN: f64 = 0.2;
const BIAS_SOFTNESS: f64 = 0.002;
/// Above this average loss the bandwidth is at most `INSTANT_BALANCE / (loss - INSTANT_OFFSET)` (kbps).
const INSTANT_OFFSET: f64 = 0.05;
const INSTANT_BALANCE: f64 = 100.0;
/// After a decrease, growth is bounded for this long ...
const RECOVERY: Span = Span::from_millis(300);
/// ... to this factor of the bandwidth then ...
const RECOVERY_FACTOR: f64 = 1.3;
/// ... and to this factor of what arrives (the smaller while near the hold rate).
const RAMP_UP: f64 = 1.5;
const RAMP_UP_NEAR_HOLD: f64 = 1.2;
const HOLD_NEAR: f64 = 1.3;
/// A hold after a decrease lasts this long at first and doubles up to the maximum.
const HOLD: Span = Span::from_millis(300);
const MAX_HOLD: Span = Span::from_secs(60);
/// How long padding may prove a new high.
const PADDING: Span = Span::from_secs(2);

#[derive(Debug, Clone, Copy)]
struct Observation {
    bytes: f64,
    lost: f64,
    /// kbps.
    rate: f64,
}

#[derive(Debug, Clone, Default)]
struct Partial {
    bytes: Bytes,
    lost: BTreeMap<PacketId, Bytes>,
}

/// The estimator's state; rates are in kbps and bytes in kB inside, as the constants expect.
#[derive(Debug, Clone)]
pub(in super::super) struct LossV2 {
    observations: VecDeque<Observation>,
    partial: Partial,
    observed_until: Option<Time>,
    bandwidth: f64,
    inherent: f64,
    /// The last acknowledged rate that was known, in kbps.
    acknowledged: Option<f64>,
    state: LossState,
    recovery: Option<(Time, f64)>,
    hold: Option<(Time, Rate)>,
    hold_span: Span,
    padding_until: Time,
    highest: f64,
    result: Rate,
}

impl LossV2 {
    pub(super) fn new(start: Rate) -> LossV2 {
        LossV2 {
            observations: VecDeque::new(),
            partial: Partial::default(),
            observed_until: None,
            bandwidth: start.as_kbps_f64(),
            inherent: INITIAL_INHERENT,
            acknowledged: None,
            state: LossState::DelayBased,
            recovery: None,
            hold: None,
            hold_span: HOLD,
            padding_until: Time::ZERO,
            highest: 0.0,
            result: Rate::MAX,
        }
    }

    pub(super) fn update(&mut self, input: &Input<'_>) -> (Rate, LossState) {
        self.acknowledged = input.acknowledged.map(Rate::as_kbps_f64).or(self.acknowledged);
        if self.observe(input) {
            if self.observations.len() == 1 {
                (self.bandwidth, self.result) = (input.delay_based.as_kbps_f64(), input.delay_based);
            }
            self.estimate(input);
        }
        if self.observations.len() < MIN_OBSERVATIONS {
            return (input.delay_based, LossState::DelayBased);
        }
        (self.result.min(input.delay_based), self.state)
    }

    /// Gathers packets; true when an observation is complete.
    fn observe(&mut self, input: &Input<'_>) -> bool {
        let mut newest = None;
        for report in input.reports {
            newest = newest.max(Some(report.packet.at));
            match report.fate {
                Fate::Lost => {
                    self.partial.bytes += report.packet.size;
                    self.partial.lost.insert(report.packet.id, report.packet.size);
                }
                // What an earlier observation has as lost, or silence wrote off, was not counted in this one.
                Fate::Arrived { .. } => {
                    if self.partial.lost.remove(&report.packet.id).is_none() {
                        self.partial.bytes += report.packet.size;
                    }
                }
            }
        }
        let Some(newest) = newest else { return false };
        let since = *self.observed_until.get_or_insert(newest);
        let span = newest - since;
        if span < OBSERVATION {
            return false;
        }
        let partial = core::mem::take(&mut self.partial);
        self.observed_until = Some(newest);
        if self.observations.len() == WINDOW {
            self.observations.pop_front();
        }
        self.observations.push_back(Observation {
            bytes: partial.bytes.as_f64() / 1e3,
            lost: partial.lost.values().copied().sum::<Bytes>().as_f64() / 1e3,
            rate: partial.bytes.per(span).as_kbps_f64(),
        });
        true
    }

    /// Observations with their weight, newest last.
    fn weighted(&self) -> impl Iterator<Item = (f64, &Observation)> {
        let newest = self.observations.len() as i32 - 1;
        self.observations.iter().enumerate().map(move |(index, observation)| {
            (libm::pow(TEMPORAL_WEIGHT, f64::from(newest - index as i32)), observation)
        })
    }

    /// The average loss without the observations of most and least loss, unless the most was sent at twice the usual rate.
    fn average_loss(&self) -> f64 {
        let share = |observation: &Observation| observation.lost / observation.bytes.max(1e-9);
        let mut skip = (usize::MAX, usize::MAX);
        if self.observations.len() > 3 {
            let index_by = |better: fn(f64, f64) -> bool| {
                let mut best = 0;
                for (index, observation) in self.observations.iter().enumerate() {
                    if better(share(observation), share(&self.observations[best])) {
                        best = index;
                    }
                }
                best
            };
            let (most, least) = (index_by(|a, b| a > b), index_by(|a, b| a < b));
            let mut rates: alloc::vec::Vec<f64> = self.observations.iter().map(|o| o.rate).collect();
            rates.sort_by(f64::total_cmp);
            if self.observations[most].rate < 2.0 * rates[rates.len() / 2] {
                skip = (most, least);
            }
        }
        let (mut lost, mut bytes) = (0.0, 0.0);
        for (index, (weight, observation)) in self.weighted().enumerate() {
            if index != skip.0 && index != skip.1 {
                lost += weight * observation.lost;
                bytes += weight * observation.bytes;
            }
        }
        if bytes > 0.0 { lost / bytes } else { 0.0 }
    }

    fn objective(&self, bandwidth: f64, inherent: f64, average_loss: f64) -> f64 {
        let bias = bias(bandwidth, average_loss);
        self.weighted()
            .map(|(weight, o)| {
                let p = loss_probability(bandwidth, inherent, o.rate);
                weight * (o.lost * libm::log(p) + (o.bytes - o.lost) * libm::log(1.0 - p) + bias * o.bytes)
            })
            .sum()
    }

    fn newton_step(&self, bandwidth: f64, inherent: f64) -> f64 {
        let (mut first, mut second) = (0.0, 0.0);
        for (weight, o) in self.weighted() {
            let p = loss_probability(bandwidth, inherent, o.rate);
            let arrived = o.bytes - o.lost;
            first += weight * (o.lost / p - arrived / (1.0 - p));
            second -= weight * (o.lost / (p * p) + arrived / ((1.0 - p) * (1.0 - p)));
        }
        if second == 0.0 { inherent } else { feasible(inherent - NEWTON_GAIN * first / second, bandwidth) }
    }

    fn estimate(&mut self, input: &Input<'_>) {
        let now = input.now;
        let average_loss = self.average_loss();
        let delay_based = input.delay_based.as_kbps_f64();
        let acknowledged = self.acknowledged;
        let current = self.bandwidth;
        let may_use_acknowledged = !input.in_alr || now < self.padding_until;
        let more = [acknowledged.filter(|_| may_use_acknowledged), Some(delay_based).filter(|rate| *rate > current)];
        let mut best = (f64::NEG_INFINITY, current, self.inherent);
        for candidate in CANDIDATES.iter().map(|factor| factor * current).chain(more.into_iter().flatten()) {
            let inherent = self.newton_step(candidate, feasible(self.inherent, candidate));
            let score = self.objective(candidate, inherent, average_loss);
            if score > best.0 || (score == best.0 && candidate > best.1) {
                best = (score, candidate, inherent);
            }
        }
        let (_, mut bandwidth, inherent) = best;
        if average_loss > inherent && bandwidth > current {
            bandwidth = current;
        }
        if self.state != LossState::DelayBased {
            bandwidth = self.bounded_growth(now, bandwidth, acknowledged);
        }
        let upper = if average_loss > INSTANT_OFFSET {
            INSTANT_BALANCE / (average_loss - INSTANT_OFFSET)
        } else {
            f64::INFINITY
        };
        let lower = input.min.as_kbps_f64().max(acknowledged.unwrap_or(0.0));
        let bounded = lower.max(bandwidth.min(upper).min(delay_based));
        if bounded < bandwidth {
            self.bandwidth = bounded;
            self.inherent = 0.0;
        } else {
            self.bandwidth = bandwidth.max(lower);
            self.inherent = inherent;
        }
        self.settle(input, bounded, delay_based);
    }

    /// Limited by loss, the estimate does not jump.
    fn bounded_growth(&self, now: Time, bandwidth: f64, acknowledged: Option<f64>) -> f64 {
        let mut bandwidth = bandwidth;
        if let Some((marked, at_mark)) = self.recovery
            && now - marked < RECOVERY
        {
            bandwidth = bandwidth.min(RECOVERY_FACTOR * at_mark);
        }
        if bandwidth > self.bandwidth
            && let Some(acknowledged) = acknowledged
        {
            let near_hold = self.hold.is_some_and(|(_, rate)| acknowledged < HOLD_NEAR * rate.as_kbps_f64());
            let factor = if near_hold { RAMP_UP_NEAR_HOLD } else { RAMP_UP };
            bandwidth = self.bandwidth.max(bandwidth.min(factor * acknowledged));
            if self.state == LossState::Decreasing {
                bandwidth = bandwidth.max(self.bandwidth + 0.001);
            }
        }
        bandwidth
    }

    fn settle(&mut self, input: &Input<'_>, bounded: f64, delay_based: f64) {
        let now = input.now;
        if self.state == LossState::Decreasing && self.recovery.is_none_or(|(at, _)| now - at >= RECOVERY) {
            self.recovery = Some((now, bounded));
        }
        let result = Rate::from_bps_f64(bounded * 1e3);
        if let Some((until, rate)) = self.hold
            && now < until
            && bounded < delay_based
        {
            self.state = LossState::Decreasing;
            self.result = rate.min(result);
            return;
        }
        let increasing = self.keeps_increasing(now, bounded, result);
        self.result = result;
        if bounded >= delay_based || result >= input.max {
            self.state = LossState::DelayBased;
            self.hold = None;
            self.hold_span = HOLD;
            self.forget_padding();
        } else if increasing {
            if bounded > self.highest {
                self.highest = bounded;
                self.padding_until = now + PADDING;
            }
            self.state = LossState::IncreaseUsingPadding;
        } else {
            if self.state != LossState::Decreasing {
                self.hold = Some((now + self.hold_span, result));
                self.hold_span = (self.hold_span * 2).min(MAX_HOLD);
            }
            self.forget_padding();
            self.state = LossState::Decreasing;
        }
    }

    /// Whether a rate that loss limits grows, or stays where padding is proving it.
    fn keeps_increasing(&self, now: Time, bounded: f64, result: Rate) -> bool {
        match self.state {
            LossState::DelayBased => false,
            LossState::Decreasing => result > self.result,
            LossState::IncreaseUsingPadding => {
                result >= self.result && (now <= self.padding_until || bounded > self.highest)
            }
        }
    }

    fn forget_padding(&mut self) {
        (self.highest, self.padding_until) = (0.0, Time::ZERO);
    }
}

/// P(b, p; r): the probability that a byte sent at rate r is lost.
fn loss_probability(bandwidth: f64, inherent: f64, rate: f64) -> f64 {
    let excess = if rate > bandwidth { (rate - bandwidth) / rate } else { 0.0 };
    (inherent + (1.0 - inherent) * excess).clamp(1e-6, 1.0 - 1e-6)
}

fn feasible(inherent: f64, bandwidth: f64) -> f64 {
    let most = (INHERENT_OFFSET + INHERENT_BALANCE / bandwidth.max(1e-9)).min(1.0);
    inherent.clamp(MIN_INHERENT, most.max(MIN_INHERENT))
}

fn bias(bandwidth: f64, average_loss: f64) -> f64 {
    let turn = BIAS_TURN - average_loss;
    let sign = turn / (BIAS_SOFTNESS + turn.abs());
    sign * (BIAS_LINEAR * bandwidth + BIAS_LOG * libm::log(1.0 + bandwidth))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loss_model_and_the_bias_of_the_worked_example_come_out() {
        assert!((loss_probability(1000.0, 0.01, 1500.0) - 0.34).abs() < 1e-9);
        assert!((INSTANT_BALANCE / (0.15 - INSTANT_OFFSET) - 1000.0).abs() < 1e-9);
        assert!((bias(1000.0, 0.1) - 0.3315).abs() < 1e-3, "{}", bias(1000.0, 0.1));
        assert!((bias(1000.0, 0.3) + 0.3315).abs() < 1e-3);
    }

    fn input(now: u64, reports: &[crate::feedback::Report], delay_based: u64, acknowledged: Option<u64>) -> Input<'_> {
        Input {
            now: Time::from_millis(now),
            reports,
            delay_based: Rate::from_kbps(delay_based),
            acknowledged: acknowledged.map(Rate::from_kbps),
            in_alr: false,
            min: Rate::from_kbps(30),
            max: Rate::from_kbps(12_000),
            rtt: Span::from_millis(50),
        }
    }

    /// Packets of 1250 bytes, one each 10 ms from `from` ms, of which one in `lost` is lost; 0 loses none.
    fn reports(from: u64, count: u64, lost: u64) -> alloc::vec::Vec<crate::feedback::Report> {
        let one = |index: u64| {
            let at = Time::from_millis(from + 10 * index);
            let packet = crate::packet::SentPacket::new(PacketId(from / 10 + index), at, Bytes::new(1250));
            let gone = lost > 0 && index.is_multiple_of(lost);
            let arrived = Fate::Arrived { at: at + Span::from_millis(25), ce: false, was_lost: false };
            crate::feedback::Report { packet, fate: if gone { Fate::Lost } else { arrived } }
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn a_delay_based_rate_that_rose_counts_from_the_next_observation_on_and_one_that_fell_at_once() {
        let mut v2 = LossV2::new(Rate::from_kbps(300));
        for i in 0..4 {
            v2.update(&input(i * 300, &reports(i * 300, 30, 0), 1000, Some(1000)));
        }
        assert_eq!(v2.update(&input(1200, &reports(1200, 1, 0), 2000, Some(1000))).0, Rate::from_kbps(1000));
        assert_eq!(v2.update(&input(1210, &reports(1210, 1, 0), 800, Some(1000))).0, Rate::from_kbps(800));
        assert_eq!(v2.update(&input(1500, &reports(1220, 28, 0), 2000, Some(1000))).0, Rate::from_kbps(2000));
    }

    #[test]
    fn an_acknowledged_rate_that_is_not_known_for_a_while_is_the_last_that_was() {
        let mut v2 = LossV2::new(Rate::from_kbps(300));
        for i in 0..20 {
            let acknowledged = (i < 10).then_some(900);
            v2.update(&input(i * 300, &reports(i * 300, 30, 3), 1000, acknowledged));
        }
        // A third lost allows 100 / (0.33 - 0.05) = 353 kbps, but not less than what arrives.
        assert_eq!(v2.result, Rate::from_kbps(900));
    }

    #[test]
    fn a_tenth_lost_at_1500_kbps_is_best_explained_by_1425() {
        let mut v2 = LossV2::new(Rate::from_kbps(1500));
        v2.observations.push_back(Observation { bytes: 50.0, lost: 5.0, rate: 1500.0 });
        for (bandwidth, expected) in [(1425.0, 4.2215), (1350.0, 4.0270), (1500.0, -1.6018), (1530.0, -1.2882)] {
            let score = v2.objective(bandwidth, 0.01, 0.1);
            assert!((score - expected).abs() < 2e-3, "{bandwidth}: {score}");
        }
    }
}
