use alloc::vec::Vec;

use super::*;
use crate::feedback::{Cause, Fate, Report};
use crate::packet::{PacketId, Payload};
use crate::testing::{Flow, whole};
use thalweg_units::Span;

const MS: fn(u64) -> Time = Time::from_millis;
const ROUND_TRIP: u64 = 50;

fn steady() -> Config {
    Config {
        margin: None,
        quick: 0.05,
        slow: 0.02,
        packets: 0.0,
        opening: None,
        competing: None,
        packet: Bytes::new(900),
        wire: Bytes::new(1000),
        trains: None,
        steps: None,
        jitter: None,
        policer: None,
        rebases: false,
        ..Config::default()
    }
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
    assert!((1.99..2.01).contains(&capacity), "{capacity}");
}

#[test]
fn audio_that_waits_for_the_turn_of_a_cell_does_not_measure_the_path() {
    let mut flow = Flow::new(Thalweg::new(steady()).unwrap());
    let audio = |flow: &mut Flow<Thalweg>, at: u64, waits: i64| {
        let (id, arrival) =
            (flow.send(MS(at), 65, |sent| sent.payload = Payload::Audio).0, MS(at + 25) + Span::from_millis(waits));
        flow.report(arrival + Span::from_millis(25), &[(id, arrival)]);
    };
    // 65 bytes in 15 ms are 35 kbps, with which no frame would ever have left, and two at once no rate at all.
    for (packet, waits) in [0, 15, 0, 35, 15, 0].into_iter().enumerate() {
        audio(&mut flow, 20 * packet as u64, waits);
    }
    assert_eq!(flow.limits().capacity, steady().start, "nothing is measured");
    play(&mut flow, 8..40, 3, 4);
    let before = flow.limits().capacity;
    (0..20).for_each(|packet| audio(&mut flow, 1600 + 20 * packet, 15 * (packet as i64 % 2)));
    assert_eq!(flow.limits().capacity, before);
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
fn while_nothing_arrives_a_packet_is_tried_each_60_ms_and_both_ends_of_a_fade_are_decisions() {
    let mut flow = Flow::new(Thalweg::new(Config { margin: Some(margin::Config::default()), ..steady() }).unwrap());
    play(&mut flow, 0..40, 3, 4);
    let id = flow.send(MS(1600), 1000, |_| {}).0;
    // A round trip and 50 ms later.
    let due = flow.next_timeout();
    assert!((MS(1695)..=MS(1705)).contains(&due), "{due}");
    assert_ne!(flow.limits().media, MediaLimit::Frame(Bytes::ZERO));
    flow.expire();
    assert_eq!(flow.limits().media, MediaLimit::Frame(Bytes::new(900)));
    flow.send(due, 1000, |_| {});
    assert_eq!(flow.limits().media, MediaLimit::Frame(Bytes::ZERO));
    assert_eq!(flow.next_timeout(), due + Span::from_millis(60));
    flow.expire();
    assert_eq!(flow.limits().media, MediaLimit::Frame(Bytes::new(900)));
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
fn packets_that_a_halt_held_back_arrive_at_once_and_are_neither_a_step_nor_a_faster_path() {
    let mut flow = Flow::new(Thalweg::new(Config { steps: Some(StepsConfig::default()), ..steady() }).unwrap());
    play(&mut flow, 0..40, 3, 4);
    // Nothing arrives for 400 ms, and then 30 packets do.
    let ended = MS(2025);
    let held: Vec<(u64, Time)> =
        (0..30).map(|index| (flow.send(MS(1600 + index * 14), 1000, |_| {}).0, ended)).collect();
    flow.report(ended + Span::from_millis(25), &held);
    let capacity = flow.limits().capacity.as_mbps_f64();
    assert!((1.9..2.1).contains(&capacity), "{capacity}");
    play(&mut flow, 52..60, 3, 4);
    let after = flow.limits().capacity.as_mbps_f64();
    assert!((1.9..2.1).contains(&after), "{after}");
    let steps = flow.decisions().into_iter().filter(|(what, _)| *what == "step").count();
    assert_eq!(steps, 0);
}

#[test]
fn the_path_has_served_packets_of_which_no_report_says_whether_they_arrived() {
    let mut service = Service::new(&steady()).unwrap();
    for frame in 0..40 {
        // Five packets a frame, 1000 bytes each 4 ms, of which no report names the second and the third.
        for place in [0, 3, 4] {
            let at = MS(40 * frame);
            let packet = SentPacket::new(PacketId(5 * frame + place), at, Bytes::new(1000));
            service.on_unreported(if place == 3 { 2 } else { 0 });
            service.on_arrivals(&[(at + Span::from_millis(25 + 4 * place as i64), packet)], Span::ZERO, false);
        }
    }
    let rate = service.rate().unwrap().as_mbps_f64();
    assert!((1.9..2.1).contains(&rate), "{rate}");
}

#[test]
fn a_path_that_becomes_slow_is_no_row_of_outages() {
    let mut flow = Flow::new(Thalweg::new(steady()).unwrap());
    play(&mut flow, 0..40, 3, 4);
    // A packet each 400 ms from 2 Mbps on: 20 kbps.
    for index in 0..50 {
        let id = flow.send(MS(1600 + 400 * index), 1000, |_| {}).0;
        let arrival = MS(2025 + 400 * index);
        flow.report(arrival + Span::from_millis(25), &[(id, arrival)]);
    }
    let capacity = flow.limits().capacity.as_kbps_f64();
    assert!((18.0..40.0).contains(&capacity), "{capacity} kbps");
}

#[test]
fn with_held_packets_the_budget_is_a_window() {
    let mut flow = Flow::new(Thalweg::new(Config { holds_packets: true, ..steady() }).unwrap());
    play(&mut flow, 0..40, 3, 4);
    let limits = flow.limits();
    assert_eq!(limits.media, MediaLimit::None);
    let window = limits.capacity.over(Span::from_millis(ROUND_TRIP as i64) + steady().budget);
    assert!(limits.window.is_some_and(|allowed| allowed.get().abs_diff(window.get()) <= 1), "{:?}", limits.window);
}

#[test]
fn parameters_out_of_range_are_refused() {
    for config in [
        Config { budget: Span::ZERO, ..steady() },
        Config { quick: 0.0, ..steady() },
        Config { slow: 1.5, ..steady() },
        Config { wire: Bytes::new(10), ..steady() },
        Config { first_packets: 0, ..steady() },
        Config { packets: -1.0, ..steady() },
        Config { margin: Some(margin::Config { min: Span::from_secs(2), ..margin::Config::default() }), ..steady() },
        Config { margin: Some(margin::Config { late: -1.0, ..margin::Config::default() }), ..steady() },
    ] {
        assert!(Thalweg::new(config).is_err(), "{config:?}");
    }
}

/// Budget after frames of one packet each 40 ms: each waits `waits` milliseconds beyond the budget in force (but no
/// less than none), or with a negative number meets a path that was empty for as long for want of budget.
fn budget_after(config: margin::Config, offsets: impl IntoIterator<Item = i64>) -> i64 {
    let mut flow = Flow::new(Thalweg::new(Config { margin: Some(config), ..steady() }).unwrap());
    // The first frame shows the empty path.
    for (frame, offset) in (0..).zip(core::iter::once(-1000).chain(offsets)) {
        let at = MS(40 * frame);
        let waits = (flow.budget() + Span::from_millis(offset)).max(Span::ZERO);
        let id = flow.send(at, 1000, |sent| sent.place = Some(whole(frame, at))).0;
        let arrival = at + Span::from_millis(25) + waits;
        flow.report(arrival + Span::from_millis(25), &[(id, arrival)]);
    }
    flow.budget().as_millis()
}

fn eager() -> margin::Config {
    margin::Config { cautious: Span::ZERO, ..margin::Config::default() }
}

#[test]
fn a_queue_that_keeps_no_path_busy_is_given_up() {
    // Each frame waits 30 ms although the budget is at its least.
    assert_eq!(budget_after(eager(), [30; 100]), 20);
}

#[test]
fn a_path_that_runs_empty_is_worth_a_longer_wait() {
    // With a budget of 110 ms, between two that are compared, each frame waits 40 ms, which is until the next arrives.
    let budget = budget_after(eager(), [-70; 100]);
    assert!((110..=125).contains(&budget), "{budget} ms");
}

#[test]
fn frames_that_would_be_late_cost_more_than_a_path_that_runs_empty_for_as_long() {
    // Every third frame finds the path empty below 80 ms, the others would wait 110 ms with that.
    let mixed = |late: i64| (0..150).map(move |frame| if frame % 3 == 0 { -80 } else { late });
    let (late, in_time) = (budget_after(eager(), mixed(60)), budget_after(eager(), mixed(-20)));
    assert!(late <= 45 && in_time >= 70, "{late} and {in_time} ms");
}

#[test]
fn hindsight_waits_until_the_path_has_served_for_a_while() {
    let config = margin::Config { cautious: Span::from_millis(1000), ..margin::Config::default() };
    let initial = steady().budget.as_millis();
    assert_eq!(budget_after(config, [-100; 20]), initial);
    assert!(budget_after(config, [-100; 40]) > initial);
}

/// Packets of 1000 bytes, one each 10 ms over a path of 0.8 Mbps, on each of which `wait` of its time has a queue.
fn trickle(flow: &mut Flow<Thalweg>, seconds: core::ops::Range<u64>, wait: impl Fn(&Flow<Thalweg>, Time) -> Span) {
    for at in (seconds.start * 1000..seconds.end * 1000).step_by(10).map(MS) {
        let arrival = at + Span::from_millis(25) + wait(flow, at);
        let id = flow.send(at, 1000, |_| {}).0;
        flow.report(arrival + Span::from_millis(25), &[(id, arrival)]);
    }
}

fn is_draining(flow: &Flow<Thalweg>) -> bool {
    flow.round_trip.draining(Bytes::ZERO, Bytes::ZERO).is_some()
}

fn allowed(flow: &Flow<Thalweg>) -> u64 {
    flow.may_be_under_way().get()
}

#[test]
fn a_path_that_was_not_seen_empty_for_five_seconds_is_drained() {
    let mut flow = Flow::new(Thalweg::new(steady()).unwrap());
    trickle(&mut flow, 0..1, |_, _| Span::ZERO);
    let queued = |_: &Flow<Thalweg>, _| Span::from_millis(40);
    trickle(&mut flow, 1..5, queued);
    let before = allowed(&flow);
    assert!(!is_draining(&flow));
    let id = flow.send(MS(6060), 1000, |_| {}).0;
    flow.report(MS(6150), &[(id, MS(6125))]);
    assert!(is_draining(&flow) && allowed(&flow) < before / 2, "{} of {before}", allowed(&flow));
    // Once it is empty, all is as before; nothing else keeps the path full.
    trickle(&mut flow, 7..8, |_, _| Span::ZERO);
    assert!(!is_draining(&flow));
    assert_eq!(flow.round_trip.contended_for(MS(8000)), Span::ZERO);
    let decided: Vec<&str> = flow.decisions().into_iter().map(|(what, _)| what).collect();
    assert_eq!(decided, ["drain"]);
}

#[test]
fn a_path_that_was_taken_for_faster_than_it_is_is_drained_down_to_few_packets() {
    let mut flow = Flow::new(Thalweg::new(steady()).unwrap());
    trickle(&mut flow, 0..1, |_, _| Span::ZERO);
    // What is under way above five packets waits.
    trickle(&mut flow, 1..8, |flow, _| {
        let few = flow.config.wire * 5;
        Span::from_millis(if flow.may_be_under_way() <= few { 0 } else { 400 })
    });
    assert_eq!(flow.round_trip.contended_for(MS(8000)), Span::ZERO);
    assert_eq!(flow.decisions().into_iter().filter(|(what, _)| *what == "contend").count(), 0);
}

#[test]
fn a_path_that_does_not_drain_is_another_flows_and_more_is_queued_each_second() {
    let mut flow = Flow::new(Thalweg::new(steady()).unwrap());
    trickle(&mut flow, 0..1, |_, _| Span::ZERO);
    trickle(&mut flow, 1..8, |_, _| Span::from_millis(80));
    assert!(!is_draining(&flow));
    let (first, since) = (allowed(&flow), flow.round_trip.contended_for(MS(8000)));
    assert!(since > Span::from_secs(1), "{since}");
    trickle(&mut flow, 8..10, |_, _| Span::from_millis(80));
    let more = allowed(&flow) as i64 - first as i64;
    assert!((1500..2500).contains(&more), "{more}");
    let decided: Vec<&str> = flow.decisions().into_iter().map(|(what, _)| what).collect();
    assert_eq!(decided, ["drain", "contend"]);
}

/// Losses of one packet in ten among those for which `is_lost`, of packets that meet a queue of 0 to 9 kB in turn.
fn limit_after(is_lost: impl Fn(u64) -> bool) -> Option<Bytes> {
    let mut overflow = Overflow::default();
    for index in 0..2000 {
        let mut packet = SentPacket::new(PacketId(index), MS(10 * index), Bytes::new(1000));
        packet.in_flight = Bytes::new(5000 + index % 10 * 1000);
        let at = packet.at + Span::from_millis(30);
        let fate = if is_lost(index) { Fate::Lost } else { Fate::arrived(at) };
        let reports = [Report { packet, fate }];
        let feedback = Feedback::new(at + Span::from_millis(30), Cause::Report, &reports);
        overflow.on_feedback(&feedback, Bytes::new(5000), Span::from_millis(50), Bytes::ZERO);
    }
    overflow.limit()
}

#[test]
fn losses_of_a_long_queue_limit_it_and_losses_at_random_do_not() {
    let long = limit_after(|index| index % 10 >= 8 && index % 20 >= 10).expect("a limit");
    assert!(long < Bytes::new(8000), "{long}");
    // Every seventh packet, whatever it met.
    assert_eq!(limit_after(|index| index % 7 == 0), None);
    assert_eq!(limit_after(|_| false), None);
}

mod beside_others;
mod off_the_track;
