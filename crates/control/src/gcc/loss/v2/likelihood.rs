//! The likelihood of a bandwidth and an inherent loss given the observations (libwebrtc `LossBasedBweV2::GetObjective`
//! and `NewtonsMethodUpdate`); rates in kbps.

use super::V2Config;
use super::observations::Observations;

/// Min inherent loss.
const MIN_INHERENT: f64 = 1e-3;
/// Max inherent loss at bandwidth b is `INHERENT_OFFSET + balance / b` (kbps).
const INHERENT_OFFSET: f64 = 0.05;
/// The step size of one Newton step.
const NEWTON_GAIN: f64 = 0.75;
/// Preference for higher bandwidth, linear and logarithmic (bias(b) in the specification).
const BIAS_LINEAR: f64 = 0.0002;
const BIAS_LOG: f64 = 0.02;
const BIAS_SOFTNESS: f64 = 0.002;

/// The logarithm of the likelihood of bandwidth b and inherent loss p, and the preference for bandwidth.
pub(super) fn objective(
    config: &V2Config,
    observations: &Observations,
    bandwidth: f64,
    inherent: f64,
    average_loss: f64,
) -> f64 {
    let bias = bias(config, bandwidth, average_loss);
    observations
        .weighted()
        .map(|(weight, o)| {
            let p = loss_probability(bandwidth, inherent, o.rate);
            weight * (o.lost * libm::log(p) + (o.bytes - o.lost) * libm::log(1.0 - p) + bias * o.bytes)
        })
        .sum()
}

/// The inherent loss after one step towards the most likely value at bandwidth b.
pub(super) fn newton_step(config: &V2Config, observations: &Observations, bandwidth: f64, inherent: f64) -> f64 {
    let inherent = feasible(config, inherent, bandwidth);
    let (mut first, mut second) = (0.0, 0.0);
    for (weight, o) in observations.weighted() {
        let p = loss_probability(bandwidth, inherent, o.rate);
        let arrived = o.bytes - o.lost;
        first += weight * (o.lost / p - arrived / (1.0 - p));
        second -= weight * (o.lost / (p * p) + arrived / ((1.0 - p) * (1.0 - p)));
    }
    if second == 0.0 { inherent } else { feasible(config, inherent - NEWTON_GAIN * first / second, bandwidth) }
}

/// P(b, p; r): the probability that a byte sent at rate r is lost.
fn loss_probability(bandwidth: f64, inherent: f64, rate: f64) -> f64 {
    let excess = if rate > bandwidth { (rate - bandwidth) / rate } else { 0.0 };
    (inherent + (1.0 - inherent) * excess).clamp(1e-6, 1.0 - 1e-6)
}

fn feasible(config: &V2Config, inherent: f64, bandwidth: f64) -> f64 {
    let max = (INHERENT_OFFSET + config.balance / bandwidth.max(1e-9)).min(1.0);
    inherent.clamp(MIN_INHERENT, max.max(MIN_INHERENT))
}

fn bias(config: &V2Config, bandwidth: f64, average_loss: f64) -> f64 {
    let turn = config.turn - average_loss;
    let sign = turn / (BIAS_SOFTNESS + turn.abs());
    sign * (BIAS_LINEAR * bandwidth + BIAS_LOG * libm::log(1.0 + bandwidth))
}

#[cfg(test)]
mod tests {
    use super::super::observations::Observation;
    use super::*;

    #[test]
    fn the_loss_model_and_the_bias_of_the_worked_example_come_out() {
        assert!((loss_probability(1000.0, 0.01, 1500.0) - 0.34).abs() < 1e-9);
        let bias = |average_loss| bias(&V2Config::default(), 1000.0, average_loss);
        assert!((bias(0.1) - 0.3315).abs() < 1e-3, "{}", bias(0.1));
        assert!((bias(0.3) + 0.3315).abs() < 1e-3);
    }

    #[test]
    fn a_tenth_lost_at_1500_kbps_is_best_explained_by_1425() {
        let mut observations = Observations::new(V2Config::default());
        observations.push(Observation { bytes: 50.0, lost: 5.0, rate: 1500.0 });
        for (bandwidth, expected) in [(1425.0, 4.2215), (1350.0, 4.0270), (1500.0, -1.6018), (1530.0, -1.2882)] {
            let score = objective(&V2Config::default(), &observations, bandwidth, 0.01, 0.1);
            assert!((score - expected).abs() < 2e-3, "{bandwidth}: {score}");
        }
    }
}
