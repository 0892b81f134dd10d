//! Latency of pictures (specs/metrics.md 1).

use thalweg_units::percentile;

use super::DEADLINE;
use crate::series::FrameRecord;

/// Latency of all pictures, in ms.
#[derive(Debug, Clone, PartialEq)]
pub struct Latency {
    /// Latency of each picture; a missing one counts until the next shown.
    pub each_ms: Vec<f64>,
    /// Median.
    pub p50_ms: f64,
    /// 95th percentile.
    pub p95_ms: f64,
    /// Mean.
    pub mean_ms: f64,
    /// Number of pictures after the last one shown, which have no latency.
    pub tail_missing: u64,
}

/// Latency of these pictures; `None` when none was shown.
pub fn latency(frames: &[FrameRecord]) -> Option<Latency> {
    let mut each_ms = Vec::with_capacity(frames.len());
    let mut next_shown: Option<f64> = None;
    for frame in frames.iter().rev() {
        next_shown = frame.displayed_s.or(next_shown);
        if let Some(shown) = next_shown {
            each_ms.push((shown - frame.captured_s) * 1e3);
        }
    }
    each_ms.reverse();
    Some(Latency {
        p50_ms: percentile(&each_ms, 0.50)?,
        p95_ms: percentile(&each_ms, 0.95)?,
        mean_ms: each_ms.iter().sum::<f64>() / each_ms.len() as f64,
        tail_missing: (frames.len() - each_ms.len()) as u64,
        each_ms,
    })
}

/// The share of these pictures that was shown within [`DEADLINE`] of its capture, of those for which that time had
/// passed by `end` (in seconds); `None` when there is none. Unlike the frame rate it does not count what comes too late to
/// be part of a conversation (docs/thalweg.md).
pub fn in_time(frames: &[FrameRecord], end: f64) -> Option<f64> {
    let deadline = DEADLINE.as_secs_f64();
    let due = frames.iter().filter(|frame| frame.captured_s + deadline <= end);
    let (mut shown, mut all) = (0u64, 0u64);
    for frame in due {
        all += 1;
        shown += u64::from(frame.displayed_s.is_some_and(|at| at - frame.captured_s <= deadline));
    }
    (all > 0).then(|| shown as f64 / all as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::{Size, Time};

    #[test]
    fn frames_in_time_are_those_shown_within_400_ms_of_all_that_were_captured_400_ms_before_the_end() {
        // Captured each 100 ms from 0 to 900 ms. Shown: 0 after 399 ms, 1 after 401, 2 never, 3 to 9 after 50 ms.
        let frames: Vec<FrameRecord> = (0..10)
            .map(|place| {
                let captured = 100 * place;
                let latency = [Some(399), Some(401), None].get(place as usize).copied().unwrap_or(Some(50));
                let displayed_s = latency.map(|latency| (captured + latency) as f64 / 1e3);
                FrameRecord { displayed_s, ..FrameRecord::read(Time::from_millis(captured), Size::HD) }
            })
            .collect();
        assert_eq!(in_time(&frames, 2.0), Some(0.8));
        // By the end at 650 ms only what was captured up to 250 ms can be judged: 0 of 0, 1 and 2.
        assert_eq!(in_time(&frames, 0.65), Some(1.0 / 3.0));
        assert_eq!(in_time(&frames, 0.3), None);
    }

    #[test]
    fn missing_pictures_count_to_the_next_shown_as_in_the_worked_example() {
        let captured = [0, 33, 67, 100, 133, 167];
        let mut frames: Vec<FrameRecord> =
            captured.iter().map(|ms| FrameRecord::read(Time::from_millis(*ms), Size::HD)).collect();
        for (index, shown) in [(0, 0.080), (1, 0.113), (4, 0.230)] {
            frames[index].displayed_s = Some(shown);
        }
        let latency = latency(&frames).unwrap();
        let rounded: Vec<f64> = latency.each_ms.iter().map(|ms| ms.round()).collect();
        assert_eq!(rounded, [80.0, 80.0, 163.0, 130.0, 97.0]);
        assert!((latency.mean_ms - 110.0).abs() < 0.1);
        assert!((latency.p95_ms - 156.4).abs() < 0.1);
        assert_eq!(latency.tail_missing, 1);
    }
}
