//! A bound on a figure, and what values of several runs say about it.

use std::fmt;

use serde::{Deserialize, Serialize};
use thalweg_lab::statistics::estimate;

use crate::measure::Figure;
#[cfg(test)]
use crate::range::range;
use crate::range::{Lies, Range};

/// Where a bound comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// RFC 8867 gives it, or a range that amounts to it.
    Rfc8867,
    /// libwebrtc's test gives it.
    Webrtc,
    /// It is ours: the RFC words an expectation, and this is a number for it (specs/rmcat.md 3).
    Ours,
}

/// Bound on a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// The measured figure.
    pub figure: Figure,
    /// Media flow measured; `None` for several.
    pub flow: Option<usize>,
    /// Within which time, in seconds.
    pub window: (f64, f64),
    /// Outside of this the case fails.
    pub must: Range,
    /// Outside of this it is weak.
    pub should: Range,
    /// Where the bounds come from.
    pub source: Source,
}

impl Bar {
    /// A bar of ours.
    pub fn new(figure: Figure, flow: Option<usize>, window: (f64, f64), must: Range, should: Range) -> Bar {
        Bar { figure, flow, window, must, should, source: Source::Ours }
    }
}

/// Verdict on a bar, or a case, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Every interval is inside.
    Pass,
    /// A `should` bound is missed, or open.
    Weak,
    /// A `must` bound is undecided by the runs.
    Open,
    /// A `must` bound is missed.
    Fail,
}

impl Verdict {
    /// One character: `.` pass, `~` weak, `?` open, `X` fail.
    pub fn mark(self) -> char {
        match self {
            Verdict::Pass => '.',
            Verdict::Weak => '~',
            Verdict::Open => '?',
            Verdict::Fail => 'X',
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Weak => "weak",
            Verdict::Open => "open",
            Verdict::Fail => "fail",
        }
    }
}

/// The values of a bar's figure over seeds, and the verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The bar.
    pub bar: Bar,
    /// By seed; `None` where the figure does not exist.
    pub values: Vec<Option<f64>>,
    /// In how many seeds the phase ended first.
    pub censored: usize,
    /// The mean; `None` without values.
    pub mean: Option<f64>,
    /// The 95 % interval of the mean; of one seed the value twice.
    pub interval: Option<(f64, f64)>,
    /// The verdict; `None` if the figure exists in no seed, such as the rate ratio of one flow.
    pub verdict: Option<Verdict>,
}

impl fmt::Display for Judged {
    /// Such as `rise of flow 1 from 80 s: 11.4 s > 8`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Bar { figure, flow, window, must, should, .. } = &self.bar;
        write!(f, "{}", figure.name())?;
        if let Some(flow) = flow {
            write!(f, " of flow {flow}")?;
        }
        write!(f, " in {}..{} s: ", window.0, window.1)?;
        let Some(mean) = self.mean else { return f.write_str("none") };
        write!(f, "{mean:.2}{}", figure.unit())?;
        if let Some((low, high)) = self.interval.filter(|(low, high)| high > low) {
            write!(f, " [{low:.2}, {high:.2}]")?;
        }
        let (word, range) = match self.verdict {
            Some(Verdict::Fail | Verdict::Open) => ("must", must),
            _ => ("should", should),
        };
        write!(f, ", {word} be {range}")
    }
}

