//! Response of a sender to a step of the link, from the series and frames of a run.

use crate::series::{FrameRecord, Series};

/// Mean of a series with bins of `bin_s` seconds over [from, to) seconds; NaN without values.
pub fn mean_between(values: &[f64], bin_s: f64, from: f64, to: f64) -> f64 {
    let index = |at: f64| ((at / bin_s).round() as usize).min(values.len());
    let slice = &values[index(from)..index(to)];
    slice.iter().sum::<f64>() / slice.len() as f64
}

/// Seconds from `from` to the end of the first second whose mean is at least `level`; `None` if there is none.
pub fn time_to_reach(values: &[f64], bin_s: f64, from: f64, level: f64) -> Option<f64> {
    let bins = (1.0 / bin_s).round() as usize;
    let first = (from / bin_s).round() as usize;
    let found = values.get(first..)?.windows(bins).position(|second| {
        let mean = second.iter().sum::<f64>() / bins as f64;
        // Tolerance, so that rounding of the sum does not decide about a level that is met exactly.
        mean >= level * (1.0 - 1e-12)
    })?;
    Some(found as f64 * bin_s + 1.0)
}

/// Effect of a link drop on frames.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drop {
    /// Max latency of a picture captured in the window after the drop, in ms.
    pub worst_ms: f64,
    /// Seconds from the drop until the start of the first second in which every shown picture has less than 200 ms of
    /// latency; the window's length if there is none.
    pub recovery_s: f64,
}

/// The effect of a link drop at `from` seconds on the frames captured in the `window` seconds after it.
pub fn after_drop(frames: &[FrameRecord], from: f64, window: f64) -> Drop {
    let late = |from: f64, to: f64| {
        let read = frames.iter().filter(move |frame| (from..to).contains(&frame.captured_s));
        read.filter_map(|frame| Some((frame.captured_s, (frame.displayed_s? - frame.captured_s) * 1e3)))
    };
    let worst = late(from, from + window).fold((from, 0.0), |worst, next| if next.1 > worst.1 { next } else { worst });
    let fresh = |at: f64| {
        let mut shown = late(at, at + 1.0).peekable();
        shown.peek().is_some() && shown.all(|(_, latency)| latency < 200.0)
    };
    let tenths = (0..).map(|step| worst.0 + 0.1 * f64::from(step)).take_while(|at| *at < from + window);
    let recovery_s = tenths.into_iter().find(|at| fresh(*at)).map_or(window, |at| at - from);
    Drop { worst_ms: worst.1, recovery_s }
}

/// Milliseconds from the return of the link at `back` seconds until the first picture captured after it is shown;
/// `None` if none is. Pictures captured before the return do not count.
pub fn first_fresh_ms(frames: &[FrameRecord], back: f64) -> Option<f64> {
    let since = frames.iter().filter(|frame| frame.captured_s >= back);
    since.filter_map(|frame| frame.displayed_s).min_by(f64::total_cmp).map(|shown| (shown - back) * 1e3)
}

/// Utilisation of the link's capacity, for each 500 ms with any capacity (specs/metrics.md 4).
pub fn instantaneous_utilization(series: &Series) -> Vec<f64> {
    let bins = (0.5 / series.bin_s).round() as usize;
    let halves = series.capacity_mbps.chunks_exact(bins).zip(series.delivered_mbps.chunks_exact(bins));
    let sums = halves.map(|(capacity, delivered)| (capacity.iter().sum::<f64>(), delivered.iter().sum::<f64>()));
    sums.filter(|(capacity, _)| *capacity > 0.0).map(|(capacity, delivered)| delivered / capacity).collect()
}

/// A half second counts as starved where the link had at least this many Mbps and less than this share of it was sent.
const STARVED: (f64, f64) = (0.5, 0.05);

/// Seconds, by whole half seconds, in which the link was free and the sender hardly sent.
pub fn starved_s(series: &Series) -> f64 {
    let bins = (0.5 / series.bin_s).round() as usize;
    let halves = series.capacity_mbps.chunks_exact(bins).zip(series.sent_mbps.chunks_exact(bins));
    let means = halves.map(|(capacity, sent)| [capacity, sent].map(|bin| bin.iter().sum::<f64>() / bins as f64));
    0.5 * means.filter(|[capacity, sent]| *capacity >= STARVED.0 && *sent < STARVED.1 * capacity).count() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::{Size, Time};

    #[test]
    fn a_level_is_reached_when_a_whole_second_has_it() {
        let mut values = vec![0.5; 30];
        values.extend(vec![2.0; 30]);
        assert_eq!(time_to_reach(&values, 0.1, 2.0, 2.0), Some(2.0));
        assert_eq!(time_to_reach(&values, 0.1, 4.0, 2.0), Some(1.0));
        assert_eq!(time_to_reach(&values, 0.1, 0.0, 2.1), None);
        assert_eq!(mean_between(&values, 0.1, 2.0, 4.0), 1.25);
    }

    #[test]
    fn recovery_counts_from_the_drop_to_the_first_fresh_second_after_the_worst() {
        let frame = |at: f64, latency: f64| FrameRecord {
            displayed_s: Some(at + latency),
            ..FrameRecord::read(Time::from_secs_f64(at), Size::HD)
        };
        let latency = |at: f64| if (10.0..12.0).contains(&at) { 0.9 - (at - 10.0) / 4.0 } else { 0.05 };
        let frames: Vec<_> = (0..600).map(|i| f64::from(i) / 30.0).map(|at| frame(at, latency(at))).collect();
        let drop = after_drop(&frames, 10.0, 8.0);
        assert!((drop.worst_ms - 900.0).abs() < 1.0 && (drop.recovery_s - 2.0).abs() < 0.11, "{drop:?}");
    }

    #[test]
    fn the_first_fresh_frame_is_one_read_after_the_link_is_back() {
        let frame = |captured: f64, displayed_s: Option<f64>| FrameRecord {
            displayed_s,
            ..FrameRecord::read(Time::from_secs_f64(captured), Size::HD)
        };
        let frames = [
            frame(29.9, Some(31.05)),
            frame(30.9, Some(31.1)),
            frame(31.0, None),
            frame(31.1, Some(31.25)),
            frame(31.2, Some(31.35)),
        ];
        assert!((first_fresh_ms(&frames, 31.0).unwrap() - 250.0).abs() < 1e-6);
        assert_eq!(first_fresh_ms(&frames, 31.3), None);
    }

    #[test]
    fn a_sender_starves_while_the_link_is_free_and_it_hardly_sends() {
        let series = Series {
            bin_s: 0.1,
            capacity_mbps: [vec![2.0; 10], vec![0.4; 5], vec![1.0; 5]].concat(),
            sent_mbps: [vec![1.0; 5], vec![0.09; 5], vec![0.0; 5], vec![0.06; 5]].concat(),
            ..Series::default()
        };
        assert_eq!(starved_s(&series), 0.5);
    }

    #[test]
    fn halves_of_a_second_without_capacity_do_not_count() {
        let series = Series {
            bin_s: 0.1,
            capacity_mbps: [vec![2.0; 5], vec![0.0; 5], vec![1.0; 5]].concat(),
            delivered_mbps: [vec![1.0; 5], vec![0.0; 5], vec![1.0; 5]].concat(),
            ..Series::default()
        };
        assert_eq!(instantaneous_utilization(&series), [0.5, 1.0]);
    }
}
