//! Experiments whose figures have bounds: what a specification asks of runs, over several seeds.

mod observed;

use std::fmt;
use std::sync::Arc;

use thalweg_netsim::FindTrace;
use thalweg_sender::Scheme;
use thalweg_units::Seed;

pub use observed::{Observed, Window};
use thalweg_lab::scenario::Scenario;
use thalweg_lab::simulate::{Progress, SimulateError, simulate};

/// Runs, and what is asked of their figures.
#[derive(Debug, Clone)]
pub struct Bounded {
    /// Its lines, each of which can be played alone.
    pub lines: Vec<Line>,
    /// Why lines are missed that are, one sentence each.
    pub because: &'static [&'static str],
}

/// Runs that are measured together.
#[derive(Debug, Clone)]
pub struct Line {
    /// The experiment in the specification, and the setting.
    pub name: String,
    /// Runs to play: the first is judged, the others are its references.
    pub parts: Vec<Part>,
    /// Questions to the runs.
    pub asked: Vec<Asked>,
}

/// A run.
#[derive(Debug, Clone)]
pub struct Part {
    /// All that determines it but its seed and scheme.
    pub scenario: Scenario,
    /// The scheme.
    pub scheme: Scheme,
}

/// A figure of runs, and the values that it may have.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Name of the quantity, with its unit.
    pub what: String,
    /// Expectation of the specification, in its words.
    pub expected: &'static str,
    /// The values that meet it.
    pub bound: Bound,
    measure: Measure,
}

/// Calculates a figure from the runs of a line.
type Calculates = dyn Fn(&[Observed]) -> f64 + Send + Sync;

#[derive(Clone)]
struct Measure(Arc<Calculates>);

impl fmt::Debug for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Measure")
    }
}

impl Asked {
    /// A figure that is calculated by `measure` from the runs of its line.
    pub(super) fn new(
        what: impl Into<String>,
        expected: &'static str,
        bound: Bound,
        measure: impl Fn(&[Observed]) -> f64 + Send + Sync + 'static,
    ) -> Asked {
        Asked { what: what.into(), expected, bound, measure: Measure(Arc::new(measure)) }
    }
}

/// The values that meet what is asked; an end that is infinite is none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// The least.
    pub least: f64,
    /// The greatest.
    pub most: f64,
}

impl Bound {
    /// Any value: it is measured and not judged.
    pub const NONE: Bound = Bound { least: f64::NEG_INFINITY, most: f64::INFINITY };

    /// From this value on.
    pub const fn at_least(least: f64) -> Bound {
        Bound { least, ..Bound::NONE }
    }

    /// Up to this value.
    pub const fn at_most(most: f64) -> Bound {
        Bound { most, ..Bound::NONE }
    }

    /// From one value to another.
    pub const fn within(least: f64, most: f64) -> Bound {
        Bound { least, most }
    }

    /// Returns true without any bound.
    pub fn is_none(self) -> bool {
        self == Bound::NONE
    }

    /// Returns true if it allows this value; false for one that could not be measured.
    pub fn holds(self, value: f64) -> bool {
        (self.least..=self.most).contains(&value)
    }

    /// How far a value is beyond it, below 0 inside.
    fn excess(self, value: f64) -> f64 {
        if value.is_nan() { f64::INFINITY } else { (self.least - value).max(value - self.most) }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.least.is_finite(), self.most.is_finite()) {
            (true, true) => write!(f, "{} to {}", self.least, self.most),
            (true, false) => write!(f, "at least {}", self.least),
            (false, true) => write!(f, "at most {}", self.most),
            (false, false) => f.write_str("none"),
        }
    }
}

/// Answer of several seeds to a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    /// The mean over seeds; NaN if a seed has no value.
    pub mean: f64,
    /// The value that is nearest to a bound or farthest beyond it; without a bound the one farthest from the mean.
    pub worst: f64,
    /// True if every seed meets the bound; `None` without a bound.
    pub is_met: Option<bool>,
}

impl Answer {
    /// The answer of these values, one for each seed.
    pub fn of(bound: Bound, values: &[f64]) -> Answer {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let far = |value: f64| if bound.is_none() { (value - mean).abs() } else { bound.excess(value) };
        let worst = values.iter().copied().max_by(|a, b| far(*a).total_cmp(&far(*b))).unwrap_or(f64::NAN);
        let is_met = (!bound.is_none()).then(|| !values.is_empty() && values.iter().all(|value| bound.holds(*value)));
        Answer { mean, worst, is_met }
    }
}

impl Line {
    /// Plays it with this seed; a value for each thing that is asked, NaN where there is none.
    ///
    /// # Errors
    /// When a run fails.
    pub fn play(
        &self,
        seed: Seed,
        find: &mut FindTrace<'_>,
        progress: &mut Progress<'_>,
    ) -> Result<Vec<f64>, SimulateError> {
        let mut runs = Vec::new();
        for Part { scenario, scheme } in &self.parts {
            let scenario = Scenario { seed, ..scenario.clone() };
            let run = simulate(&scenario, scheme, find, progress)?;
            runs.push(Observed::of(run, &scenario));
        }
        Ok(self.asked.iter().map(|asked| (asked.measure.0)(&runs)).collect())
    }

    /// The seconds that are played.
    pub fn seconds(&self) -> f64 {
        self.parts.iter().map(|part| part.scenario.duration.as_secs_f64()).sum()
    }

    /// The scheme that is judged.
    pub fn scheme(&self) -> &str {
        self.parts.first().map_or("", |part| &part.scheme.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_met_when_every_seed_meets_it_and_the_worst_is_the_farthest_beyond() {
        let answer = |bound, values: &[f64]| {
            let Answer { mean, worst, is_met } = Answer::of(bound, values);
            (mean, worst, is_met)
        };
        assert_eq!(answer(Bound::at_most(5.0), &[1.0, 4.0, 2.5]), (2.5, 4.0, Some(true)));
        assert_eq!(answer(Bound::at_least(2.0), &[1.0, 4.0, 2.5]), (2.5, 1.0, Some(false)));
        assert_eq!(answer(Bound::within(0.0, 3.0), &[1.0, 4.0, 2.5]), (2.5, 4.0, Some(false)));
        assert_eq!(answer(Bound::NONE, &[1.0, 4.0, 1.0]), (2.0, 4.0, None));
        assert_eq!(answer(Bound::at_most(5.0), &[]).2, Some(false));
    }

    #[test]
    fn what_could_not_be_measured_meets_nothing() {
        let answer = Answer::of(Bound::at_most(5.0), &[1.0, f64::NAN]);
        assert!(answer.worst.is_nan() && answer.mean.is_nan() && answer.is_met == Some(false));
    }
}
