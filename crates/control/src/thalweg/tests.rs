use alloc::vec::Vec;

use super::*;
use crate::testing::{Flow, whole};
use thalweg_units::Span;

const MS: fn(u64) -> Time = Time::from_millis;
const ROUND_TRIP: u64 = 50;

fn steady() -> Config {
    Config { margin: None, packet: Bytes::new(900), wire: Bytes::new(1000), ..Config::default() }
}

/// Frames of `packets` packets of 1000 bytes, one frame each 40 ms, which arrive `spacing` apart from 25 ms after the
/// first left; each is reported 25 ms later.
fn play(flow: &mut Flow<Thalweg>, frames: core::ops::Range<u64>, packets: u64, spacing: u64) {
    for frame in frames {
        let at = MS(40 * frame);
        let ids: Vec<u64> = (0..packets)
            .map(|packet| {
                let place =
                    crate::packet::FramePlace { first: packet == 0, last: packet + 1 == packets, ..whole(frame, at) };
                flow.send(at, 1000, |sent| sent.place = Some(place)).0
            })
            .collect();
        for (place, id) in ids.into_iter().enumerate() {
            let arrival = at + Span::from_millis((25 + spacing * place as u64) as i64);
            flow.report(arrival + Span::from_millis(25), &[(id, arrival)]);
        }
    }
}

#[test]
fn before_the_first_arrival_ten_packets_may_leave() {
    let mut flow = Flow::new(Thalweg::new(steady()).unwrap());
    assert_eq!(flow.limits().media, MediaLimit::Frame(Bytes::new(9000)));
    for _ in 0..4 {
        flow.send(MS(0), 1000, |_| {});
    }
    assert_eq!(flow.limits().media, MediaLimit::Frame(Bytes::new(5400)));
}

#[test]
fn the_rate_is_that_at_which_the_packets_of_a_frame_arrive_however_few_there_are() {
    let mut flow = Flow::new(Thalweg::new(steady()).unwrap());
    // 1000 bytes each 4 ms are 2 Mbps, although frames of three packets are 0.6 Mbps.
    play(&mut flow, 0..40, 3, 4);
    let capacity = flow.limits().capacity.as_mbps_f64();
    // The first packet of each frame met an empty path: no time was spent on it.
    assert!((2.7..3.1).contains(&capacity), "{capacity}");
}

#[test]
fn a_round_trip_and_the_budget_may_be_under_way() {
    let mut flow = Flow::new(Thalweg::new(steady()).unwrap());
    play(&mut flow, 0..40, 3, 4);
    let rate = flow.limits().capacity;
    let allowed = rate.over(Span::from_millis(ROUND_TRIP as i64) + steady().budget).scale(0.9);
    let MediaLimit::Frame(free) = flow.limits().media else { panic!("frames are limited") };
    assert!(free.get().abs_diff(allowed.get()) <= 2, "{free} of {allowed}");
    flow.send(MS(1600), 1000, |_| {});
    assert_eq!(flow.limits().media, MediaLimit::Frame(free - Bytes::new(900)));
}

#[test]
fn the_slower_of_both_averages_counts_on_the_way_down_and_on_the_way_up() {
    let mut flow = Flow::new(Thalweg::new(steady()).unwrap());
    play(&mut flow, 0..100, 3, 4);
    let fast = flow.limits().capacity;
    play(&mut flow, 100..110, 3, 10);
    let after_fall = flow.limits().capacity.as_bps_f64() / fast.as_bps_f64();
    assert!((0.35..0.55).contains(&after_fall), "{after_fall}: the quick one has seen nine tenths of the fall");
    play(&mut flow, 110..120, 3, 4);
    let after_rise = flow.limits().capacity.as_bps_f64() / fast.as_bps_f64();
    assert!((0.55..0.85).contains(&after_rise), "{after_rise}: the slow one remembers the fall");
}

