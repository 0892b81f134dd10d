//! r_ref: how the rate reacts (RFC 8698 section 4.3).

use thalweg_units::{Rate, Span};

use super::RateConfig;

/// The input of a gradual update.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gradual {
    /// x_curr.
    pub(super) signal: Span,
    /// x_prev.
    pub(super) before: Span,
    /// delta: the time since the last update of the rate.
    pub(super) interval: Span,
    /// RMAX.
    pub(super) max: Rate,
    /// r_recv.
    pub(super) received: Rate,
}

impl RateConfig {
    /// gamma: the share by which the rate may exceed the receive rate, such that the queue it causes stays within
    /// QBOUND until the sender can react.
    pub(super) fn gamma(&self, rtt: Span) -> f64 {
        let known_after = rtt + self.delta + self.filter_delay;
        self.queue_bound.ratio(known_after.max(Span::from_nanos(1))).min(self.max_gamma)
    }

    /// Accelerated ramp-up: above the receive rate, and never below the previous rate.
    pub(super) fn ramp_up(&self, rate: Rate, received: Rate, rtt: Span) -> Rate {
        rate.max(received.scale(1.0 + self.gamma(rtt)))
    }

    /// Gradual update: towards the rate whose share of RMAX matches the signal, and against the signal's change.
    pub(super) fn gradual(&self, rate: Rate, by: &Gradual) -> Rate {
        let reference = self.reference.scale(self.priority * by.max.as_bps_f64() / rate.as_bps_f64().max(1.0));
        let offset = (by.signal - reference).ratio(self.tau);
        let change = (by.signal - by.before).ratio(self.tau);
        let interval = by.interval.clamp(Span::ZERO, self.max_interval).ratio(self.tau);
        let moved = rate.scale((1.0 - self.kappa * (interval * offset + self.eta * change)).max(0.0));
        match self.max_of_received {
            Some(times) => moved.min(by.received.scale(times)),
            None => moved,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLENTY: Rate = Rate::from_kbps(1_000_000);

    fn gradual(rate_kbps: u64, signal_ms: i64, before_ms: i64, received: Rate) -> Rate {
        let by = Gradual {
            signal: Span::from_millis(signal_ms),
            before: Span::from_millis(before_ms),
            interval: Span::from_millis(100),
            max: Rate::from_kbps(1500),
            received,
        };
        RateConfig::default().gradual(Rate::from_kbps(rate_kbps), &by)
    }

    #[test]
    fn the_rate_moves_towards_its_share_and_against_the_change_of_the_signal() {
        for (rate, signal, before, after) in
            [(1000, 20, 20, 999_000), (1000, 40, 20, 955_000), (500, 20, 20, 501_000), (1000, 15, 15, 1_000_000)]
        {
            assert_eq!(gradual(rate, signal, before, PLENTY), Rate::from_bps(after), "{rate} {signal} {before}");
        }
    }

    #[test]
    fn outside_of_a_ramp_up_the_rate_is_at_most_twice_what_arrives() {
        assert_eq!(gradual(1000, 15, 15, Rate::from_kbps(300)), Rate::from_kbps(600));
    }

    #[test]
    fn a_long_pause_counts_as_half_a_second() {
        let by = |interval| Gradual {
            signal: Span::from_millis(500),
            before: Span::from_millis(500),
            interval,
            max: Rate::from_kbps(1500),
            received: PLENTY,
        };
        let config = RateConfig::default();
        let after = |interval| config.gradual(Rate::from_kbps(1000), &by(interval));
        assert_eq!(after(Span::from_secs(60)), after(Span::from_millis(500)));
    }

    #[test]
    fn a_ramp_up_asks_for_what_a_queue_of_fifty_milliseconds_pays_for() {
        let config = RateConfig::default();
        for (rtt, gamma) in [(50, 0.18519), (100, 0.15625), (300, 0.09615)] {
            assert!((config.gamma(Span::from_millis(rtt)) - gamma).abs() < 1e-5, "{rtt} ms");
        }
        let ramp_up =
            |rate, received| config.ramp_up(Rate::from_kbps(rate), Rate::from_kbps(received), Span::from_millis(100));
        assert_eq!((ramp_up(300, 800), ramp_up(1000, 800)), (Rate::from_kbps(925), Rate::from_kbps(1000)));
    }
}
