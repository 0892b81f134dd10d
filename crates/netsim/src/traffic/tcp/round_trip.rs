//! Round-trip estimation and the retransmission timeout (RFC 6298).

use thalweg_units::Span;

use super::config::ConnectionConfig;

/// Measured round trips.
#[derive(Debug, Clone)]
pub(super) struct RoundTrip {
    smoothed: Option<Span>,
    deviation: Span,
    min: Span,
    /// How often the timeout has been doubled.
    doublings: u32,
}

impl RoundTrip {
    pub(super) fn new() -> RoundTrip {
        RoundTrip { smoothed: None, deviation: Span::ZERO, min: Span::MAX, doublings: 0 }
    }

    /// New data was acknowledged `rtt` after it was sent.
    pub(super) fn on_sample(&mut self, rtt: Span) {
        let rtt = rtt.max(Span::from_nanos(1));
        self.min = self.min.min(rtt);
        self.doublings = 0;
        match self.smoothed {
            None => {
                self.smoothed = Some(rtt);
                self.deviation = rtt / 2;
            }
            Some(smoothed) => {
                self.deviation = (self.deviation * 3 + (smoothed - rtt).abs()) / 4;
                self.smoothed = Some((smoothed * 7 + rtt) / 8);
            }
        }
    }

    /// The smoothed round trip; `None` before the first.
    pub(super) fn smoothed(&self) -> Option<Span> {
        self.smoothed
    }

    /// The min so far; [`Span::MAX`] before the first.
    pub(super) fn min(&self) -> Span {
        self.min
    }

    /// The retransmission timeout, after which everything in flight counts as lost.
    pub(super) fn timeout(&self, config: &ConnectionConfig) -> Span {
        // As in Linux the min applies to the deviation term, not to the sum: with a long but steady queue there would
        // otherwise be no margin between the smoothed round trip and the timeout.
        let once = self
            .smoothed
            .map_or(config.first_timeout, |smoothed| smoothed + (self.deviation * 4).max(config.min_timeout));
        (once * (1 << self.doublings)).min(config.max_timeout)
    }

    /// The timer expired: the next timeout is twice as long.
    pub(super) fn on_timeout(&mut self) {
        // 2^20 times the first timeout exceeds any max timeout.
        self.doublings = (self.doublings + 1).min(20);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timeout_is_the_round_trip_and_four_deviations() {
        let config = ConnectionConfig::default();
        let mut round_trip = RoundTrip::new();
        assert_eq!(round_trip.timeout(&config), Span::from_secs(1));
        round_trip.on_sample(Span::from_millis(200));
        assert_eq!(round_trip.timeout(&config), Span::from_millis(200 + 4 * 100));
        round_trip.on_sample(Span::from_millis(280));
        // Deviation 3/4 * 100 + 1/4 * 80 = 95, smoothed 7/8 * 200 + 1/8 * 280 = 210.
        assert_eq!(round_trip.timeout(&config), Span::from_millis(210 + 4 * 95));
        assert_eq!((round_trip.smoothed(), round_trip.min()), (Some(Span::from_millis(210)), Span::from_millis(200)));
    }

    #[test]
    fn a_steady_round_trip_keeps_200_ms_of_reserve() {
        let mut round_trip = RoundTrip::new();
        (0..200).for_each(|_| round_trip.on_sample(Span::from_millis(4000)));
        assert_eq!(round_trip.timeout(&ConnectionConfig::default()), Span::from_millis(4200));
    }

    #[test]
    fn each_timeout_doubles_the_next_up_to_a_minute_until_something_comes() {
        let config = ConnectionConfig::default();
        let mut round_trip = RoundTrip::new();
        let waits = [1, 2, 4, 8, 16, 32, 60, 60].map(Span::from_secs);
        for wait in waits {
            assert_eq!(round_trip.timeout(&config), wait);
            round_trip.on_timeout();
        }
        round_trip.on_sample(Span::from_millis(100));
        assert_eq!(round_trip.timeout(&config), Span::from_millis(300));
    }
}
