//! Points made few enough to send along: the lines of several runs as their mean and spread, long ones thinned.

use thalweg_units::percentile;

/// The most cells that a line is divided into: more than a screen has pixels.
const CELLS: usize = 1800;
/// The narrowest cell of a mean over runs, in seconds: the width of a series' bin.
const NARROWEST: f64 = 0.1;
/// The band over several runs.
const BAND: (f64, f64) = (0.05, 0.95);

pub(super) type Point = (f64, f64);

/// A line, with a band around it if it stands for several runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Series {
    pub(super) points: Vec<Point>,
    /// Lower and upper end at each point: 5th and 95th percentile of the runs.
    pub(super) band: Option<Vec<Point>>,
}

/// How a line with too many points is thinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thin {
    /// By its means, as rates are.
    Mean,
    /// By the lowest and the highest point of each cell, so that no outlier is lost.
    Extremes,
}

/// The line over `duration` seconds of one or several runs, each with points in order of time.
pub(super) fn over_time(mut runs: Vec<Vec<Point>>, duration: f64, thin: Thin) -> Series {
    let widest = duration / CELLS as f64;
    if runs.len() > 1 {
        return spread(&runs, widest.max(NARROWEST));
    }
    let points = runs.pop().unwrap_or_default();
    let points = match thin {
        _ if points.len() <= 2 * CELLS => points,
        Thin::Mean => means(&points, widest).into_iter().map(|(cell, mean)| (cell as f64 * widest, mean)).collect(),
        Thin::Extremes => extremes(&points, widest),
    };
    Series { points, band: None }
}

/// The cumulative distribution, in percent, of one or several runs.
pub(super) fn cumulative(mut runs: Vec<Vec<f64>>) -> Series {
    runs.retain(|values| !values.is_empty());
    runs.iter_mut().for_each(|values| values.sort_by(f64::total_cmp));
    let mut all: Vec<f64> = runs.iter().flatten().copied().collect();
    all.sort_by(f64::total_cmp);
    let step = (all.len() / 400).max(1);
    let mut grid: Vec<f64> = all.iter().copied().step_by(step).chain(all.last().copied()).collect();
    grid.dedup();
    let share =
        |values: &[f64], at: f64| 100.0 * values.partition_point(|value| *value <= at) as f64 / values.len() as f64;
    together(grid.into_iter().map(|at| (at, runs.iter().map(|values| share(values, at)).collect())))
}

/// Means over the runs of their means in cells of this width.
fn spread(runs: &[Vec<Point>], width: f64) -> Series {
    let mut cells: Vec<Vec<f64>> = Vec::new();
    for (cell, mean) in runs.iter().flat_map(|points| means(points, width)) {
        if cells.len() <= cell {
            cells.resize(cell + 1, Vec::new());
        }
        cells[cell].push(mean);
    }
    let present = cells.into_iter().enumerate().filter(|(_, values)| !values.is_empty());
    together(present.map(|(cell, values)| (cell as f64 * width, values)))
}

/// A line from each run's value at the same places.
fn together(places: impl Iterator<Item = (f64, Vec<f64>)>) -> Series {
    let mut series = Series::default();
    let mut band = Vec::new();
    let mut several = false;
    for (at, values) in places {
        several |= values.len() > 1;
        series.points.push((at, values.iter().sum::<f64>() / values.len() as f64));
        band.extend(percentile(&values, BAND.0).zip(percentile(&values, BAND.1)));
    }
    series.band = several.then_some(band);
    series
}

/// The mean of each cell of this width that has points.
fn means(points: &[Point], width: f64) -> Vec<(usize, f64)> {
    let cells = points.chunk_by(|a, b| cell(*a, width) == cell(*b, width));
    cells.map(|of| (cell(of[0], width), of.iter().map(|point| point.1).sum::<f64>() / of.len() as f64)).collect()
}

/// The lowest and the highest point of each cell, in order.
fn extremes(points: &[Point], width: f64) -> Vec<Point> {
    let cells = points.chunk_by(|a, b| cell(*a, width) == cell(*b, width));
    cells
        .flat_map(|of| {
            let by = |a: &&Point, b: &&Point| a.1.total_cmp(&b.1);
            let (low, high) = (of.iter().min_by(by).copied(), of.iter().max_by(by).copied());
            let (first, second) = if low.map(|it| it.0) <= high.map(|it| it.0) { (low, high) } else { (high, low) };
            first.into_iter().chain(second.filter(|_| low != high))
        })
        .collect()
}

/// The cell of a point; a time that is a multiple of the width but for rounding begins its cell.
fn cell((at, _): Point, width: f64) -> usize {
    (at / width + 1e-6) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_thinned_and_keeps_its_outliers() {
        let points: Vec<Point> =
            (0..60_000).map(|i| (f64::from(i) / 100.0, if i == 31_415 { 900.0 } else { f64::from(i % 7) })).collect();
        let thinned = over_time(vec![points.clone()], 600.0, Thin::Extremes).points;
        assert!(thinned.len() <= 2 * CELLS && thinned.len() > CELLS, "{}", thinned.len());
        assert!(thinned.contains(&(314.15, 900.0)) && thinned.is_sorted_by(|a, b| a.0 < b.0));
        let means = over_time(vec![points], 600.0, Thin::Mean).points;
        let mean = means.iter().map(|point| point.1).sum::<f64>() / means.len() as f64;
        assert!(means.len() <= CELLS + 1 && (mean - 3.0 - 900.0 / 60_000.0).abs() < 0.01, "{} {mean}", means.len());
    }

    #[test]
    fn a_short_line_is_as_it_was() {
        let points = vec![(0.033, 1.5), (0.067, 2.5), (5.0, 3.5)];
        assert_eq!(over_time(vec![points.clone()], 6.0, Thin::Mean), Series { points, band: None });
    }

    #[test]
    fn several_runs_are_their_mean_with_a_band() {
        let run = |value: f64| vec![(0.01, value), (0.06, value + 2.0), (0.15, value)];
        let series = over_time(vec![run(0.0), run(10.0), run(20.0)], 0.2, Thin::Extremes);
        assert_eq!(series.points, [(0.0, 11.0), (0.1, 10.0)]);
        assert_eq!(series.band, Some(vec![(2.0, 20.0), (1.0, 19.0)]));
    }

    #[test]
    fn a_distribution_ends_at_a_hundred_per_cent() {
        let one = cumulative(vec![vec![3.0, 1.0, 2.0, 2.0]]);
        assert_eq!((one.points, one.band), (vec![(1.0, 25.0), (2.0, 75.0), (3.0, 100.0)], None));
        let two = cumulative(vec![vec![1.0], vec![2.0], vec![]]);
        assert_eq!(two.points, [(1.0, 50.0), (2.0, 100.0)]);
        assert_eq!(two.band.map(|band| band.len()), Some(2));
    }
}