#[test]
fn nothing_may_be_added_while_nothing_arrives_and_both_ends_of_a_fade_are_decisions() {
    let mut flow = Flow::new(Thalweg::new(Config { margin: Some(margin::Config::default()), ..steady() }).unwrap());
    play(&mut flow, 0..40, 3, 4);
    let id = flow.send(MS(1600), 1000, |_| {}).0;
    // A round trip and 50 ms later.
    let due = flow.next_timeout();
    assert!((MS(1695)..=MS(1705)).contains(&due), "{due}");
    assert_ne!(flow.limits().media, MediaLimit::Frame(Bytes::ZERO));
    flow.expire();
    assert_eq!(flow.limits().media, MediaLimit::Frame(Bytes::ZERO));
    flow.report(MS(2600), &[(id, MS(2575))]);
    assert_ne!(flow.limits().media, MediaLimit::Frame(Bytes::ZERO));
    let decided: Vec<&str> = flow.decisions().into_iter().map(|(what, _)| what).collect();
    assert_eq!(decided, ["stop", "resume"]);
}

#[test]
fn an_outage_counts_as_no_more_than_the_longest_service() {
    let after = |longest_service| {
        let mut flow = Flow::new(Thalweg::new(Config { longest_service, ..steady() }).unwrap());
        play(&mut flow, 0..40, 3, 4);
        let id = flow.send(MS(1600), 1000, |_| {}).0;
        flow.report(MS(3625), &[(id, MS(3600))]);
        flow.limits().capacity.as_mbps_f64()
    };
    let (bounded, whole) = (after(Span::from_millis(50)), after(Span::from_secs(10)));
    assert!(bounded > 5.0 * whole && bounded < 3.0, "{bounded} and {whole}");
}

#[test]
fn with_held_packets_the_budget_is_a_window() {
    let mut flow = Flow::new(Thalweg::new(Config { holds_packets: true, ..steady() }).unwrap());
    play(&mut flow, 0..40, 3, 4);
    let limits = flow.limits();
    assert_eq!(limits.media, MediaLimit::None);
    assert_eq!(limits.window, Some(limits.capacity.over(Span::from_millis(ROUND_TRIP as i64) + steady().budget)));
}

#[test]
fn parameters_out_of_range_are_refused() {
    for config in [
        Config { budget: Span::ZERO, ..steady() },
        Config { quick: 0.0, ..steady() },
        Config { slow: 1.5, ..steady() },
        Config { wire: Bytes::new(10), ..steady() },
        Config { first_packets: 0, ..steady() },
        Config { margin: Some(margin::Config { min: 2.0, ..margin::Config::default() }), ..steady() },
        Config { margin: Some(margin::Config { weight: 1.0, ..margin::Config::default() }), ..steady() },
    ] {
        assert!(Thalweg::new(config).is_err(), "{config:?}");
    }
}

/// The share after frames, one each 400 ms, which wait on the path for as many milliseconds times the share in force.
fn share_after(config: margin::Config, waits: impl IntoIterator<Item = u64>) -> f64 {
    let mut flow = Flow::new(Thalweg::new(Config { margin: Some(config), ..steady() }).unwrap());
    for (frame, wait) in (0..).zip(waits) {
        let at = MS(400 * frame);
        let waits = Span::from_millis(wait as i64).scale(flow.share());
        let id = flow.send(at, 1000, |sent| sent.place = Some(whole(frame, at))).0;
        let arrival = at + Span::from_millis(25) + waits;
        flow.report(arrival + Span::from_millis(25), &[(id, arrival)]);
    }
    flow.share()
}

#[test]
fn hindsight_takes_the_share_that_would_have_served_the_last_frames_best() {
    let config = margin::Config {
        initial: 1.0,
        min: 0.25,
        max: 2.0,
        weight: 0.7,
        cautious: Span::ZERO,
        ..margin::Config::default()
    };
    // The first frame of each shows the empty path. Twice 50 ms are in time.
    assert_eq!(share_after(config, [0, 49, 49, 49, 49]), 2.0);
    // One that is late at any share worth having does not count against it.
    assert_eq!(share_after(config, [0, 49, 49, 170, 49]), 2.0);
    // All are late at shares above a half.
    let share = share_after(margin::Config { max: 1.0, ..config }, [0, 200, 200, 200, 200]);
    assert!((share - 0.5).abs() < 0.01, "{share}");
}

#[test]
fn hindsight_waits_until_the_path_has_served_for_a_while() {
    let config = margin::Config { initial: 0.5, cautious: Span::from_millis(1000), ..margin::Config::default() };
    // Reported at 50, 450, 850 and 1250 ms.
    assert_eq!(share_after(config, [0, 0, 0]), 0.5);
    assert_eq!(share_after(config, [0, 0, 0, 0]), config.max);
}
