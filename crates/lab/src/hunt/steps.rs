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

/// The steps of a kind of link, drawn at random; changes end by `until` seconds.
pub(super) fn drawn(random: &mut Random, until: f64) -> Vec<Step> {
    let base = log_uniform(random, 300.0, 12_000.0);
    let mut steps: Vec<(f64, f64)> = Vec::new();
    match random.below(7) {
        // Steady.
        0 => {}
        // A dip.
        1 => {
            steps.push((base, until * random.between(0.2, 0.6)));
            steps.push((base * log_uniform(random, 0.03, 0.5), log_uniform(random, 1.0, 15.0)));
        }
        // Dips.
        2 => {
            for _ in 0..2 + random.below(3) {
                steps.push((base, until * random.between(0.12, 0.28)));
                steps.push((base * log_uniform(random, 0.05, 0.6), log_uniform(random, 1.0, 6.0)));
            }
        }
        // A ramp.
        3 => {
            let (from, count) = (log_uniform(random, 0.1, 0.5), 4 + random.below(5));
            for number in 0..count {
                let share = 1.0 - number as f64 / count as f64;
                steps.push((base * libm::pow(from, share), until * random.between(0.06, 0.12)));
            }
        }
        // Low, then high.
        4 => steps.push((base * log_uniform(random, 0.03, 0.2), until * random.between(0.2, 0.66))),
        // A saw.
        5 => {
            let lasts = random.between(1.0, 5.0);
            steps.extend((0..10).map(|number| (base * if number % 2 == 0 { 1.0 } else { 0.4 }, lasts)));
        }
        // A walk.
        _ => {
            let mut rate = base;
            for _ in 0..MOST - 1 {
                steps.push((rate, until * random.between(0.04, 0.1)));
                rate *= log_uniform(random, 0.6, 1.65);
            }
            steps.push((rate, 0.0));
            return kept(steps.into_iter().map(Step::from).collect(), until);
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
