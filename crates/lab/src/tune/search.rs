//! The search: quasi-random starts, then Rosenbrock's steps from the best of them.
//!
//! Without derivatives, because a run is not differentiable, and without randomness beyond the seed. It needs few
//! evaluations and nothing to adjust: each parameter has a step of its own that grows while it leads upwards.

use std::collections::BTreeMap;

use thalweg_units::Seed;

use super::Parameter;

/// Where a search begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Starts {
    /// The seed of the shift of the quasi-random points.
    pub seed: Seed,
    /// Their number.
    pub points: usize,
}

/// The bases of Halton's sequence, one a parameter; beyond these, its points lie in stripes.
const BASES: [u32; 16] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53];

/// The most parameters that can be searched.
pub(super) const MAX_PARAMETERS: usize = BASES.len();

/// The first step, as a share of each range.
const FIRST_STEP: f64 = 0.1;
/// Factor on a step after a success, and after a failure (Rosenbrock 1960, section "Length of step").
const GROWTH: f64 = 3.0;
const REVERSAL: f64 = -0.5;
/// A climb ends when every step is shorter than this share of the range.
const SHORTEST_STEP: f64 = 0.002;
/// Steps in a row that lead to candidates already scored, after which everything near was tried.
const MAX_REPEATS: usize = 10_000;

/// Proposes `evaluations` candidates to `evaluate`, which returns the score of each: the higher, the better. The first
/// is `base`; then come `starts` points of Halton's sequence (Numerische Mathematik 2, 1960) with a random shift (Cranley
/// and Patterson, SIAM Journal on Numerical Analysis 13, 1976), which spread more evenly than random ones; then climbs from
/// the best of all these, the second best and so on, then from further points. A climb tries one
/// parameter after the other, each by its own step:
/// three times longer after a success, half as long and the other way after a failure (Rosenbrock, The Computer Journal
/// 3, 1960, without the rotation of axes). After a round with a success the whole round's move is tried again at once
/// (the pattern move of Hooke and Jeeves, Journal of the ACM 8, 1961), which follows ridges. Fewer candidates are
/// proposed only when there are no more.
///
/// The sequence of candidates depends on nothing but the arguments and the scores: with more evaluations it begins
/// alike.
///
/// # Errors
/// The first error of `evaluate`, at once.
pub fn search<E>(
    parameters: &[Parameter],
    base: &[f64],
    starts: Starts,
    evaluations: usize,
    evaluate: impl FnMut(&[f64]) -> Result<f64, E>,
) -> Result<(), E> {
    let mut search = Search { parameters, evaluate, left: evaluations, known: BTreeMap::new(), repeats: 0 };
    match search.run(base, starts) {
        Ok(()) | Err(Stop::Spent) => Ok(()),
        Err(Stop::Failed(error)) => Err(error),
    }
}

/// Why a search ends.
enum Stop<E> {
    Spent,
    Failed(E),
}

struct Search<'a, F> {
    parameters: &'a [Parameter],
    evaluate: F,
    left: usize,
    /// The scores by the bits of the values: several places may round to the same candidate.
    known: BTreeMap<Vec<u64>, f64>,
    repeats: usize,
}

/// A place in the unit cube and its score.
#[derive(Clone)]
struct Scored {
    place: Vec<f64>,
    score: f64,
}

