//! How B changes: multiplied while the path is far from full, drifting to the fair share of all flows when it is nearly
//! full, lowered to drain.

use thalweg_units::{Bytes, Rate, Span};

use super::Config;

/// Min argument of ln B in Mbps: below it the logarithm is small or negative.
const MIN_LOGARITHM_OF: f64 = 2.0;
/// Min utilisation as a divisor.
const MIN_RATIO: f64 = 0.01;

/// 1 + xi: the factor applied to B at a smoothed utilisation of up to alpha (equations 7 and 8).
pub(super) fn multiplied(ratio: f64, config: &Config) -> f64 {
    let aim = (1.0 + config.threshold) / 2.0;
    (1.0 + config.multiplicative * (aim - ratio) / ratio.max(MIN_RATIO)).min(config.max_multiplied)
}

/// B + A, A = I - gamma_MD B: adds an amount that depends little on B, and subtracts a share of B (equations 9 and 10).
pub(super) fn drifted(rate: Rate, max: Rate, tau: Span, config: &Config) -> Rate {
    let mbps = rate.as_mbps_f64();
    let growth = libm::exp2(tau.as_secs_f64()) / libm::log(mbps.max(MIN_LOGARITHM_OF));
    let addition = (max.as_mbps_f64() + growth) * config.drift / 2.0;
    let bound = config.max_drift * mbps;
    Rate::from_mbps_f64(mbps + (addition - config.drift * mbps).clamp(-bound, bound))
}

/// alpha times the receive rate, minus the rate that drains the bytes in flight within the horizon.
pub(super) fn draining(received: Rate, in_flight: Bytes, config: &Config) -> Rate {
    received.scale(config.threshold).saturating_sub(in_flight.per(config.drain_horizon))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mbps(mbps: f64) -> Rate {
        Rate::from_mbps_f64(mbps)
    }

    #[test]
    fn the_emptier_the_path_the_larger_the_multiplication() {
        let config = Config { max_multiplied: f64::INFINITY, ..Config::default() };
        for (ratio, xi) in [(0.2, 1.0875), (0.5, 0.255), (0.85, 0.02647), (0.7342, 0.0780)] {
            assert!((multiplied(ratio, &config) - 1.0 - xi).abs() < 5e-5, "{ratio}");
        }
        assert_eq!(multiplied(0.2, &Config::default()), 1.5);
        assert!((10.0 * multiplied(0.5, &config) - 12.55).abs() < 1e-9);
    }

    #[test]
    fn the_drift_is_towards_half_of_the_maximum_and_a_bit() {
        let change = |rate: f64, tau: i64| {
            drifted(mbps(rate), mbps(50.0), Span::from_secs(tau), &Config::default()).as_mbps_f64() - rate
        };
        for (rate, tau, expected) in [(20.0, 0, 0.2583), (20.0, 5, 0.517), (30.0, 2, -0.2206)] {
            assert!((change(rate, tau) - expected).abs() < 5e-4, "{rate} {tau}: {}", change(rate, tau));
        }
        // At 2 Mbps it would be 1.2 Mbps.
        assert!((change(2.0, 0) - 0.1).abs() < 1e-6);
    }

    #[test]
    fn a_drain_leaves_room_for_what_is_under_way() {
        let rate = draining(mbps(20.0), Bytes::new(80_000), &Config::default());
        assert!((rate.as_mbps_f64() - 13.8).abs() < 1e-6, "{rate}");
        assert_eq!(draining(mbps(1.0), Bytes::new(80_000), &Config::default()), Rate::ZERO);
    }
}
