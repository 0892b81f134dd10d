//! RTprop: the min round trip of the last ten seconds, and whether it is time to measure it again.

use thalweg_units::{Span, Time};

/// The min filter: a lower sample replaces it at once, any sample once it is old.
#[derive(Debug, Clone)]
pub(super) struct RoundTrip {
    window: Span,
    min: Option<Span>,
    confirmed_at: Time,
}

impl RoundTrip {
    pub(super) fn new(window: Span) -> RoundTrip {
        RoundTrip { window, min: None, confirmed_at: Time::ZERO }
    }

    /// RTprop; `None` before the first sample.
    pub(super) fn get(&self) -> Option<Span> {
        self.min
    }

    /// Takes the min sample of a report. One up to `tolerance` (at least 1) times RTprop confirms it. Returns whether
    /// RTprop was old.
    pub(super) fn add(&mut self, now: Time, rtt: Span, tolerance: f64) -> bool {
        let Some(min) = self.min else {
            self.min = Some(rtt);
            self.confirmed_at = now;
            return false;
        };
        let old = now > self.confirmed_at + self.window;
        if rtt <= min || old {
            self.min = Some(rtt);
            self.confirmed_at = now;
        } else if rtt <= min.scale(tolerance) {
            self.confirmed_at = now;
        }
        old
    }

    /// RTprop was just measured again.
    pub(super) fn confirm(&mut self, now: Time) {
        self.confirmed_at = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(i64) -> Span = Span::from_millis;

    #[test]
    fn a_lower_sample_replaces_it_at_once_and_any_sample_after_ten_seconds() {
        let mut round_trip = RoundTrip::new(Span::from_secs(10));
        let mut add = |at: u64, rtt: i64| (round_trip.add(Time::from_millis(at), MS(rtt), 1.0), round_trip.get());
        assert_eq!(add(1000, 60), (false, Some(MS(60))));
        assert_eq!(add(2000, 50), (false, Some(MS(50))));
        assert_eq!(add(12_000, 80), (false, Some(MS(50))));
        assert_eq!(add(12_001, 80), (true, Some(MS(80))));
    }

    #[test]
    fn with_tolerance_a_sample_near_it_confirms_it() {
        let mut round_trip = RoundTrip::new(Span::from_secs(10));
        round_trip.add(Time::ZERO, MS(50), 1.02);
        assert!(!round_trip.add(Time::from_millis(9000), MS(51), 1.02));
        assert!(!round_trip.add(Time::from_millis(18_000), MS(80), 1.02));
        assert_eq!(round_trip.get(), Some(MS(50)));
    }
}
