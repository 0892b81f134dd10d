//! Curves of quality and time over rate, and how far two are apart.

/// A run of an encoder over a clip.
#[derive(Debug, Clone, Copy)]
pub struct Point {
    /// kbit/s.
    pub rate: f64,
    /// The mean of the frames' PSNR of luma, dB.
    pub psnr: f64,
    /// ms a frame.
    pub time: f64,
}

/// Runs of one encoder, by ascending rate.
#[derive(Debug, Clone, Default)]
pub struct Curve {
    pub points: Vec<Point>,
}

impl Curve {
    pub fn new(mut points: Vec<Point>) -> Self {
        points.sort_by(|a, b| a.rate.total_cmp(&b.rate));
        Self { points }
    }

    /// A value at a rate, on straight lines over the rate's logarithm.
    pub fn at(&self, rate: f64, value: impl Fn(&Point) -> f64) -> f64 {
        let next = self.points.partition_point(|point| point.rate < rate).clamp(1, self.points.len() - 1);
        let (a, b) = (&self.points[next - 1], &self.points[next]);
        let share = (rate / a.rate).ln() / (b.rate / a.rate).ln();
        value(a) + share * (value(b) - value(a))
    }

    /// The mean over the rates (in the logarithm) that both have of a value of this curve and the other.
    pub fn compare(&self, other: &Curve, least: f64, most: f64, value: impl Fn(&Point) -> f64) -> Option<(f64, f64)> {
        let least = self.points.first()?.rate.max(other.points.first()?.rate).max(least);
        let most = self.points.last()?.rate.min(other.points.last()?.rate).min(most);
        if least >= most || self.points.len() < 2 || other.points.len() < 2 {
            return None;
        }
        let steps = 100;
        let rates = (0..=steps).map(|step| least * (most / least).powf(f64::from(step) / f64::from(steps)));
        let (mut ours, mut theirs) = (0.0, 0.0);
        for rate in rates {
            ours += self.at(rate, &value);
            theirs += other.at(rate, &value);
        }
        Some((ours / f64::from(steps + 1), theirs / f64::from(steps + 1)))
    }
}
