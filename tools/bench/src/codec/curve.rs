//! Curves of quality and time over rate, and their differences.

use serde::Serialize;

use super::contenders::Aim;

/// The result of encoding a clip once.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Point {
    pub(crate) kbps: f64,
    /// The mean PSNR of luma over the pictures.
    pub(crate) psnr_db: f64,
    /// CPU time per picture.
    pub(crate) encode_ms: f64,
}

/// The results of one encoder, by ascending rate.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Curve {
    pub(crate) encoder: String,
    pub(crate) aim: Aim,
    pub(crate) points: Vec<Point>,
}

impl Curve {
    pub(crate) fn new(encoder: &str, aim: Aim, mut points: Vec<Point>) -> Curve {
        points.sort_by(|a, b| a.kbps.total_cmp(&b.kbps));
        Curve { encoder: encoder.into(), aim, points }
    }

    /// A value at a rate, by linear interpolation over the logarithm of the rate.
    fn at(&self, kbps: f64, value: &impl Fn(&Point) -> f64) -> f64 {
        let next = self.points.partition_point(|point| point.kbps < kbps).clamp(1, self.points.len() - 1);
        let (a, b) = (&self.points[next - 1], &self.points[next]);
        let share = (kbps / a.kbps).ln() / (b.kbps / a.kbps).ln();
        value(a) + share * (value(b) - value(a))
    }

    /// Rates and values within a range, cut at its limits, to draw.
    pub(crate) fn within(&self, (min, max): (f64, f64), value: &impl Fn(&Point) -> f64) -> Vec<(f64, f64)> {
        let (Some(first), Some(last)) = (self.points.first(), self.points.last()) else { return Vec::new() };
        let (from, to) = (first.kbps.max(min), last.kbps.min(max));
        if self.points.len() < 2 || from >= to {
            return Vec::new();
        }
        let inside = self.points.iter().filter(|point| point.kbps > from && point.kbps < to);
        let inside = inside.map(|point| (point.kbps, value(point)));
        std::iter::once((from, self.at(from, value))).chain(inside).chain([(to, self.at(to, value))]).collect()
    }

    /// The means of a value of this curve and of the other over the rates (in the logarithm) that both have within a
    /// range; `None` if they have none in common.
    pub(crate) fn compare(
        &self,
        other: &Curve,
        (min, max): (f64, f64),
        value: impl Fn(&Point) -> f64,
    ) -> Option<(f64, f64)> {
        const STEPS: i32 = 100;
        let min = self.points.first()?.kbps.max(other.points.first()?.kbps).max(min);
        let max = self.points.last()?.kbps.min(other.points.last()?.kbps).min(max);
        if min >= max || self.points.len() < 2 || other.points.len() < 2 {
            return None;
        }
        let rates = (0..=STEPS).map(|step| min * (max / min).powf(f64::from(step) / f64::from(STEPS)));
        let (mut ours, mut theirs) = (0.0, 0.0);
        for kbps in rates {
            ours += self.at(kbps, &value);
            theirs += other.at(kbps, &value);
        }
        let count = f64::from(STEPS + 1);
        Some((ours / count, theirs / count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: &[(f64, f64)]) -> Curve {
        let points = points.iter().map(|&(kbps, psnr_db)| Point { kbps, psnr_db, encode_ms: 1.0 }).collect();
        Curve::new("one", Aim::Rate, points)
    }

    #[test]
    fn curves_are_compared_over_the_rates_they_share_in_the_logarithm() {
        let ours = curve(&[(1600.0, 40.0), (400.0, 36.0)]);
        let theirs = curve(&[(100.0, 31.0), (6400.0, 43.0)]);
        let (a, b) = ours.compare(&theirs, (1.0, 1e6), |point| point.psnr_db).unwrap();
        assert!((a - 38.0).abs() < 1e-9 && (b - 37.0).abs() < 1e-9, "{a} {b}");
    }

    #[test]
    fn what_is_drawn_is_cut_off_at_the_ends_of_the_range() {
        let curve = curve(&[(100.0, 30.0), (200.0, 32.0), (400.0, 34.0)]);
        let drawn = curve.within((100.0 * 2f64.sqrt(), 1000.0), &|point| point.psnr_db);
        assert_eq!(drawn.len(), 3);
        assert!((drawn[0].1 - 31.0).abs() < 1e-9 && drawn[2] == (400.0, 34.0), "{drawn:?}");
        assert!(curve.within((500.0, 1000.0), &|point| point.psnr_db).is_empty());
    }

    #[test]
    fn curves_that_share_no_rates_are_not_compared() {
        let (low, high) = (curve(&[(100.0, 30.0), (200.0, 31.0)]), curve(&[(300.0, 32.0), (400.0, 33.0)]));
        assert!(low.compare(&high, (1.0, 1e6), |point| point.psnr_db).is_none());
        assert!(low.compare(&low, (250.0, 1e6), |point| point.psnr_db).is_none());
    }
}
