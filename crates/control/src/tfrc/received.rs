//! X_recv: the receive rate in the last few reports (RFC 5348 section 4.3).

use alloc::collections::VecDeque;

use thalweg_units::{Rate, Span, Time};

/// X_recv_set.
#[derive(Debug, Clone, Default)]
pub(super) struct Received(VecDeque<(Time, Rate)>);

impl Received {
    /// The typical case: adds an entry and keeps those of the last two round trips.
    pub(super) fn add(&mut self, now: Time, rate: Rate, rtt: Span) {
        self.0.push_back((now, rate));
        while self.0.len() > 1 && self.0[0].0 + rtt * 2 < now {
            self.0.pop_front();
        }
    }

    /// After a data-limited interval: keeps only the max.
    pub(super) fn keep_greatest(&mut self, now: Time, rate: Rate) {
        let greatest = self.greatest().max(rate);
        self.set(now, greatest);
    }

    /// After a data-limited interval with a loss: halves the old entries and adds `reduced`.
    pub(super) fn halve(&mut self, now: Time, reduced: Rate) {
        self.0.iter_mut().for_each(|(_, rate)| *rate = rate.scale(0.5));
        self.keep_greatest(now, reduced);
    }

    /// Keeps only this entry.
    pub(super) fn set(&mut self, now: Time, rate: Rate) {
        self.0.clear();
        self.0.push_back((now, rate));
    }

    /// The max; zero before the first entry.
    pub(super) fn greatest(&self) -> Rate {
        self.0.iter().map(|(_, rate)| *rate).max().unwrap_or(Rate::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_round_trips_are_remembered_and_limited_ones_leave_the_greatest() {
        let (ms, kbps, rtt) = (Time::from_millis, Rate::from_kbps, Span::from_millis(100));
        let mut received = Received::default();
        received.add(ms(100), kbps(500), rtt);
        received.add(ms(200), kbps(300), rtt);
        received.add(ms(300), kbps(200), rtt);
        assert_eq!(received.greatest(), kbps(500));
        received.add(ms(400), kbps(250), rtt);
        assert_eq!(received.greatest(), kbps(300));
        received.keep_greatest(ms(500), kbps(100));
        assert_eq!(received.greatest(), kbps(300));
        // Half of 300 is less than 170, half of 170 less than 100.
        received.halve(ms(600), kbps(170));
        assert_eq!(received.greatest(), kbps(170));
        received.halve(ms(700), kbps(20));
        assert_eq!(received.greatest(), kbps(85));
    }
}
