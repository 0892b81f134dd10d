//! Stalls: times without a new picture (specs/metrics.md 5).

use thalweg_units::percentile;

/// A gap longer than this between shown frames is a stall, in seconds, unless the camera's own are nearly as long.
pub(crate) const STALL: f64 = 0.200;

/// Stalls of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stall {
    /// Total duration of these gaps over playing time: the definition used.
    pub ratio: f64,
    /// Total excess of these gaps beyond the threshold over playing time.
    pub excess_ratio: f64,
    /// Number of gaps.
    pub count: u64,
    /// The longest gap, in seconds.
    pub longest_s: f64,
}

/// The time in which pictures were due, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Due<'a> {
    /// When the first was captured.
    pub begin: f64,
    /// When the run ended.
    pub end: f64,
    /// Time from one picture of the camera to the next.
    pub interval: f64,
    /// Times when the camera was off, from and until, in order: nothing new is due.
    pub off: &'a [(f64, f64)],
}

impl Due<'_> {
    /// A gap longer than this is a stall. Pictures that come each in its time are none, however seldom the camera takes
    /// them.
    pub fn threshold(&self) -> f64 {
        STALL.max(1.5 * self.interval)
    }

    /// Seconds up to `at` in which the camera was on.
    pub fn on(&self, at: f64) -> f64 {
        at - self.off.iter().map(|(from, until)| (until.min(at) - from).max(0.0)).sum::<f64>()
    }

    /// Seconds from begin to end in which the camera was on.
    pub fn length(&self) -> f64 {
        self.on(self.end) - self.on(self.begin)
    }

    /// How many of `count` pictures there are a second while the camera is on; `None` if it never is.
    pub fn rate(&self, count: u64) -> Option<f64> {
        // Less than a nanosecond, the resolution of times, is rounding.
        Some(self.length()).filter(|length| *length > 1e-9).map(|length| count as f64 / length)
    }
}

/// Time from one of these pictures to the next, in seconds: the median; 0 of fewer than two.
pub fn interval(captured: impl IntoIterator<Item = f64>) -> f64 {
    let times: Vec<f64> = captured.into_iter().collect();
    let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    percentile(&gaps, 0.5).unwrap_or(0.0)
}

/// Stalls between frames shown at these times (in order, in seconds), counting the time to the end as a gap. A run that shows
/// nothing is one stall, unless its camera was off all the time: no picture was due then.
pub fn stall(shown: &[f64], due: &Due) -> Stall {
    let Some(first) = shown.first() else {
        let (ratio, count, longest_s) = due.rate(0).map_or((0.0, 0, 0.0), |_| (1.0, 1, due.length()));
        return Stall { ratio, excess_ratio: ratio, count, longest_s };
    };
    let (mut whole, mut excess, mut count, mut longest) = (0.0, 0.0, 0, 0.0f64);
    let last = shown.last().filter(|last| due.end > **last).map(|_| due.end);
    let times: Vec<f64> = shown.iter().copied().chain(last).map(|at| due.on(at)).collect();
    let threshold = due.threshold();
    for gap in times.windows(2).map(|pair| pair[1] - pair[0]) {
        longest = longest.max(gap);
        if gap > threshold {
            whole += gap;
            excess += gap - threshold;
            count += 1;
        }
    }
    let playing = times.last().map_or(0.0, |last| last - due.on(*first));
    let playing = if playing > 0.0 { playing } else { 1.0 };
    Stall { ratio: whole / playing, excess_ratio: excess / playing, count, longest_s: longest }
}

/// The least time between two displays that a viewer sees as two, in ns: one interval of a display of 120 Hz, 8.3 ms,
/// with some slack (docs/thalweg.md).
const DISTINCT: i64 = 8_000_000;

/// How many of the frames shown at these times (in order, in seconds) can be seen one after another: each is at least 8 ms
/// after the one counted before.
pub fn displays(shown: &[f64]) -> u64 {
    let (mut last, mut count) = (None, 0);
    // In whole ns, as events have them: links that deliver at whole milliseconds make gaps of exactly 8 ms all the time.
    for at in shown.iter().map(|at| (at * 1e9).round() as i64) {
        if last.is_none_or(|last| at - last >= DISTINCT) {
            (last, count) = (Some(at), count + 1);
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
        let stall = stall(&shown, &whole(0.749));
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
    fn gaps_of_eight_milliseconds_in_ns_are_displays_of_their_own_whatever_seconds_round_to() {
        // In floating seconds 8.3 s + 8 ms is less than 8 ms after 8.3 s.
        let shown: Vec<f64> = (0..100_i64).map(|place| (8_300_000_000 + place * 8_000_000) as f64 / 1e9).collect();
        assert!(shown.windows(2).any(|pair| pair[1] - pair[0] < 0.008));
        assert_eq!(displays(&shown), 100);
    }

    #[test]
    fn no_picture_until_the_end_is_a_gap_and_none_at_all_a_stall_of_the_whole_run() {
        assert!((stall(&[0.0, 1.0], &whole(10.0)).ratio - 1.0).abs() < 1e-9);
        let nothing = stall(&[], &whole(10.0));
        assert_eq!((nothing.ratio, nothing.count, nothing.longest_s), (1.0, 1, 10.0));
    }

    #[test]
    fn a_camera_that_is_off_makes_no_stall_and_is_no_playing_time() {
        let off = [(2.0, 7.0)];
        let due = Due { off: &off, ..whole(10.0) };
        // Shown each 100 ms while it is on, half a second late after the pause: one stall of 500 ms in 5 s.
        let shown: Vec<f64> = (0..20).chain(75..=100).map(|tenth| f64::from(tenth) / 10.0).collect();
        let found = stall(&shown, &due);
        assert_eq!(found.count, 1);
        assert!((found.longest_s - 0.6).abs() < 1e-9 && (found.ratio - 0.6 / 5.0).abs() < 1e-9, "{found:?}");
        assert!((due.length() - 5.0).abs() < 1e-9);
        // What was under way when the camera went off is shown while it is off.
        assert_eq!(stall(&[1.9, 2.1, 7.1, 7.2], &Due { end: 7.3, ..due }).count, 0);
    }

    #[test]
    fn a_camera_that_is_never_on_has_no_stall_and_no_frame_rate() {
        let due = Due { begin: 0.1, off: &[(0.1, 10.0)], ..whole(10.0) };
        let nothing = stall(&[], &due);
        assert_eq!((nothing.ratio, nothing.count, nothing.longest_s), (0.0, 0, 0.0));
        assert_eq!((due.rate(0), whole(10.0).rate(300)), (None, Some(30.0)));
    }

    #[test]
    fn a_slow_camera_whose_pictures_come_in_time_does_not_stall() {
        let shown: Vec<f64> =
            (0..50).map(|place| f64::from(place) * 0.2 + 0.05 + f64::from(place % 2) * 0.03).collect();
        let slow = Due { interval: 0.2, ..whole(10.0) };
        assert_eq!(stall(&shown, &slow).count, 0);
        assert!(stall(&shown, &whole(10.0)).ratio > 0.4);
        // A picture that is missing is one: 400 ms.
        assert_eq!(stall(&[0.0, 0.2, 0.6, 0.8], &Due { end: 0.8, ..slow }).count, 1);
        assert!((interval([0.0, 0.2, 0.4, 5.0, 5.2]) - 0.2).abs() < 1e-9);
        assert_eq!(interval([1.0]), 0.0);
    }

    fn whole(end: f64) -> Due<'static> {
        Due { begin: 0.0, end, interval: 1.0 / 30.0, off: &[] }
    }
}
