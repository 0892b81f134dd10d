//! Delay against quality: one point per scheme, better towards the upper right.

/// A chart of SSIM over delay, with a reversed delay axis as in Salsify's figures.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scatter {
    /// The title.
    pub title: String,
    /// The points.
    pub points: Vec<ScatterPoint>,
}

/// A scheme in a [`Scatter`].
#[derive(Debug, Clone, PartialEq)]
pub struct ScatterPoint {
    /// Its name.
    pub label: String,
    /// 95th percentile of its frame latency, in ms.
    pub delay_ms: f64,
    /// Its SSIM, in dB.
    pub ssim_db: f64,
    /// 5th and 95th percentile of the SSIM of its frames, in dB.
    pub ssim_range_db: Option<(f64, f64)>,
    /// The scheme whose colour it has; `None` for one that was not run here.
    pub scheme: Option<String>,
    /// True if it was run here; published results are drawn as hollow points.
    pub ours: bool,
}

impl ScatterPoint {
    /// Returns true if it is no worse than the other in both respects, and better in one.
    pub fn is_better(&self, other: &ScatterPoint) -> bool {
        let (delay, ssim) = (self.delay_ms - other.delay_ms, self.ssim_db - other.ssim_db);
        delay <= 0.0 && ssim >= 0.0 && (delay < 0.0 || ssim > 0.0)
    }
}

/// The Pareto front of our own points, in order of increasing delay.
pub(super) fn front(points: &[ScatterPoint]) -> Vec<&ScatterPoint> {
    let ours = || points.iter().filter(|point| point.ours);
    let mut front: Vec<_> = ours().filter(|point| !ours().any(|other| other.is_better(point))).collect();
    front.sort_by(|a, b| a.delay_ms.total_cmp(&b.delay_ms));
    front
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(label: &str, delay_ms: f64, ssim_db: f64, ours: bool) -> ScatterPoint {
        ScatterPoint { label: label.into(), delay_ms, ssim_db, ssim_range_db: None, scheme: None, ours }
    }

    #[test]
    fn the_front_is_what_of_ours_is_beaten_by_nothing_of_ours_on_both() {
        let points = [
            point("slow and good", 3000.0, 17.0, true),
            point("quick", 150.0, 14.0, true),
            point("beaten", 200.0, 13.0, true),
            point("between", 400.0, 15.0, true),
            point("not ours", 10.0, 30.0, false),
        ];
        let names: Vec<&str> = front(&points).into_iter().map(|point| point.label.as_str()).collect();
        assert_eq!(names, ["quick", "between", "slow and good"]);
    }
}
