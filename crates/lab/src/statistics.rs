//! Statistics of several runs: means with intervals, and differences between schemes that met the same chances.
//!
//! Runs of one link, video and seed are a pair: each scheme meets the same link and the same random choices there, so
//! the difference within pairs varies less than the schemes do. The intervals are of 95 %.

use thalweg_units::{Seed, percentile};

use crate::metrics::{Summary, mean};

/// A mean and the interval that holds the true mean with 95 % confidence.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// The interval's lower and upper end; `None` for a single value, which says nothing of its chance.
    pub interval: Option<(f64, f64)>,
    /// Number of values.
    pub runs: usize,
}

impl Estimate {
    /// Half the length of the interval.
    pub fn margin(&self) -> Option<f64> {
        self.interval.map(|(low, high)| (high - low) / 2.0)
    }

    /// Returns true if the interval excludes `value`: a difference from it that chance does not explain.
    pub fn excludes(&self, value: f64) -> bool {
        self.interval.is_some_and(|(low, high)| value < low || high < value)
    }
}

/// Two-sided 97.5 % quantiles of Student's t for 1 to 10 degrees of freedom (any table of it, such as NIST/SEMATECH
/// 1.3.6.7.2).
const STUDENT: [f64; 10] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];

/// Two-sided 97.5 % quantile of Student's t; from 11 degrees of freedom on by the first terms of its expansion about
/// the normal one (Abramowitz and Stegun 26.7.5), right to 0.003.
fn student(degrees: usize) -> f64 {
    if let Some(known) = degrees.checked_sub(1).and_then(|place| STUDENT.get(place)) {
        return *known;
    }
    let (z, n) = (1.959_964_f64, degrees as f64);
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    z + first / n + second / (n * n)
}

/// Resamples of a bootstrap.
const RESAMPLES: usize = 2000;

/// The mean of values in cells, such as the seeds of each link and video, each cell counting the same. In one cell
/// the interval is Student's; over several a bootstrap that draws cells, and values within them, with replacement: what
/// other links and other chances might have given.
pub fn estimate(cells: &[Vec<f64>]) -> Option<Estimate> {
    let cells: Vec<&Vec<f64>> = cells.iter().filter(|cell| !cell.is_empty()).collect();
    let runs = cells.iter().map(|cell| cell.len()).sum();
    let interval = match cells[..] {
        [] => return None,
        [one] => spread(one),
        _ => {
            let mut random = Seed::new(1).child("bootstrap").random();
            let mut draw = |of: usize| random.below(of as u64) as usize;
            let mut resample = || {
                let each = (0..cells.len()).map(|_| {
                    let cell = cells[draw(cells.len())];
                    mean((0..cell.len()).map(|_| cell[draw(cell.len())]))
                });
                mean(each.flatten())
            };
            let means: Vec<f64> = (0..RESAMPLES).filter_map(|_| resample()).collect();
            percentile(&means, 0.025).zip(percentile(&means, 0.975))
        }
    };
    let mean = mean(cells.iter().filter_map(|cell| mean(cell.iter().copied())))?;
    Some(Estimate { mean, interval, runs })
}

fn spread(values: &[f64]) -> Option<(f64, f64)> {
    let (mean, deviation) = mean_and_deviation(values)?;
    let margin = student(values.len() - 1) * deviation? / (values.len() as f64).sqrt();
    Some((mean - margin, mean + margin))
}

/// Mean and standard deviation, with n - 1, which a single value has not; `None` of no values.
pub fn mean_and_deviation(values: &[f64]) -> Option<(f64, Option<f64>)> {
    let mean = mean(values.iter().copied())?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let degrees = values.len() - 1;
    Some((mean, (degrees > 0).then(|| (squares / degrees as f64).sqrt())))
}

/// How a number is compared with another scheme's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Against {
    /// The mean of ratios.
    Ratio,
    /// The mean of differences.
    Difference,
}

impl Against {
    /// The value of no difference.
    pub fn unchanged(self) -> f64 {
        match self {
            Against::Ratio => 1.0,
            Against::Difference => 0.0,
        }
    }
}

/// The distinct values, in the order of their first occurrence.
pub fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    values.into_iter().fold(Vec::new(), |mut known, next| {
        if !known.contains(&next) {
            known.push(next);
        }
        known
    })
}

/// Returns true if two runs met the same link, video and seed.
pub fn is_pair(a: &Summary, b: &Summary) -> bool {
    (&a.trace, &a.video, a.seed) == (&b.trace, &b.video, b.seed)
}

/// A link and a video.
pub type Cell<'a> = (&'a str, &'a str);

