//! The worked numbers of specs/l4s.md 3.2.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::*;
use crate::packet::PacketId;
use crate::{Acknowledgement, History};
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

/// The world of libwebrtc's unit tests (specs/l4s.md 6.1): packets of 255 bytes leave evenly at the target through one queue,
/// and a report of what arrived leaves each 25 ms.
struct World {
    rate: Rate,
    one_way: Span,
    /// More packets than these are dropped.
    most: f64,
    /// True if packets are marked, by a ramp from 4 to 8 ms of waiting.
    marks: bool,
}

/// State of the sender at a time: target in kbps and s_rtt in ms.
struct Had {
    at: Time,
    target: f64,
    srtt: f64,
}

fn play(world: &World, seconds: u64) -> Vec<Had> {
    let size = Bytes::new(255);
    let mut scream = ScreamLibwebrtc::new(Config::default()).unwrap();
    scream.on_demand(Time::ZERO, Demand { min: Rate::from_kbps(30), max: Rate::from_kbps(100_000) });
    let mut history = History::default();
    let (mut leaves, mut free, mut marked, mut next_id) = (Time::ZERO, Time::ZERO, 0.0, 0);
    let mut under_way: VecDeque<Acknowledgement> = VecDeque::new();
    let mut had = Vec::new();
    for report in (25..1000 * seconds).step_by(25).map(MS) {
        // What was sent until this report reached the sender.
        while leaves < report + world.one_way {
            let packet = history.on_sent(SentPacket::new(PacketId(next_id), leaves, size));
            scream.on_sent(&packet);
            let waits = (free - leaves).max(Span::ZERO);
            let arrival = if waits.ratio(world.rate.time_for(size)) > world.most {
                None
            } else {
                free = free.max(leaves) + world.rate.time_for(size);
                Some(free + world.one_way)
            };
            marked += ((waits.as_millis_f64() - 4.0) / 4.0).clamp(0.0, 1.0);
            let ecn = if world.marks && marked >= 1.0 { Ecn::Ce } else { Ecn::Ect1 };
            marked -= f64::from(u8::from(marked >= 1.0));
            under_way.push_back(Acknowledgement { ecn, ..Acknowledgement::new(PacketId(next_id), arrival) });
            next_id += 1;
            leaves += scream.limits().capacity.time_for(size);
        }
        let is_known = |packet: &Acknowledgement| packet.arrival.is_none_or(|at| at <= report);
        let known: Vec<Acknowledgement> =
            core::iter::from_fn(|| under_way.pop_front_if(|packet| is_known(packet))).collect();
        let Some(newest) = known.iter().filter_map(|packet| packet.arrival).max() else { continue };
        let at = report + world.one_way;
        scream.on_feedback(&history.on_report(at, &known, Some(report - newest)));
        let srtt = scream.srtt.unwrap_or_default().as_millis_f64();
        had.push(Had { at, target: scream.target.as_kbps_f64(), srtt });
    }
    had
}

#[test]
fn libwebrtcs_own_unit_tests_find_what_they_ask_for() {
    let world = |kbps, one_way_ms, most, marks| World {
        rate: Rate::from_kbps(kbps),
        one_way: Span::from_millis(one_way_ms),
        most,
        marks,
    };
    for (name, world, from_s, (least, most), longest) in [
        ("marked", world(1000, 25, f64::INFINITY, true), 4, (650.0, 1100.0), 75.0),
        ("unmarked", world(2000, 10, f64::INFINITY, false), 10, (1500.0, 2500.0), 80.0),
        ("three packets of queue", world(5000, 10, 3.0, false), 10, (1500.0, 5400.0), 60.0),
    ] {
        for Had { at, target, srtt } in play(&world, from_s + 5).into_iter().filter(|had| had.at >= MS(1000 * from_s)) {
            assert!((least..=most).contains(&target), "{name}: {target} kbps at {at}");
            assert!(srtt < longest, "{name}: {srtt} ms at {at}");
        }
    }
}

#[test]
fn a_fifth_of_each_report_marked_is_an_average_of_a_fifth() {
    let mut marking = Marking::default();
    for _ in 0..80 {
        marking.on_report(10, 2, &Config::default().marking);
    }
    assert!((marking.alpha() - 0.2).abs() < 0.01, "{}", marking.alpha());
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
