//! The slope of a line through a few floating-point points.

/// The least-squares slope of y over x, computed in two passes with the means subtracted first; `None` when all x are
/// the same or there are no points. For windows of some twenty points: it scans all points, and carries no rounding
/// error from one window to the next. [`Line`](super::Line) keeps running sums instead, for points in whole units.
pub fn slope(points: impl ExactSizeIterator<Item = (f64, f64)> + Clone) -> Option<f64> {
    let n = points.len() as f64;
    let mean_x = points.clone().map(|point| point.0).sum::<f64>() / n;
    let mean_y = points.clone().map(|point| point.1).sum::<f64>() / n;
    let sxx: f64 = points.clone().map(|point| (point.0 - mean_x) * (point.0 - mean_x)).sum();
    let sxy: f64 = points.map(|point| (point.0 - mean_x) * (point.1 - mean_y)).sum();
    (sxx > 0.0).then(|| sxy / sxx)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_above_one_another_and_no_points_have_no_slope() {
        assert_eq!(slope([(1.0, 2.0), (1.0, 3.0)].into_iter()), None);
        assert_eq!(slope([].into_iter()), None);
    }
}
