//! The throughput of a TCP flow at a given round trip and loss event rate (RFC 5348 section 3.1).

use thalweg_units::{Bytes, Rate, Span};

/// Min and max of the loss event rate.
const RATES: (f64, f64) = (1e-9, 1.0);
/// Bisection steps of the search for a loss event rate: enough for nine digits of the logarithm of [`RATES`].
const HALVINGS: u32 = 60;

/// The throughput equation for a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Equation {
    /// s: the mean size of a packet on the wire.
    pub packet: Bytes,
    /// R: the round-trip time.
    pub rtt: Span,
    /// b: packets that one acknowledgement of TCP's covers (1).
    pub per_acknowledgement: f64,
    /// t_RTO in round trips (4).
    pub timeout: f64,
}

impl Equation {
    /// With b = 1 and t_RTO = 4 R, as RFC 5348 recommends.
    pub fn new(packet: Bytes, rtt: Span) -> Equation {
        Equation { packet, rtt, per_acknowledgement: 1.0, timeout: 4.0 }
    }

    /// X_eq at a loss event rate of `p`, clamped to above 0 and at most 1.
    pub fn rate(&self, p: f64) -> Rate {
        let p = p.clamp(RATES.0, RATES.1);
        let rtt = self.rtt.max(Span::from_nanos(1)).as_secs_f64();
        let b = self.per_acknowledgement;
        let timeouts = self.timeout * 3.0 * libm::sqrt(3.0 * b * p / 8.0) * p * (1.0 + 32.0 * p * p);
        Rate::from_bps_f64(8.0 * self.packet.as_f64() / (rtt * (libm::sqrt(2.0 * b * p / 3.0) + timeouts)))
    }

    /// The loss event rate at which [`Equation::rate`] is `rate`, from which the first loss interval is derived.
    pub fn loss_events_for(&self, rate: Rate) -> f64 {
        let (mut low, mut high) = (libm::log(RATES.0), libm::log(RATES.1));
        for _ in 0..HALVINGS {
            let middle = (low + high) / 2.0;
            if self.rate(libm::exp(middle)) > rate {
                low = middle;
            } else {
                high = middle;
            }
        }
        libm::exp((low + high) / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn equation(bytes: u64, rtt_ms: i64) -> Equation {
        Equation::new(Bytes::new(bytes), Span::from_millis(rtt_ms))
    }

    #[test]
    fn the_equation_gives_the_worked_numbers() {
        // specs/tfrc.md, and specs/rrtcc.md 8, example 3.
        for (bytes, rtt_ms, p, bps) in [
            (1000, 100, 0.01, 898_700.0),
            (1000, 100, 0.001, 3_070_700.0),
            (1000, 100, 0.05, 294_900.0),
            (1200, 50, 0.02, 1_406_400.0),
            (1200, 200, 0.05, 176_900.0),
            (1000, 100, 0.02, 585_992.0),
            (1000, 100, 0.12, 109_728.0),
        ] {
            let rate = equation(bytes, rtt_ms).rate(p).as_bps_f64();
            assert!((rate - bps).abs() <= 51.0, "{bytes} B, {rtt_ms} ms, {p}: {rate}, expected {bps}");
        }
    }

    #[test]
    fn the_loss_rate_of_62500_bytes_a_second_makes_a_first_interval_of_39_and_a_half_packets() {
        let p = equation(1000, 100).loss_events_for(Rate::from_kbps(500));
        assert!((p - 0.02529).abs() < 5e-6, "{p}");
        assert!((1.0 / p - 39.5).abs() < 0.05, "{}", 1.0 / p);
    }

    #[test]
    fn nothing_at_all_is_no_division_by_zero() {
        assert!(equation(0, 0).rate(0.0) < Rate::MAX);
        assert!(equation(1000, 0).rate(f64::NAN) < Rate::MAX);
        assert!(equation(1000, 100).loss_events_for(Rate::ZERO) <= 1.0);
    }

    proptest! {
        #[test]
        fn a_rate_and_its_loss_rate_belong_together(
            bytes in 500u64..1500, rtt_ms in 1i64..1000, exponent in -6.0f64..-1.0
        ) {
            let (equation, p) = (equation(bytes, rtt_ms), libm::pow(10.0, exponent));
            let again = equation.loss_events_for(equation.rate(p));
            // A rate is rounded to whole bits per second.
            prop_assert!((again / p - 1.0).abs() < 1e-2, "{} {}", again, p);
        }
    }
}
