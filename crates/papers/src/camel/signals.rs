//! Which signal indicates congestion (Camel, Figure 7): the experiment on a synthetic queue (specs/camel.md 3 and 8.1).

use std::collections::VecDeque;

use thalweg_control::camel::{Gradient, GradientConfig as Config};
use thalweg_control::estimate::slope;
use thalweg_units::{Bytes, Rate, Seed, Span, Time};

use super::super::{Row, Rows};

/// Three congestion signals on a synthetic queue, with increasing jitter on every delay. The keys: the share of frames
/// that a signal classified correctly, and how much that is above the best of the other signals, 0..1.
pub(super) const ROWS: Rows =
    Rows { keys: &["accuracy", "accuracy_lead"], traces: &[], play: |_, seed| Ok(rows(seed)) };

/// The links: the max of the uniform jitter.
pub(super) const JITTERS: [(&str, Span); 5] = [
    ("no jitter", Span::ZERO),
    ("jitter of 2 ms", Span::from_millis(2)),
    ("jitter of 5 ms", Span::from_millis(5)),
    ("jitter of 20 ms", Span::from_millis(20)),
    ("jitter of 50 ms", Span::from_millis(50)),
];
/// The signals. The first is Camel's.
pub(super) const SIGNALS: [&str; 3] = ["gradient", "delay above min", "delay over time"];

fn rows(seed: Seed) -> Vec<Row> {
    let over = |(link, jitter): (&str, Span)| {
        let Accuracy { gradient, delay_above_min, delay_over_time } = accuracy(Config::default(), jitter, seed);
        let all = [gradient, delay_above_min, delay_over_time];
        let row = move |own: usize| {
            let others = all.into_iter().enumerate().filter(|(other, _)| *other != own).map(|(_, value)| value);
            let values = vec![Some(all[own]), Some(all[own] - others.fold(0.0, f64::max))];
            Row { link: link.into(), scheme: SIGNALS[own].into(), values }
        };
        (0..SIGNALS.len()).map(row).collect::<Vec<Row>>()
    };
    JITTERS.into_iter().flat_map(over).collect()
}

/// Figure 7's link.
const CAPACITY: Rate = Rate::from_kbps(2000);
/// Its round-trip time without queueing, in ms.
const MIN_MS: f64 = 25.0;
/// Window of all three signals, in seconds.
const WINDOW_S: f64 = 5.0;
/// Delay above its min at which that signal indicates congestion, in ms (specs/camel.md 8.1).
const ABOVE_MIN_MS: f64 = 5.0;

/// Share of frames that each signal classified correctly, 0..1.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Accuracy {
    /// Camel's: the slope of delay over bytes in flight.
    gradient: f64,
    /// Delay above its min.
    delay_above_min: f64,
    /// The slope of delay over time.
    delay_over_time: f64,
}

/// Level of the data in flight at this time, in kbit.
fn level(second: f64) -> f64 {
    match second {
        second if second < 20.0 => 30.0,
        second if second < 50.0 => 70.0,
        second if second < 70.0 => 40.0,
        second if second < 100.0 => 80.0,
        _ => 50.0,
    }
}

