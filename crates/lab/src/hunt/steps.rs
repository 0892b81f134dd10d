//! Steps of a rate: how they are drawn, and the range that they are kept in.

use serde::{Deserialize, Serialize};
use thalweg_units::Random;

/// A rate and how long it lasts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(from = "(f64, f64)", into = "(f64, f64)")]
pub struct Step {
    /// In kbit/s.
    pub rate_kbps: f64,
    /// In seconds; 0 for the last one, which stays.
    pub lasts_s: f64,
}

impl From<(f64, f64)> for Step {
    fn from((rate_kbps, lasts_s): (f64, f64)) -> Step {
        Step { rate_kbps, lasts_s }
    }
}

impl From<Step> for (f64, f64) {
    fn from(step: Step) -> (f64, f64) {
        (step.rate_kbps, step.lasts_s)
    }
}

/// The most steps, the last one among them.
pub(super) const MOST: usize = 12;
/// Rates, in kbit/s.
pub(super) const RATES: (f64, f64) = (100.0, 20_000.0);
/// Durations, in seconds.
const DURATIONS: (f64, f64) = (0.5, 15.0);

/// Uniform in its logarithm.
pub(super) fn log_uniform(random: &mut Random, low: f64, high: f64) -> f64 {
    libm::exp(random.between(libm::log(low), libm::log(high)))
}

/// A number with three digits: what is read in a file is what was played.
pub(super) fn rounded(value: f64) -> f64 {
    digits(value, 3)
}

/// A number with so many digits.
pub(super) fn digits(value: f64, count: i32) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    let places = count - 1 - libm::floor(libm::log10(value.abs())) as i32;
    let unit = libm::pow(10.0, f64::from(places.abs()));
    if places > 0 { (value * unit).round() / unit } else { (value / unit).round() * unit }
}

/// A kind of link that leaves its rate: how often, for how long it is there before, as a share of the time for changes, its
/// level then, and for how many seconds.
struct Dips {
    times: (u64, u64),
    before: (f64, f64),
    level: (f64, f64),
    lasts_s: (f64, f64),
}

/// One dip, several, a low begin, and a saw.
const DIPS: [Dips; 4] = [
    Dips { times: (1, 1), before: (0.2, 0.6), level: (0.03, 0.5), lasts_s: (1.0, 15.0) },
    Dips { times: (2, 4), before: (0.12, 0.28), level: (0.05, 0.6), lasts_s: (1.0, 6.0) },
    Dips { times: (1, 1), before: (0.0, 0.0), level: (0.03, 0.2), lasts_s: (4.0, 13.0) },
    Dips { times: (5, 5), before: (0.05, 0.1), level: (0.4, 0.5), lasts_s: (1.0, 2.0) },
];

/// How many steps, where they begin, and the factor from one to the next.
type Course = ((u64, u64), f64, (f64, f64));

/// Kinds of link that go from step to step by a factor: how many steps, where they begin, and the factor. A ramp and a walk.
const COURSES: [Course; 2] = [((4, 8), 0.2, (1.1, 1.7)), ((11, 11), 1.0, (0.6, 1.65))];

/// The steps of a link drawn at random: steady or of one of the kinds; changes end by `until` seconds.
pub(super) fn drawn(random: &mut Random, until: f64) -> Vec<Step> {
    let base = log_uniform(random, 300.0, 12_000.0);
    let mut steps: Vec<(f64, f64)> = Vec::new();
    let count = |random: &mut Random, (least, most): (u64, u64)| least + random.below(most - least + 1);
    let kind = random.below(7) as usize;
    if let Some(Dips { times, before, level, lasts_s }) = DIPS.get(kind) {
        for _ in 0..count(random, *times) {
            steps.extend((before.1 > 0.0).then(|| (base, until * random.between(before.0, before.1))));
            let low = base * log_uniform(random, level.0, level.1);
            steps.push((low, log_uniform(random, lasts_s.0, lasts_s.1)));
        }
    } else if let Some((times, begin, factor)) = COURSES.get(kind - DIPS.len()) {
        let mut rate = base * begin;
        for _ in 0..count(random, *times) {
            steps.push((rate, until * random.between(0.04, 0.12)));
            rate *= log_uniform(random, factor.0, factor.1);
        }
    }
    steps.push((base, 0.0));
    kept(steps.into_iter().map(Step::from).collect(), until)
}

/// The same steps with every rate and duration in its range, and all changes over by `until` seconds.
pub(super) fn kept(mut steps: Vec<Step>, until: f64) -> Vec<Step> {
    let fits = (until / DURATIONS.0).floor().max(0.0) as usize;
    // Those nearest to the end decide what is judged.
    steps.drain(..steps.len().saturating_sub(MOST.min(fits + 1)));
    let last = steps.len().saturating_sub(1);
    for (place, step) in steps.iter_mut().enumerate() {
        step.rate_kbps = rounded(step.rate_kbps.clamp(RATES.0, RATES.1));
        step.lasts_s = if place == last { 0.0 } else { rounded(step.lasts_s.clamp(DURATIONS.0, DURATIONS.1)) };
    }
    let total: f64 = steps.iter().map(|step| step.lasts_s).sum();
    if total > until {
        // All above the least by the same share.
        let least = DURATIONS.0 * last as f64;
        let share = (until - least) / (total - least);
        for step in &mut steps[..last] {
            step.lasts_s = ((DURATIONS.0 + (step.lasts_s - DURATIONS.0) * share) * 100.0).floor() / 100.0;
        }
    }
    steps
}

/// When the last of them begins, in seconds.
pub(super) fn end(steps: &[Step]) -> f64 {
    steps.iter().map(|step| step.lasts_s).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_keeps_its_first_digits() {
        assert_eq!(
            [digits(1234.0, 1), digits(0.123_4, 2), digits(99.96, 3), digits(0.0, 2)],
            [1000.0, 0.12, 100.0, 0.0]
        );
    }

    #[test]
    fn steps_that_are_too_many_or_too_long_are_made_to_fit_and_the_last_stays() {
        let long = vec![Step::from((2000.0, 15.0)), Step::from((5.0, 15.0)), Step::from((99_000.0, 3.0))];
        let kept = kept(long, 20.0);
        assert_eq!(kept.iter().map(|step| step.rate_kbps).collect::<Vec<_>>(), [2000.0, 100.0, 20_000.0]);
        assert!(end(&kept) <= 20.0 && end(&kept) > 19.9 && kept[2].lasts_s == 0.0, "{kept:?}");
        let many = vec![Step::from((1000.0, 1.0)); 40];
        assert_eq!(super::kept(many.clone(), 20.0).len(), MOST);
        assert_eq!(super::kept(many, 1.0).len(), 3);
    }
}
