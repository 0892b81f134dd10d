//! Which signal tells congestion (Camel, Figure 7; specs/camel.md 3 and 8.1): the slope of delay over bytes in
//! flight, the delay above its minimum, or the slope of delay over time.

use thalweg_units::{Bytes, Rate, Seed, Span, Time};

use super::super::figure7::{self, Accuracy};
use super::super::gradient::{Config, Gradient, Reading};
use super::std;

fn accuracy(reading: Reading, jitter_ms: f64) -> Accuracy {
    let config = Config { reading, ..Config::default() };
    let accuracy = figure7::accuracy(config, Span::from_millis_f64(jitter_ms), Seed::new(1));
    std::println!("{reading:?}, jitter {jitter_ms} ms: {accuracy:?}");
    accuracy
}

#[test]
fn the_slope_over_bytes_in_flight_is_the_most_accurate_by_far() {
    let accuracy = accuracy(Reading::LocalThenGlobal, 0.0);
    // specs/camel.md: 0.989, 0.756 and 0.585.
    assert!(accuracy.gradient >= 0.97 && accuracy.gradient <= 1.0, "{accuracy:?}");
    assert!((0.70..=0.80).contains(&accuracy.delay_above_least), "{accuracy:?}");
    assert!((0.50..=0.65).contains(&accuracy.delay_over_time), "{accuracy:?}");
    assert!(accuracy.gradient >= accuracy.delay_above_least.max(accuracy.delay_over_time) + 0.15, "{accuracy:?}");
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
            assert!((found - expected).abs() <= 0.05, "{reading:?} at {jitter_ms} ms: {found:.3}, expected {expected}");
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
    std::println!("false alarms in 3150 frames: {false_alarms:?}");
    // specs/camel.md: 0.002 and 0.432 of the frames. Windows overlap, so alarms come in runs and their number varies.
    assert!(false_alarms[0] <= 160 && (950..=1750).contains(&false_alarms[1]), "{false_alarms:?}");
}
