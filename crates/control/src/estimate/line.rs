//! A line through the recent points, in whole units.

use alloc::collections::VecDeque;
use core::ops::AddAssign;

use thalweg_units::{Span, Time};

/// The max number of points: the sums of this many, each within [`REACH`], fit their integers.
const MAX_POINTS: usize = 1 << 16;
/// The max distance of a coordinate from the first point's: 9.7 hours in nanoseconds, 4.4 terabytes in bits. Larger
/// distances are clamped.
const REACH: i64 = 1 << 45;

/// The points of a sliding window and the line through them. Sums are kept as integers, so they stay exact however many
/// points were added and removed, and adding a point costs the same for every window.
#[derive(Debug, Clone, Default)]
pub struct Line {
    points: VecDeque<(Time, i64, i64)>,
    sums: Sums,
    /// Coordinates count from the first point, so that clock offsets cost no precision.
    origin: (i64, i64),
}

/// The least-squares line of y over x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// In units of y per unit of x.
    pub slope: f64,
    /// Its standard error, from how far the points lie from the line; infinite for two points, which do not determine
    /// it.
    pub standard_error: f64,
    /// How many points it goes through, at least 2.
    pub points: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    x: i128,
    y: i128,
    xx: i128,
    xy: i128,
    yy: i128,
}

impl Sums {
    fn of_point(x: i64, y: i64) -> Sums {
        let (x, y) = (i128::from(x), i128::from(y));
        Sums { x, y, xx: x * x, xy: x * y, yy: y * y }
    }

    fn negated(self) -> Sums {
        Sums { x: -self.x, y: -self.y, xx: -self.xx, xy: -self.xy, yy: -self.yy }
    }
}

impl AddAssign for Sums {
    fn add_assign(&mut self, other: Sums) {
        self.x += other.x;
        self.y += other.y;
        self.xx += other.xx;
        self.xy += other.xy;
        self.yy += other.yy;
    }
}

impl Line {
    /// Adds a point and removes those older than `window`. Coordinates are whole numbers in the caller's units, such as
    /// bits in flight and nanoseconds of delay.
    pub fn add(&mut self, now: Time, (x, y): (i64, i64), window: Span) {
        if self.points.is_empty() {
            self.origin = (x, y);
        }
        let from = |value: i64, origin: i64| value.saturating_sub(origin).clamp(-REACH, REACH);
        let (x, y) = (from(x, self.origin.0), from(y, self.origin.1));
        self.sums += Sums::of_point(x, y);
        self.points.push_back((now, x, y));
        self.expire(now, window);
    }

    /// Removes points older than `window`.
    pub fn expire(&mut self, now: Time, window: Span) {
        while self.points.front().is_some_and(|(at, _, _)| *at + window <= now) || self.points.len() > MAX_POINTS {
            if let Some((_, x, y)) = self.points.pop_front() {
                self.sums += Sums::of_point(x, y).negated();
            }
        }
    }

    /// The line; `None` if there are fewer than two points or all x are the same.
    pub fn fit(&self) -> Option<Fit> {
        let (n, sums) = (self.points.len() as i128, self.sums);
        // Each is n times the sum about the means.
        let sxx = n * sums.xx - sums.x * sums.x;
        let sxy = (n * sums.xy - sums.x * sums.y) as f64;
        let syy = (n * sums.yy - sums.y * sums.y) as f64;
        if sxx == 0 {
            return None;
        }
        let slope = sxy / sxx as f64;
        let off_the_line = (syy - slope * sxy).max(0.0);
        let standard_error = match n - 2 {
            0 => f64::INFINITY,
            freedom => libm::sqrt(off_the_line / sxx as f64 / freedom as f64),
        };
        Some(Fit { slope, standard_error, points: self.points.len() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::slope;
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    #[test]
    fn two_points_have_a_slope_but_no_error_and_one_or_none_have_no_line() {
        let (mut line, window) = (Line::default(), Span::from_secs(1));
        assert_eq!(line.fit(), None);
        line.add(Time::ZERO, (1, 5), window);
        assert_eq!(line.fit(), None);
        line.add(Time::from_millis(1), (3, 11), window);
        assert_eq!(line.fit(), Some(Fit { slope: 3.0, standard_error: f64::INFINITY, points: 2 }));
        line.expire(Time::from_millis(1000), window);
        assert_eq!(line.fit(), None);
    }

    #[test]
    fn coordinates_from_the_ends_of_their_range_do_no_harm() {
        let mut line = Line::default();
        for (i, point) in
            [(i64::MIN, i64::MAX), (i64::MAX, i64::MIN), (0, 0)].into_iter().cycle().take(70_000).enumerate()
        {
            line.add(Time::from_nanos(i as u64), point, Span::MAX);
        }
        assert!(
            line.fit().is_some_and(|fit| fit.slope < 0.0 && fit.standard_error.is_finite() && fit.points == 1 << 16)
        );
    }

    proptest! {
        #[test]
        fn kept_sums_give_the_line_of_a_rescan(
            points in proptest::collection::vec((0i64..40, -1_000_000i64..1_000_000, -1_000_000i64..1_000_000), 1..150)
        ) {
            let window = Span::from_millis(200);
            let (mut line, mut all, mut now) = (Line::default(), Vec::new(), Time::ZERO);
            for (gap, x, y) in points {
                now += Span::from_millis(gap);
                // A clock far ahead of the other.
                line.add(now, (x, y + (1 << 60)), window);
                all.push((now, x, y));
                let recent: Vec<(f64, f64)> = all.iter().filter(|(at, _, _)| *at + window > now).map(|(_, x, y)| (*x as f64, *y as f64)).collect();
                match (line.fit(), slope(recent.iter().copied())) {
                    (Some(fit), Some(slope)) => {
                        prop_assert!((fit.slope - slope).abs() <= 1e-9 * (1.0 + slope.abs()), "{} {}", fit.slope, slope);
                        prop_assert_eq!(fit.points, recent.len());
                        if recent.len() > 2 {
                            let n = recent.len() as f64;
                            let mean = |of: fn(&(f64, f64)) -> f64| recent.iter().map(of).sum::<f64>() / n;
                            let (mean_x, mean_y) = (mean(|point| point.0), mean(|point| point.1));
                            let sxx: f64 = recent.iter().map(|point| (point.0 - mean_x).powi(2)).sum();
                            let rest: f64 = recent.iter().map(|point| (point.1 - mean_y - slope * (point.0 - mean_x)).powi(2)).sum();
                            let error = (rest / (n - 2.0) / sxx).sqrt();
                            prop_assert!((fit.standard_error - error).abs() <= 1e-6 * (1.0 + error + slope.abs()));
                        }
                    }
                    (fit, slope) => prop_assert!(fit.is_none() && slope.is_none()),
                }
            }
        }
    }
}