/// Judges the values of one bar, each with whether it is censored.
pub fn judge(bar: &Bar, measured: &[(Option<f64>, bool)]) -> Judged {
    let values: Vec<Option<f64>> = measured.iter().map(|(value, _)| *value).collect();
    let known: Vec<f64> = values.iter().flatten().copied().collect();
    let estimated = estimate(std::slice::from_ref(&known));
    let mean = estimated.map(|estimate| estimate.mean);
    let possible = bar.figure.possible();
    let interval = estimated.map(|estimate| {
        let (low, high) = estimate.interval.unwrap_or((estimate.mean, estimate.mean));
        (low.max(possible.low), high.min(possible.high))
    });
    let censored = measured.iter().filter(|(_, censored)| *censored).count();
    // A phase that ended first says only that it would have taken longer.
    let until = |high: f64| if censored > 0 { f64::INFINITY } else { high };
    let verdict =
        interval.map(|(low, high)| match (bar.must.lies(low, until(high)), bar.should.lies(low, until(high))) {
            (Lies::Outside, _) => Verdict::Fail,
            (Lies::Across, _) => Verdict::Open,
            (Lies::Inside, Lies::Inside) => Verdict::Pass,
            (Lies::Inside, _) => Verdict::Weak,
        });
    Judged { bar: bar.clone(), values, censored, mean, interval, verdict }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(must: Range, should: Range) -> Bar {
        Bar::new(Figure::Use, Some(0), (0.0, 1.0), must, should)
    }

    fn judged(values: &[f64], must: Range, should: Range) -> Judged {
        let values: Vec<(Option<f64>, bool)> = values.iter().map(|value| (Some(*value), false)).collect();
        judge(&bar(must, should), &values)
    }

    /// specs/rmcat.md 13, example 3.
    #[test]
    fn the_worked_interval_holds_within_one_range_and_is_open_against_the_other() {
        let values = [0.91, 0.88, 0.93, 0.90, 0.86, 0.92, 0.89, 0.94, 0.90, 0.87];
        let inside = judged(&values, range(0.7, 1.03), range(0.85, 1.01));
        let (low, high) = inside.interval.unwrap();
        assert!((low - 0.8815).abs() < 1e-3 && (high - 0.9185).abs() < 1e-3, "{low} to {high}");
        assert_eq!(inside.verdict, Some(Verdict::Pass));
        assert_eq!(judged(&values, range(0.89, 1.01), range(0.89, 1.01)).verdict, Some(Verdict::Open));
        assert_eq!(judged(&values, range(0.7, 1.03), range(0.89, 1.01)).verdict, Some(Verdict::Weak));
        assert_eq!(judged(&values, range(0.95, 1.03), range(0.95, 1.01)).verdict, Some(Verdict::Fail));
    }

    /// specs/rmcat.md 13, example 8.
    #[test]
    fn a_share_of_less_than_half_beside_tcp_is_weak() {
        assert_eq!(judged(&[0.4], range(0.186, 1.60), range(0.5, 1.5)).verdict, Some(Verdict::Weak));
    }

    #[test]
    fn a_phase_that_ended_first_leaves_a_bound_beyond_it_open() {
        let bar = Bar::new(Figure::Rise, Some(0), (0.0, 20.0), range(0.2, 21.0), range(0.2, 12.0));
        assert_eq!(judge(&bar, &[(Some(20.0), true)]).verdict, Some(Verdict::Open));
        assert_eq!(judge(&bar, &[(Some(20.0), false)]).verdict, Some(Verdict::Weak));
    }

    #[test]
    fn an_interval_does_not_reach_below_what_a_figure_can_be() {
        let loss = |values: &[f64]| {
            let bar = Bar::new(Figure::Loss, Some(0), (0.0, 1.0), range(0.0, 5.0), range(0.0, 0.5));
            let values: Vec<(Option<f64>, bool)> = values.iter().map(|value| (Some(*value), false)).collect();
            judge(&bar, &values)
        };
        let few = loss(&[0.0, 0.0, 0.1]);
        assert_eq!((few.interval.unwrap().0, few.verdict), (0.0, Some(Verdict::Pass)));
    }

    #[test]
    fn a_figure_that_does_not_exist_has_no_verdict_and_a_bound_is_inside() {
        assert_eq!(judge(&bar(range(0.0, 1.0), range(0.0, 1.0)), &[(None, false)]).verdict, None);
        assert_eq!(judged(&[1.0], range(0.0, 1.0), range(0.0, 1.0)).verdict, Some(Verdict::Pass));
        assert_eq!(range(0.0, f64::INFINITY).ends(), [Some(0.0), None]);
        assert!(range(0.5, 1.0).excess(1.5) > range(0.5, 1.0).excess(0.4));
    }
}
