//! How Prague answers marks (behaviour of L4STeam's `tcp_prague.c` v0.6, specs/l4s.md 3.5). Its window is Reno's.

use thalweg_units::{Span, Time};

/// The gain of alpha in a round trip.
const GAIN: f64 = 1.0 / 16.0;
/// Round trips below this one do not make a flow grow or answer faster.
const VIRTUAL_RTT: Span = Span::from_millis(25);
/// Growth depends on the round trip only from this many round trips on.
const INDEPENDENT_AFTER: u32 = 500;

/// The share of marks.
#[derive(Debug, Clone)]
pub(super) struct Prague {
    alpha: f64,
    /// True once a mark has come: alpha stands still before.
    is_marked: bool,
    /// Marks reported so far.
    reported: u64,
    /// Segments acknowledged since alpha changed, and those of them that were marked.
    acknowledged: f64,
    marked: f64,
    /// The round that runs ends when this byte is acknowledged.
    round_end: u64,
    rounds: u32,
    updated: Time,
    reduced: Option<Time>,
}

/// Effect of an acknowledgement on the window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Answer {
    /// It grows as if this many segments had been acknowledged.
    pub(super) growth: f64,
    /// This share of it is left.
    pub(super) left: Option<f64>,
}

impl Prague {
    pub(super) const fn new() -> Prague {
        Prague {
            alpha: 1.0,
            is_marked: false,
            reported: 0,
            acknowledged: 0.0,
            marked: 0.0,
            round_end: 0,
            rounds: 0,
            updated: Time::ZERO,
            reduced: None,
        }
    }

    /// `segments` were acknowledged, of a window in slow start or not; `marked` is the receiver's count of marks so
    /// far, `round` the first byte that is missing and the next to be sent.
    pub(super) fn on_acknowledged(
        &mut self,
        now: Time,
        segments: f64,
        marked: u64,
        round: (u64, u64),
        rtt: Span,
        is_slow_start: bool,
    ) -> Answer {
        let fresh = (marked.saturating_sub(self.reported) as f64).min(segments);
        self.reported = self.reported.max(marked);
        self.is_marked |= fresh > 0.0;
        self.acknowledged += segments;
        self.marked += fresh;
        let (up_to, next) = round;
        if up_to >= self.round_end {
            self.round_end = next;
            self.rounds = self.rounds.saturating_add(1);
            if now - self.updated >= VIRTUAL_RTT {
                self.update(now);
            }
        }
        let left = (fresh > 0.0 && self.reduced.is_none_or(|at| now - at >= rtt.max(VIRTUAL_RTT))).then(|| {
            self.reduced = Some(now);
            1.0 - self.alpha / 2.0
        });
        let unmarked = segments - fresh;
        Answer { growth: if is_slow_start { unmarked } else { unmarked * self.scale(rtt) }, left }
    }

    fn update(&mut self, now: Time) {
        if self.is_marked && self.acknowledged > 0.0 {
            self.alpha += (self.marked / self.acknowledged - self.alpha) * GAIN;
        }
        (self.acknowledged, self.marked, self.updated) = (0.0, 0.0, now);
    }

    /// Factor on growth, so that a short round trip does not outgrow a long one.
    fn scale(&self, rtt: Span) -> f64 {
        if self.rounds < INDEPENDENT_AFTER {
            return 1.0;
        }
        let ratio = (rtt.as_secs_f64() / VIRTUAL_RTT.as_secs_f64()).min(1.0);
        ratio * ratio
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::from_millis(30);

    #[test]
    fn alpha_follows_the_share_of_marks_as_in_the_worked_example() {
        // specs/l4s.md 3.5.
        let mut prague = Prague { is_marked: true, ..Prague::new() };
        let mut reported = 0;
        let alphas = [0, 0, 25, 25].map(|marked| {
            reported += marked;
            let now = prague.updated + RTT;
            prague.on_acknowledged(now, 100.0, reported, (prague.round_end, 0), RTT, false);
            (prague.alpha * 1e6).round() / 1e6
        });
        assert_eq!(alphas, [0.9375, 0.878906, 0.839600, 0.802750]);
    }

    #[test]
    fn a_mark_is_answered_by_half_of_alpha_once_in_a_round_trip() {
        let mut prague = Prague { alpha: 0.1, ..Prague::new() };
        prague.updated = Time::from_millis(1000);
        let mut left = |ms, marked| prague.on_acknowledged(Time::from_millis(ms), 1.0, marked, (0, 1), RTT, false).left;
        assert_eq!([left(1000, 1), left(1010, 2), left(1030, 2), left(1031, 3)], [Some(0.95), None, None, Some(0.95)]);
        assert_eq!(Prague::new().on_acknowledged(Time::ZERO, 1.0, 1, (0, 1), RTT, true).left, Some(0.5));
    }

    #[test]
    fn after_500_round_trips_short_ones_grow_less() {
        let prague = Prague { rounds: 500, ..Prague::new() };
        let scales = [5, 10, 20, 25, 40].map(|ms| (prague.scale(Span::from_millis(ms)) * 1e4).round() / 1e4);
        assert_eq!(scales, [0.04, 0.16, 0.64, 1.0, 1.0]);
        assert_eq!(Prague::new().scale(Span::from_millis(5)), 1.0);
    }

    #[test]
    fn marked_segments_do_not_make_the_window_grow() {
        let mut prague = Prague::new();
        let answer = prague.on_acknowledged(Time::ZERO, 4.0, 3, (0, 1), RTT, true);
        assert_eq!(answer.growth, 1.0);
    }
}