/// Accuracy of each signal over 115 s at 30 fps on a link of 2 Mbps and 25 ms (a bandwidth-delay product of 50 kbit).
/// Bytes in flight vary by 15 kbit around a level that changes, and each delay has uniform jitter of up to `jitter`.
/// The truth is the delay of equation 4, without jitter. `config` is the gradient's.
fn accuracy(config: Config, jitter: Span, seed: Seed) -> Accuracy {
    let mut random = seed.child("camel.figure7").random();
    let mut gradient = Gradient::new(config);
    let mut recent: VecDeque<(f64, f64)> = VecDeque::new();
    let (mut right, mut judged) = ([0u32; 3], 0u32);
    for frame in 0..(115 * 30) {
        let second = f64::from(frame) / 30.0;
        let kilobits = level(second) + random.between(-15.0, 15.0);
        let ideal = MIN_MS.max(kilobits / CAPACITY.as_kbps_f64() * 1e3);
        let delay = ideal + if jitter > Span::ZERO { random.between(0.0, jitter.as_millis_f64()) } else { 0.0 };
        let now = Time::from_secs_f64(second);
        gradient.add(now, Bytes::new((kilobits * 125.0) as u64), Span::from_millis_f64(delay));
        recent.push_back((second, delay));
        while recent.front().is_some_and(|(at, _)| *at < second - WINDOW_S) {
            recent.pop_front();
        }
        if second < WINDOW_S {
            continue;
        }
        let min = recent.iter().map(|(_, delay)| *delay).fold(f64::INFINITY, f64::min);
        let verdicts = [
            gradient.judge(now, CAPACITY, Bytes::new(1200)).congested,
            delay - min > ABOVE_MIN_MS,
            slope(recent.iter().copied()).is_some_and(|slope| slope > 0.0),
        ];
        judged += 1;
        for (right, verdict) in right.iter_mut().zip(verdicts) {
            *right += u32::from(verdict == (ideal > MIN_MS));
        }
    }
    let share = |index: usize| f64::from(right[index]) / f64::from(judged);
    Accuracy { gradient: share(0), delay_above_min: share(1), delay_over_time: share(2) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_control::camel::Reading;

    fn accuracy(reading: Reading, jitter_ms: f64) -> Accuracy {
        let config = Config { reading, ..Config::default() };
        let accuracy = super::accuracy(config, Span::from_millis_f64(jitter_ms), Seed::new(1));
        println!("{reading:?}, jitter {jitter_ms} ms: {accuracy:?}");
        accuracy
    }

    #[test]
    fn the_slope_over_bytes_in_flight_is_the_most_accurate_by_far() {
        let accuracy = accuracy(Reading::LocalThenGlobal, 0.0);
        // specs/camel.md: 0.989, 0.756 and 0.585.
        assert!(accuracy.gradient >= 0.97 && accuracy.gradient <= 1.0, "{accuracy:?}");
        assert!((0.70..=0.80).contains(&accuracy.delay_above_min), "{accuracy:?}");
        assert!((0.50..=0.65).contains(&accuracy.delay_over_time), "{accuracy:?}");
        assert!(accuracy.gradient >= accuracy.delay_above_min.max(accuracy.delay_over_time) + 0.15, "{accuracy:?}");
    }

    #[test]
    fn like_frames_are_right_without_jitter_and_all_frames_with_it() {
        // The specification's table: rows of jitter, columns of readings.
        for (jitter_ms, both, local, global) in [
            (0.0, 0.989, 0.989, 0.852),
            (2.0, 0.988, 0.988, 0.852),
            (5.0, 0.899, 0.965, 0.852),
            (20.0, 0.854, 0.734, 0.852),
            (50.0, 0.823, 0.616, 0.833),
        ] {
            for (reading, expected) in
                [(Reading::LocalThenGlobal, both), (Reading::Local, local), (Reading::Global, global)]
            {
                let found = accuracy(reading, jitter_ms).gradient;
                assert!(
                    (found - expected).abs() <= 0.05,
                    "{reading:?} at {jitter_ms} ms: {found:.3}, expected {expected}"
                );
            }
        }
    }

    #[test]
    fn jitter_alone_is_no_congestion() {
        let mut random = Seed::new(2).child("camel.figure18").random();
        let mut false_alarms = [0u32; 2];
        for (reading, false_alarms) in [Reading::LocalThenGlobal, Reading::Local].into_iter().zip(&mut false_alarms) {
            let mut gradient = Gradient::new(Config { reading, ..Config::default() });
            for frame in 0..(110 * 30) {
                let now = Time::from_secs_f64(f64::from(frame) / 30.0);
                let kilobits = 25.0 + random.between(-15.0, 15.0);
                let delay = Span::from_millis_f64(25.0 + random.between(0.0, 50.0));
                gradient.add(now, Bytes::new((kilobits * 125.0) as u64), delay);
                let verdict = gradient.judge(now, Rate::from_kbps(2000), Bytes::new(1200));
                *false_alarms += u32::from(frame >= 150 && verdict.congested);
            }
        }
        println!("false alarms in 3150 frames: {false_alarms:?}");
        // specs/camel.md: 0.002 and 0.432 of the frames. Windows overlap, so alarms come in runs and their number
        // varies.
        assert!(false_alarms[0] <= 160 && (950..=1750).contains(&false_alarms[1]), "{false_alarms:?}");
    }
}
