//! PROBE_RTT: bytes in flight are reduced for a short time, so that the queue empties and the min round trip shows.

use thalweg_units::{Bytes, Time};

use super::config;

/// The progress of PROBE_RTT.
#[derive(Debug, Clone, Copy)]
pub(super) struct Probing {
    began_in_round: u64,
    /// The limit on bytes in flight.
    little: Bytes,
    /// Set once bytes in flight are below the limit: the earliest end, and the round that must have ended.
    until: Option<(Time, u64)>,
}

/// The effect of feedback on PROBE_RTT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// No change yet.
    Wait,
    /// Bytes in flight are now below the limit: a round begins.
    Emptied,
    /// PROBE_RTT is over.
    Done,
}

impl Probing {
    pub(super) fn new(round: u64, little: Bytes) -> Probing {
        Probing { began_in_round: round, little, until: None }
    }

    /// The limit on bytes in flight.
    pub(super) fn little(&self) -> Bytes {
        self.little
    }

    /// Processes feedback; `round` is the number of rounds begun.
    pub(super) fn step(&mut self, config: &config::ProbeRtt, now: Time, round: u64, in_flight: Bytes) -> Step {
        match self.until {
            None => {
                let waited = config.timeout.is_some_and(|rounds| round >= self.began_in_round + rounds);
                if in_flight > self.little && !waited {
                    return Step::Wait;
                }
                self.until = Some((now + config.lasting, round));
                Step::Emptied
            }
            Some((until, since)) if now >= until && round > since => Step::Done,
            Some(_) => Step::Wait,
        }
    }

    /// Returns true if PROBE_RTT has lasted long enough, for a sender that restarts with nothing in flight.
    pub(super) fn has_passed(&self, now: Time) -> bool {
        self.until.is_some_and(|(until, _)| now >= until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Span;

    const FOUR: Bytes = Bytes::new(6000);

    #[test]
    fn it_lasts_two_hundred_milliseconds_and_a_round_with_little_in_flight() {
        let config = config::ProbeRtt::default();
        let mut probing = Probing::new(7, FOUR);
        let mut step = |ms, round, bytes| probing.step(&config, Time::from_millis(ms), round, Bytes::new(bytes));
        assert_eq!(step(0, 7, 40_000), Step::Wait);
        assert_eq!(step(900, 30, 6001), Step::Wait, "as published it waits as long as it takes");
        assert_eq!(step(1000, 31, 6000), Step::Emptied);
        assert_eq!(step(1199, 33, 6000), Step::Wait);
        assert_eq!(step(1200, 33, 6000), Step::Done);
        assert_eq!(step(1200, 31, 6000), Step::Wait, "200 ms, but not a round");
    }

    #[test]
    fn timeout_ends_the_wait_for_a_sender_that_does_not_heed_the_window() {
        let config = config::ProbeRtt { timeout: Some(2), lasting: Span::from_millis(1), ..Default::default() };
        let mut probing = Probing::new(7, FOUR);
        let mut step = |ms, round| probing.step(&config, Time::from_millis(ms), round, Bytes::new(40_000));
        assert_eq!(
            [step(0, 7), step(50, 8), step(100, 9), step(150, 10)].map(|step| step == Step::Wait),
            [true, true, false, false]
        );
    }
}
