//! When so many events are late that what a viewer sees is the machine and not the scheme.

use std::collections::VecDeque;

use thalweg_units::{Span, Time};

/// Judged over this many whole seconds: longer than a scene cut or a burst of joins, short enough to see the cause.
pub(super) const SECONDS: u64 = 5;
/// The share of late events from which on the machine is too slow. The headline of all comparisons is the 95th
/// percentile of latency: what concerns fewer than one frame in twenty does not show in it.
const SHARE: f64 = 0.05;
/// Fewer events than this are no sample: one late event would be more than the share. Neither is the first while, in
/// which files are opened and threads begin.
const FEWEST: u64 = 20;
/// GCC takes packets sent within 5 ms for one group (specs/gcc.md 1): packets that leave later than this change what
/// delay-based control measures.
pub(super) const LATE_PACKET: Span = Span::from_millis(5);

/// Late events among all of their kind, by second.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    /// The second of the first event.
    began: Option<u64>,
    /// Second, late events, all events; in order.
    seconds: VecDeque<(u64, u64, u64)>,
}

/// Too many events were late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) late: u64,
    pub(super) all: u64,
}

impl Verdict {
    /// The share of late events in per cent.
    pub(super) fn per_cent(self) -> f64 {
        100.0 * self.late as f64 / self.all as f64
    }
}

impl Tally {
    /// Adds `all` events at `now`, of which `late` were late.
    pub(super) fn add(&mut self, now: Time, late: u64, all: u64) {
        let second = now.as_millis() / 1000;
        self.began.get_or_insert(second);
        match self.seconds.back_mut() {
            Some(last) if last.0 == second => (last.1, last.2) = (last.1 + late, last.2 + all),
            _ => self.seconds.push_back((second, late, all)),
        }
        while self.seconds.front().is_some_and(|first| first.0 + SECONDS < second) {
            self.seconds.pop_front();
        }
    }

    /// Verdict on the whole seconds before `now`: whether too many events were late.
    pub(super) fn verdict(&self, now: Time) -> Option<Verdict> {
        let second = now.as_millis() / 1000;
        if self.began.is_none_or(|began| second < began + SECONDS) {
            return None;
        }
        let counted = self.seconds.iter().filter(|(at, ..)| (at + SECONDS >= second) && *at < second);
        let (late, all) = counted.fold((0, 0), |(late, all), second| (late + second.1, all + second.2));
        (all >= FEWEST && late as f64 > SHARE * all as f64).then_some(Verdict { late, all })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Thirty events a second from `from` to `until` seconds, of which `late` in each second are late.
    fn add(tally: &mut Tally, from: u64, until: u64, late: u64) {
        for second in from..until {
            (0..30)
                .for_each(|event| tally.add(Time::from_millis(second * 1000 + event * 33), u64::from(event < late), 1));
        }
    }

    #[test]
    fn more_than_one_late_event_in_twenty_over_five_seconds_is_too_slow_until_they_have_passed() {
        let at = |tally: &Tally, second: u64| tally.verdict(Time::from_millis(second * 1000));
        let mut tally = Tally::default();
        add(&mut tally, 0, 5, 1);
        assert_eq!(at(&tally, 5), None, "5 of 150 are 3 %");
        add(&mut tally, 5, 7, 2);
        assert_eq!(at(&tally, 7), None, "7 of 150");
        add(&mut tally, 7, 10, 2);
        assert_eq!(at(&tally, 10), Some(Verdict { late: 10, all: 150 }));
        add(&mut tally, 10, 11, 0);
        assert_eq!(at(&tally, 11), Some(Verdict { late: 8, all: 150 }));
        add(&mut tally, 11, 20, 0);
        assert_eq!(at(&tally, 20), None);
        assert!(tally.seconds.len() as u64 <= SECONDS + 1);
    }

    #[test]
    fn few_events_are_no_sample_nor_are_the_first_five_seconds_nor_the_second_that_has_just_begun() {
        let mut tally = Tally::default();
        add(&mut tally, 0, 4, 30);
        assert_eq!(tally.verdict(Time::from_millis(4_900)), None);
        assert_eq!(tally.verdict(Time::from_millis(5_000)), Some(Verdict { late: 120, all: 120 }));
        assert_eq!(tally.verdict(Time::from_millis(9_000)), None, "what is long ago does not count");
        (0..19).for_each(|event| tally.add(Time::from_millis(20_000 + event), 1, 1));
        assert_eq!(tally.verdict(Time::from_millis(21_000)), None);
        tally.add(Time::from_millis(20_999), 1, 1);
        assert_eq!(tally.verdict(Time::from_millis(20_999)), None);
        assert_eq!(tally.verdict(Time::from_millis(21_000)), Some(Verdict { late: 20, all: 20 }));
    }
}
