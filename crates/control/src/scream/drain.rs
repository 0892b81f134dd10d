//! A queue that never empties: the path's delay has risen, a clock drifts, or the queue is of the sender's own making.

use thalweg_units::{Span, Time};

use super::DrainConfig;

/// A drain lasts at least this long.
const LEAST: Span = Span::from_millis(100);

/// Watches whether the queue ever empties, and drains it if it does not.
#[derive(Debug, Clone, Default)]
pub(super) struct Drain {
    /// The min queueing delay since a time.
    least: Option<(Time, Span)>,
    /// Its average (`queueDelayMinSlowAvg`).
    average: Span,
    /// When the last drain began; before the first, when the first delay was measured.
    since: Option<Time>,
    draining: bool,
}

impl Drain {
    /// Takes a queueing delay; returns true if a drain has ended, and the delay of the empty path is to be measured anew.
    pub(super) fn on_delay(&mut self, now: Time, queue: Span, srtt: Span, target: Span, config: &DrainConfig) -> bool {
        let since = *self.since.get_or_insert(now);
        let (from, least) = self.least.map_or((now, queue), |(from, least)| (from, least.min(queue)));
        self.least = Some((from, least));
        if now - from > srtt.scale(config.over) {
            self.least = None;
            let gain = if least < self.average { 1.0 } else { config.gain };
            self.average += (least - self.average).scale(gain);
        }
        if self.draining && now - since >= LEAST.max(srtt.scale(config.lasts)) {
            *self = Drain { since: self.since, ..Drain::default() };
            return true;
        }
        if !self.draining && self.average > target.scale(config.above) && now - since > config.interval {
            (self.draining, self.since) = (true, Some(now));
        }
        false
    }

    /// Returns true while the queue is drained.
    pub(super) fn is_draining(&self) -> bool {
        self.draining
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// When drains began and ended, in ms, with a delay every 10 ms for three minutes and a round trip of 50 ms.
    fn drains(queue_ms: impl Fn(u64) -> i64) -> Vec<(bool, u64)> {
        let (mut drain, mut seen) = (Drain::default(), Vec::new());
        let (target, srtt) = (Span::from_millis(60), Span::from_millis(50));
        for at in (0..180_000).step_by(10) {
            let (now, queue) = (Time::from_millis(at), Span::from_millis(queue_ms(at)));
            let before = drain.is_draining();
            let ended = drain.on_delay(now, queue, srtt, target, &DrainConfig::default());
            assert_eq!(ended, before && !drain.is_draining());
            if before != drain.is_draining() {
                seen.push((drain.is_draining(), at));
            }
        }
        seen
    }

    #[test]
    fn a_queue_that_never_empties_is_drained_for_five_round_trips_once_a_minute() {
        let expected = [(true, 60_010), (false, 60_260), (true, 120_020), (false, 120_270)];
        assert_eq!(drains(|_| 80), expected);
        assert_eq!(drains(|at| if at < 55_000 { 0 } else { 80 })[0], (true, 60_230), "after 100 round trips");
    }

    #[test]
    fn a_queue_that_empties_once_in_a_hundred_round_trips_or_is_short_is_left_alone() {
        assert_eq!(drains(|at| if at % 5_000 == 0 { 0 } else { 80 }), []);
        assert_eq!(drains(|_| 7), []);
    }
}
