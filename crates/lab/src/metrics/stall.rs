//! Stalls: times without a new picture (specs/metrics.md 5).

/// A gap longer than this between shown frames is a stall, in seconds.
pub(crate) const STALL: f64 = 0.200;

/// Stalls of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stall {
    /// Total duration of these gaps over playing time: the definition used.
    pub ratio: f64,
    /// Total excess of these gaps beyond 200 ms over playing time.
    pub excess_ratio: f64,
    /// Number of gaps.
    pub count: u64,
    /// The longest gap, in seconds.
    pub longest_s: f64,
}

/// Stalls between frames shown at these times (in order, in seconds), counting the time to `end` as a gap.
pub fn stall(shown: &[f64], end: Option<f64>) -> Stall {
    let (mut whole, mut excess, mut count, mut longest) = (0.0, 0.0, 0, 0.0f64);
    let last = end.filter(|end| shown.last().is_some_and(|last| end > last));
    let times: Vec<f64> = shown.iter().copied().chain(last).collect();
    for pair in times.windows(2) {
        let gap = pair[1] - pair[0];
        longest = longest.max(gap);
        if gap > STALL {
            whole += gap;
            excess += gap - STALL;
            count += 1;
        }
    }
    let playing = match (times.first(), times.last()) {
        (Some(first), Some(last)) if last > first => last - first,
        _ => 1.0,
    };
    Stall { ratio: whole / playing, excess_ratio: excess / playing, count, longest_s: longest }
}

/// The least time between two displays that a viewer sees as two, in seconds: one interval of a display of 120 Hz, 8.3 ms,
/// with some slack (docs/thalweg.md).
const DISTINCT: f64 = 0.008;

/// How many of the frames shown at these times (in order, in seconds) can be seen one after another: each is at least 8 ms
/// after the one counted before.
pub fn displays(shown: &[f64]) -> u64 {
    let mut last = f64::NEG_INFINITY;
    let mut count = 0;
    for at in shown {
        if at - last >= DISTINCT {
            (last, count) = (*at, count + 1);
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_gaps_over_200_ms_count_as_in_the_worked_example() {
        let shown = [0.0, 0.033, 0.066, 0.316, 0.349, 0.749];
        let stall = stall(&shown, None);
        assert!((stall.ratio - 0.868).abs() < 1e-3, "{}", stall.ratio);
        assert!((stall.excess_ratio - 0.334).abs() < 1e-3);
        assert_eq!(stall.count, 2);
    }

    #[test]
    fn frames_shown_in_one_burst_count_by_what_a_display_can_show() {
        // Five frames within 17 ms: at 0, 8 and 16 ms something new can be seen.
        assert_eq!(displays(&[1.0, 1.004, 1.008, 1.012, 1.017, 1.050]), 4);
        assert_eq!(displays(&[]), 0);
    }

    #[test]
    fn no_picture_until_the_end_is_a_gap() {
        assert!((super::stall(&[0.0, 1.0], Some(10.0)).ratio - 1.0).abs() < 1e-9);
    }
}
