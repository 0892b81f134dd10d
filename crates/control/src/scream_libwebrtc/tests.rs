//! The worked numbers of specs/l4s.md 3.2.

use super::*;
use crate::packet::PacketId;
use proptest::prelude::*;
use thalweg_units::Ecn;

const MS: fn(u64) -> Time = Time::from_millis;

/// A window of this many bytes, whose last decrease was at `inflection`, with a round trip of 50 ms and reports held for 10
/// ms; as much is in flight as the window needs to grow.
fn scream(window: f64, inflection: f64) -> ScreamLibwebrtc {
    let mut scream = ScreamLibwebrtc::new(Config::default()).unwrap();
    (scream.window, scream.inflection) = (window, inflection);
    (scream.srtt, scream.hold) = (Some(Span::from_millis(50)), Some(Span::from_millis(10)));
    scream.in_flight = (Bytes::new(1_000_000), Bytes::ZERO);
    // Clean for long.
    scream
}

fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 0.01 * expected.abs().max(1.0), "{value}, not {expected}");
}

#[test]
fn steps_shrink_near_the_window_of_the_last_decrease() {
    for (window, closeness) in [(25e3, 1.0), (30e3, 0.64), (40e3, 0.16), (45e3, 0.1), (60e3, 0.16), (100e3, 1.0)] {
        near(scream(window, 50e3).closeness(), closeness);
    }
}

/// Only the reduction: nothing was unmarked, so the window does not grow.
fn after_marks(inflection: f64, delay: Delay, srtt_ms: i64) -> f64 {
    let mut scream = ScreamLibwebrtc { delay, marking: Marking::of(0.2), ..scream(50e3, inflection) };
    scream.srtt = Some(Span::from_millis(srtt_ms));
    scream.update_window(MS(100_000), 1, Bytes::ZERO, false);
    scream.window
}

#[test]
fn marks_take_half_their_share_less_near_the_inflection_and_where_delays_vary() {
    let still = || Delay::of(Span::ZERO, 0.0, 0.0);
    near(after_marks(100e3, still(), 50), 47_500.0);
    near(after_marks(100e3, Delay::of(Span::ZERO, 10.0, 0.0), 50), 49_750.0);
    near(after_marks(100e3, Delay::of(Span::from_millis(31), 0.0, 0.0), 50), 47_500.0);
    near(after_marks(51e3, still(), 50), 49_375.0);
    near(after_marks(100e3, still(), 20), 45_000.0);
}

fn growth(scream: &mut ScreamLibwebrtc, at: u64) -> f64 {
    let before = scream.window;
    scream.update_window(MS(at), 0, Bytes::new(25_000), false);
    scream.window - before
}

#[test]
fn the_window_grows_as_the_worked_numbers_say() {
    near(growth(&mut scream(50e3, 1.0), 100_000), 1140.0);
    let reacted = |inflection| ScreamLibwebrtc { last_reaction: Some(MS(98_000)), ..scream(50e3, inflection) };
    near(growth(&mut reacted(1.0), 100_000), 840.0);
    let mut varies = ScreamLibwebrtc { delay: Delay::of(Span::ZERO, 0.0, 5.0), ..reacted(1.0) };
    near(growth(&mut varies, 100_000), 588.0);
    near(growth(&mut reacted(51e3), 100_000), 165.0);
    let mut short = scream(50e3, 1.0);
    (short.srtt, short.hold) = (Some(Span::from_millis(10)), Some(Span::from_millis(5)));
    near(growth(&mut short, 100_000), 410.4);
}

#[test]
fn the_target_is_the_windows_rate_less_what_few_packets_need() {
    for (window, mbps) in [(50e3, 6.667), (5e3, 0.5627), (1e3, 0.1067)] {
        let mut scream = scream(window, 1.0);
        scream.set_target(MS(0), "", None);
        assert!((scream.target.as_mbps_f64() - mbps).abs() < 1e-3, "{}", scream.target);
    }
}

#[test]
fn the_window_of_bytes_in_flight_is_three_to_one_and_a_half_windows() {
    for (least, factor) in [(0.0, 3.0), (5.0, 2.55), (7.5, 2.1), (10.0, 1.65), (11.0, 1.5)] {
        let scream = ScreamLibwebrtc { delay: Delay::of(Span::ZERO, least, 0.0), ..scream(10e3, 1.0) };
        near(scream.limits().window.unwrap().as_f64(), factor * 10e3);
    }
}

proptest! {
    #[test]
    fn the_window_stays_at_its_least_or_above_and_the_limits_are_finite(
        steps in prop::collection::vec((1u64..200, 0usize..4, 0u64..100, 0u64..300), 1..200)
    ) {
        let mut scream = ScreamLibwebrtc::new(Config::default()).unwrap();
        scream.on_demand(Time::ZERO, Demand { min: Rate::from_kbps(30), max: Rate::from_kbps(20_000) });
        let mut now = Time::ZERO;
        for (number, (gap, kind, delay, in_flight)) in steps.into_iter().enumerate() {
            now += Span::from_millis(gap as i64);
            let packet = SentPacket::new(PacketId(number as u64), now, Bytes::new(1200));
            scream.on_sent(&packet);
            let at = now + Span::from_millis(delay as i64);
            let fate = match kind {
                0 => Fate::Lost,
                1 => Fate::Arrived { at, ecn: Ecn::Ce, was_lost: false },
                2 => Fate::late(at),
                _ => Fate::arrived(at),
            };
            let reports = [crate::feedback::Report { packet, fate }];
            let mut feedback = Feedback::new(at, Cause::Report, &reports);
            (feedback.rtt, feedback.in_flight) = (Some(Span::from_millis(delay as i64)), Bytes::new(1200 * in_flight));
            scream.on_feedback(&feedback);
            now = at;
            prop_assert!(scream.window >= 1000.0 && scream.window.is_finite());
            let limits = scream.limits();
            prop_assert!(limits.capacity >= Rate::from_kbps(30) && limits.pacing >= limits.capacity);
        }
    }
}
