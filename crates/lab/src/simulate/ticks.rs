//! When a camera or a microphone delivers.

use std::collections::VecDeque;

use thalweg_units::{Span, Time};

/// Times from a beginning to an end, without those in pauses: what would come within a pause, and all after it, comes
/// later by the rest of the pause.
#[derive(Debug, Clone)]
pub(super) struct Ticks {
    begin: Time,
    end: Time,
    pauses: VecDeque<(Time, Time)>,
}

impl Ticks {
    /// Without `pauses`, which are in order.
    pub(super) fn new((begin, end): (Time, Time), pauses: &[(Time, Time)]) -> Ticks {
        Ticks { begin, end, pauses: pauses.iter().copied().collect() }
    }

    /// The time that is `after` the beginning, never less than at the call before; never from the end on.
    pub(super) fn at(&mut self, after: Span) -> Time {
        while let Some((from, until)) = self.pauses.front().copied() {
            let at = self.begin + after;
            if at < from {
                break;
            }
            self.begin += (until - at).max(Span::ZERO);
            self.pauses.pop_front();
        }
        let at = self.begin + after;
        if at < self.end { at } else { Time::NEVER }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_that_pauses_goes_on_where_it_stopped() {
        let at = Time::from_millis;
        let mut ticks = Ticks::new((at(100), at(1_000)), &[(at(250), at(400)), (at(500), at(510))]);
        let times: Vec<Time> = (0..8).map(|tick| ticks.at(Span::from_millis(100 * tick))).collect();
        // The third would come at 300, the fourth at 500 and thus 10 ms late.
        assert_eq!(times[..7], [100, 200, 400, 510, 610, 710, 810].map(at));
        assert_eq!((times[7], ticks.at(Span::from_millis(800))), (at(910), Time::NEVER));
    }
}