impl<E, F: FnMut(&[f64]) -> Result<f64, E>> Search<'_, F> {
    fn run(&mut self, base: &[f64], starts: Starts) -> Result<(), Stop<E>> {
        let mut points = halton(self.parameters.len(), starts.seed);
        let mut begun = vec![self.scored(base.to_vec())?];
        for point in points.by_ref().take(starts.points) {
            begun.push(self.scored(point)?);
        }
        // Stable: of equals, the earlier.
        begun.sort_by(|one, other| other.score.total_cmp(&one.score));
        begun.into_iter().try_for_each(|from| self.climb(from))?;
        for point in points {
            let from = self.scored(point)?;
            self.climb(from)?;
        }
        Ok(())
    }

    fn climb(&mut self, mut best: Scored) -> Result<(), Stop<E>> {
        let mut steps = vec![FIRST_STEP; self.parameters.len()];
        while steps.iter().any(|step| step.abs() >= SHORTEST_STEP) {
            let before = best.clone();
            for (number, step) in steps.iter_mut().enumerate() {
                let mut place = best.place.clone();
                place[number] = self.parameters[number].stepped(place[number], *step);
                let tried = self.scored(place)?;
                let is_better = tried.score > best.score;
                if is_better {
                    best = tried;
                }
                *step = (*step * if is_better { GROWTH } else { REVERSAL }).clamp(-1.0, 1.0);
            }
            if best.score > before.score {
                let onwards =
                    best.place.iter().zip(&before.place).map(|(now, then)| (2.0 * now - then).clamp(0.0, 1.0));
                let tried = self.scored(onwards.collect())?;
                if tried.score > best.score {
                    best = tried;
                }
            }
        }
        Ok(())
    }

    /// The score at a place, which is evaluated unless its candidate was already.
    fn scored(&mut self, place: Vec<f64>) -> Result<Scored, Stop<E>> {
        let values: Vec<f64> = self.parameters.iter().zip(&place).map(|(parameter, at)| parameter.value(*at)).collect();
        let bits: Vec<u64> = values.iter().map(|value| value.to_bits()).collect();
        if let Some(&score) = self.known.get(&bits) {
            self.repeats += 1;
            return if self.repeats > MAX_REPEATS { Err(Stop::Spent) } else { Ok(Scored { place, score }) };
        }
        self.left = self.left.checked_sub(1).ok_or(Stop::Spent)?;
        let score = (self.evaluate)(&values).map_err(Stop::Failed)?;
        self.known.insert(bits, score);
        self.repeats = 0;
        Ok(Scored { place, score })
    }
}

/// Halton's points in this many dimensions, each dimension shifted by chance around the unit interval.
fn halton(dimensions: usize, seed: Seed) -> impl Iterator<Item = Vec<f64>> {
    let mut random = seed.child("tune.starts").random();
    let shifts: Vec<f64> = (0..dimensions).map(|_| random.unit()).collect();
    let point = move |index: u32| {
        let each = BASES.iter().zip(&shifts).map(|(base, shift)| (radical_inverse(index, *base) + shift).fract());
        each.collect()
    };
    (1..=u32::MAX).map(point)
}

