//! The rates that shared encoders may have, and which of them a viewer wants.

use thalweg_units::{Rate, Span, Time};

/// The highest step: what an encoder is asked for at most (`EncoderBounds::max`).
const HIGHEST: Rate = Rate::from_kbps(12_000);
/// Steps in an octave. A controller whose flow is limited by its encoder believes in 1.5 times what is acknowledged (GCC,
/// specs/gcc.md 4): the next step has to lie well below that.
pub(super) const IN_OCTAVE: usize = 4;
/// The number of steps: seven octaves, down to 94 kbps.
pub(super) const COUNT: usize = 7 * IN_OCTAVE + 1;
/// A viewer wants a higher step when its target was this many times its rate for [`RISES_AFTER`].
const MARGIN: f64 = 1.05;
const RISES_AFTER: Span = Span::from_secs(1);
/// A viewer goes down one step when the accumulated deficit (step rate minus target) reaches this time at the target rate:
/// at half the step's rate after a second, at 85 % of it after six. Until then frames are left out.
///
/// A controller that is limited by its encoder backs off to a part of the *encoder's* rate (GCC: 85 % of what is
/// acknowledged, specs/gcc.md 4), however much its path bears, and grows back in two or three seconds. Where such a dip made
/// a viewer want less, dips of a few viewers took an encoder down for all, whose own dips then began below that: with one in
/// ten seconds at each, to the lowest step.
const SHORT_FOR: Span = Span::from_secs(1);

/// The rate of a step; 0 is the lowest.
pub(super) fn rate(step: usize) -> Rate {
    let octaves = (COUNT - 1 - step.min(COUNT - 1)) as f64 / IN_OCTAVE as f64;
    HIGHEST.scale((-octaves).exp2())
}

/// The highest step whose rate is not above `target`; the lowest if all are.
pub(super) fn below(target: Rate) -> usize {
    (0..COUNT).rev().find(|step| rate(*step) <= target).unwrap_or(0)
}

/// The step that a viewer wants. It follows the viewer's target with hysteresis.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wanted {
    step: usize,
    /// Since when its target is above, and the step that it was never below since.
    rises: Option<(Time, usize)>,
    /// While its target is below, what it fell short of in seconds of itself, and the step that it was never above since.
    falls: Option<(f64, usize)>,
    updated: Option<Time>,
}

impl Wanted {
    /// Starts with the wish of a viewer with this target.
    pub(super) fn new(target: Rate) -> Wanted {
        Wanted { step: below(target), rises: None, falls: None, updated: None }
    }

    pub(super) fn step(&self) -> usize {
        self.step
    }

    /// The viewer's target is now this.
    pub(super) fn update(&mut self, now: Time, target: Rate) {
        let (bears, surely) = (below(target), below(target.scale(1.0 / MARGIN)));
        self.rises = (surely > self.step).then(|| match self.rises {
            Some((since, least)) => (since, least.min(surely)),
            None => (now, surely),
        });
        let passed = self.updated.map_or(0.0, |updated| (now - updated).as_secs_f64());
        self.updated = Some(now);
        let short = passed * (rate(self.step).as_bps_f64() / target.as_bps_f64().max(1.0) - 1.0);
        self.falls = (bears < self.step).then(|| match self.falls {
            Some((sum, most)) => (sum + short, most.max(bears)),
            None => (short, bears),
        });
        let risen = self.rises.filter(|(since, _)| now - *since >= RISES_AFTER).map(|(_, least)| least);
        let fallen = self.falls.filter(|(sum, _)| *sum >= SHORT_FOR.as_secs_f64()).map(|(_, most)| most);
        if let Some(step) = risen.or(fallen) {
            (self.step, self.rises, self.falls) = (step, None, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_a_quarter_of_an_octave_apart_up_to_what_encoders_are_asked_for() {
        assert_eq!((rate(COUNT - 1), rate(COUNT - 5)), (Rate::from_kbps(12_000), Rate::from_kbps(6_000)));
        assert_eq!(rate(0), Rate::from_bps(93_750));
        assert!((1..COUNT).all(|step| rate(step) > rate(step - 1)));
        assert_eq!((below(Rate::from_kbps(6_100)), below(Rate::ZERO)), (COUNT - 5, 0));
    }

    /// The steps that a viewer wants, whose target is each of these kbps for some milliseconds, sampled every 250 ms.
    fn wanted(targets: &[(u64, u64)]) -> Vec<usize> {
        let (mut now, mut steps) = (Time::ZERO, Vec::new());
        let mut wanted = Wanted::new(Rate::from_kbps(targets[0].0));
        for (kbps, millis) in targets {
            for _ in 0..millis / 250 {
                now += Span::from_millis(250);
                wanted.update(now, Rate::from_kbps(*kbps));
            }
            steps.push(wanted.step());
        }
        steps
    }

    #[test]
    fn a_viewer_rises_after_a_second_to_what_it_had_in_all_of_it() {
        let (low, middle, high) = (COUNT - 9, COUNT - 5, COUNT - 1);
        assert_eq!(wanted(&[(3_100, 500), (13_000, 1_000), (13_000, 250)]), [low, low, high]);
        assert_eq!(wanted(&[(3_100, 500), (13_000, 500), (6_400, 750)]), [low, low, middle]);
        // Less than the margin above a step, and again below it.
        assert_eq!(wanted(&[(5_900, 500), (6_100, 9_000), (5_900, 9_000)]), [COUNT - 6; 3]);
    }

    #[test]
    fn a_viewer_falls_when_it_was_short_of_a_second_of_its_target_and_not_by_a_dip() {
        let (low, middle, high) = (COUNT - 9, COUNT - 5, COUNT - 1);
        assert_eq!(wanted(&[(13_000, 500), (3_100, 250), (3_100, 250)]), [high, high, low]);
        assert_eq!(wanted(&[(13_000, 500), (6_100, 1_000), (6_100, 250)]), [high, high, middle]);
        assert_eq!(wanted(&[(13_000, 500), (3_100, 250), (13_000, 500)]), [high, high, high]);
        // Back-offs of GCC.
        assert_eq!(wanted(&[(13_000, 500), (10_200, 5_000), (13_000, 500), (10_200, 5_000)]), [high; 4]);
        assert_eq!(wanted(&[(13_000, 500), (10_200, 7_000)]), [high, high - 1]);
    }
}