/// Where a run was played.
pub fn cell_of(run: &Summary) -> Cell<'_> {
    (&run.trace, &run.video)
}

/// The estimate of a number over the runs of a scheme; `None` if it applies to none.
pub fn over(runs: &[&Summary], value: impl Fn(&Summary) -> Option<f64>) -> Option<Estimate> {
    let of = |cell: Cell<'_>| -> Vec<f64> {
        runs.iter().filter(|run| cell_of(run) == cell).filter_map(|run| value(run)).collect()
    };
    estimate(&distinct(runs.iter().map(|run| cell_of(run))).into_iter().map(of).collect::<Vec<_>>())
}

/// The estimate of a number against another scheme's, by pairs of runs with the same link, video and seed; runs
/// without a partner do not count. `None` without any pair.
pub fn paired(
    runs: &[&Summary],
    base: &[&Summary],
    against: Against,
    value: impl Fn(&Summary) -> Option<f64>,
) -> Option<Estimate> {
    let partner = |run: &Summary| base.iter().find(|other| is_pair(other, run));
    let compared = |run: &Summary| {
        let (ours, theirs) = (value(run)?, value(partner(run)?)?);
        match against {
            Against::Difference => Some(ours - theirs),
            Against::Ratio => (theirs > 0.0).then(|| ours / theirs),
        }
    };
    over(runs, compared)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_cell_has_students_interval_and_one_value_none() {
        // Mean 5, deviation 2.138 of eight: margin 2.365 * 2.138 / sqrt(8).
        let found = estimate(&[vec![2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]]).unwrap();
        assert_eq!((found.mean, found.runs), (5.0, 8));
        assert!((found.margin().unwrap() - 1.7877).abs() < 1e-3, "{found:?}");
        assert_eq!(estimate(&[vec![3.0]]), Some(Estimate { mean: 3.0, interval: None, runs: 1 }));
        assert_eq!(estimate(&[vec![]]), None);
    }

    #[test]
    fn quantiles_of_many_degrees_of_freedom_are_those_of_the_tables() {
        for (degrees, table) in [(1, 12.706), (10, 2.228), (11, 2.201), (20, 2.086), (30, 2.042), (120, 1.980)] {
            assert!((student(degrees) - table).abs() < 3e-3, "{degrees}: {}", student(degrees));
        }
    }

    #[test]
    fn several_cells_count_the_same_and_their_interval_covers_what_other_cells_might_give() {
        let cells = [vec![1.0, 1.2, 0.8], vec![2.0, 2.2, 1.8, 2.0], vec![3.0], vec![4.0, 4.1]];
        let found = estimate(&cells).unwrap();
        assert!((found.mean - (1.0 + 2.0 + 3.0 + 4.05) / 4.0).abs() < 1e-12);
        let (low, high) = found.interval.unwrap();
        assert!((1.2..2.0).contains(&low) && (3.0..3.8).contains(&high), "{found:?}");
        assert_eq!(estimate(&cells), Some(found), "the same each time");
    }

    /// Thirty runs of a number that varies by 10, and of one that is 1 more in each pair.
    #[test]
    fn a_difference_that_all_pairs_share_is_seen_though_the_runs_vary_more() {
        let summary = |scheme: &str, seed: u64, value: f64| -> Summary {
            Summary { video_bitrate_bps: value, ..Summary::empty(scheme, "t", seed) }
        };
        let value = |seed: u64| 100.0 + (seed * 7 % 11) as f64;
        let base: Vec<Summary> = (1..=30).map(|seed| summary("a", seed, value(seed))).collect();
        let ours: Vec<Summary> = (1..=30).map(|seed| summary("b", seed, value(seed) + 1.0)).collect();
        let [base, ours]: [Vec<&Summary>; 2] = [base.iter().collect(), ours.iter().collect()];
        let rate = |run: &Summary| Some(run.video_bitrate_bps);
        let alone = |runs: &[&Summary]| over(runs, rate).unwrap().interval.unwrap();
        assert!(alone(&base).1 > alone(&ours).0, "the two intervals overlap");
        let difference = paired(&ours, &base, Against::Difference, rate).unwrap();
        assert!((difference.mean - 1.0).abs() < 1e-12 && difference.excludes(0.0), "{difference:?}");
        let ratio = paired(&ours, &base, Against::Ratio, rate).unwrap();
        assert!(ratio.mean > 1.009 && ratio.excludes(1.0), "{ratio:?}");
        assert_eq!(paired(&ours, &base[..0], Against::Ratio, rate), None);
    }
}