/// The digits of a number in a base, mirrored at the point.
fn radical_inverse(mut number: u32, base: u32) -> f64 {
    let (mut inverse, mut digit) = (0.0, 1.0 / f64::from(base));
    while number > 0 {
        inverse += f64::from(number % base) * digit;
        number /= base;
        digit /= f64::from(base);
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::Scale;
    use std::convert::Infallible;

    fn space(dimensions: usize) -> Vec<Parameter> {
        let parameter = |number| Parameter {
            path: format!("p{number}"),
            low: 1.0,
            high: 100.0,
            scale: if number % 2 == 0 { Scale::Log } else { Scale::Linear },
            integer: false,
            unit: String::new(),
        };
        (0..dimensions).map(parameter).collect()
    }

    /// The candidates in order with their scores.
    fn tried(
        parameters: &[Parameter],
        seed: u64,
        evaluations: usize,
        score: impl Fn(&[f64]) -> f64,
    ) -> Vec<(Vec<f64>, f64)> {
        let mut tried = Vec::new();
        let starts = Starts { seed: Seed::new(seed), points: 4 * parameters.len() };
        let base = vec![0.1; parameters.len()];
        let done: Result<(), Infallible> = search(parameters, &base, starts, evaluations, |values| {
            tried.push((values.to_vec(), score(values)));
            Ok(score(values))
        });
        done.unwrap();
        tried
    }

    fn best(tried: &[(Vec<f64>, f64)]) -> &(Vec<f64>, f64) {
        tried.iter().max_by(|one, other| one.1.total_cmp(&other.1)).unwrap()
    }

    /// Where each parameter is in its range.
    fn places(parameters: &[Parameter], values: &[f64]) -> Vec<f64> {
        parameters.iter().zip(values).map(|(parameter, value)| parameter.place(*value).unwrap()).collect()
    }

    #[test]
    fn a_bowl_of_five_parameters_is_found_to_a_fiftieth_of_each_range_in_a_hundred_evaluations() {
        let parameters = space(5);
        let aim = [0.2, 0.9, 0.5, 0.35, 0.7];
        let bowl = |values: &[f64]| {
            -places(&parameters, values).iter().zip(aim).map(|(place, aim)| (place - aim).powi(2)).sum::<f64>()
        };
        for seed in 1..=10 {
            let tried = tried(&parameters, seed, 100, bowl);
            let found = places(&parameters, &best(&tried).0);
            assert!(found.iter().zip(aim).all(|(found, aim)| (found - aim).abs() < 0.02), "{seed}: {found:?}");
        }
    }

    #[test]
    fn a_curved_ridge_is_followed() {
        let parameters = space(2);
        // Rosenbrock's valley (1960), upside down, over -2..2 in both directions: its top is at (1, 1).
        let ridge = |values: &[f64]| {
            let place = places(&parameters, values);
            let (x, y) = (4.0 * place[0] - 2.0, 4.0 * place[1] - 2.0);
            -(100.0 * (y - x * x).powi(2) + (1.0 - x).powi(2))
        };
        for seed in 1..=10 {
            let tried = tried(&parameters, seed, 400, ridge);
            assert!(best(&tried).1 > -0.3, "{seed}: {:?}", best(&tried));
        }
    }

    #[test]
    fn an_optimum_at_the_edge_is_reached_and_no_bound_is_passed() {
        let parameters = space(3);
        let tried = tried(&parameters, 1, 100, |values| values[0] - values[1] + values[2]);
        assert!(tried.iter().flat_map(|(values, _)| values).all(|value| (1.0..=100.0).contains(value)));
        assert_eq!(best(&tried).0, [100.0, 1.0, 100.0]);
    }

    #[test]
    fn of_two_hills_the_higher_is_found_though_the_base_stands_on_the_other() {
        let parameters = space(2);
        let hill = |place: &[f64], top: f64| (-place.iter().map(|at| (at - top).powi(2)).sum::<f64>() / 0.05).exp();
        let hills = |values: &[f64]| {
            let place = places(&parameters, values);
            hill(&place, 0.15) + 2.0 * hill(&place, 0.75)
        };
        let found = (1..=10).filter(|seed| best(&tried(&parameters, *seed, 60, hills)).1 > 1.9).count();
        assert!(found >= 9, "{found} of 10");
    }

    #[test]
    fn the_same_seed_gives_the_same_candidates_a_longer_search_begins_alike_and_none_comes_twice() {
        let parameters = space(3);
        let score = |values: &[f64]| -(values[0] - 20.0).abs() - (values[1] - 3.0).abs() - (values[2] - 50.0).abs();
        let long = tried(&parameters, 7, 80, score);
        assert_eq!(long.len(), 80);
        assert_eq!(tried(&parameters, 7, 30, score), long[..30]);
        assert_ne!(tried(&parameters, 8, 30, score), long[..30]);
        let mut values: Vec<&Vec<f64>> = long.iter().map(|(values, _)| values).collect();
        values.sort_by(|one, other| one.partial_cmp(other).unwrap());
        values.dedup();
        assert_eq!(values.len(), 80);
    }

    #[test]
    fn a_small_space_of_integers_is_exhausted_and_the_search_ends() {
        let parameters = [Parameter { integer: true, low: 1.0, high: 4.0, ..space(1).remove(0) }];
        let mut values: Vec<f64> =
            tried(&parameters, 1, 100, |values| values[0]).into_iter().map(|(v, _)| v[0]).collect();
        values.sort_by(f64::total_cmp);
        assert_eq!(values, [1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn an_error_ends_the_search_at_once() {
        let (parameters, mut calls) = (space(2), 0);
        let starts = Starts { seed: Seed::new(1), points: 4 };
        let done = search(&parameters, &[0.5, 0.5], starts, 10, |_| {
            calls += 1;
            if calls == 3 { Err("stopped") } else { Ok(0.0) }
        });
        assert_eq!((done, calls), (Err("stopped"), 3));
    }
}
