//! The specification's worked examples and edge cases, run through the controller.

use alloc::vec::Vec;

use thalweg_units::{Bytes, Rate, Span, Time};

use super::burst_length::Outcome;
use super::{Camel, Config};
use crate::controller::{Controller, Demand};
use crate::packet::{FramePlace, Payload};
use crate::testing::{Flow, place};

/// A sender of frames over a path with reported arrivals.
fn sender(config: Config) -> Flow<Camel> {
    let mut camel = Camel::new(config).unwrap();
    camel.on_demand(Time::ZERO, Demand { min: Rate::from_kbps(30), max: Rate::from_kbps(12_000) });
    Flow::new(camel)
}

impl Flow<Camel> {
    /// Sends a frame's packets at `at_ms`.
    fn frame(&mut self, frame: u64, at_ms: u64, sizes: &[u64]) {
        let at = Time::from_millis(at_ms);
        for (index, size) in sizes.iter().enumerate() {
            let offset = sizes[..index].iter().copied().map(Bytes::new).sum();
            let place = FramePlace { first: index == 0, offset, ..place(frame, index + 1 == sizes.len(), at) };
            self.send(at, *size, |packet| packet.place = Some(place));
        }
    }

    fn on_report(&mut self, now_us: u64, arrivals: &[(u64, u64)]) {
        let arrivals: Vec<(u64, Time)> = arrivals.iter().map(|(id, at)| (*id, Time::from_micros(*at))).collect();
        self.report(Time::from_micros(now_us), &arrivals);
    }

    fn average(&self) -> Option<Rate> {
        self.bandwidth.average()
    }
}

const FRAME: [u64; 5] = [1200, 1200, 1200, 1200, 800];
const ARRIVALS: [(u64, u64); 5] = [(0, 100_000), (1, 109_600), (2, 119_200), (3, 128_800), (4, 135_200)];

#[test]
fn a_frame_of_five_packets_measures_a_megabit() {
    // Worked example 1.
    let mut sender = sender(Config::default());
    sender.frame(0, 50, &FRAME);
    assert_eq!(sender.limits().capacity, Rate::from_kbps(300), "the start target");
    assert_eq!(sender.limits().window, Some(Bytes::new(12_000)), "ten packets");
    sender.on_report(160_200, &ARRIVALS);
    assert_eq!(sender.average(), Some(Rate::from_kbps(1000)));
    let limits = sender.limits();
    assert_eq!((limits.capacity, limits.pacing), (Rate::from_kbps(1000), Rate::from_kbps(1000)));
    assert_eq!(limits.burst, Some(Bytes::new(6144)));
    // The first packet took 75 ms: 50 to the receiver, 25 back.
    assert_eq!(sender.min_delay.get(), Some(Span::from_millis(75)));
}

#[test]
fn three_congested_updates_and_a_clean_one_move_gamma_as_the_worked_example_says() {
    // Worked example 2: avg(B) 1 Mbps, min(D) 50 ms.
    let literal = Config::paper_literal().window;
    let mut sender = sender(Config { window: literal, ..Config::default() });
    sender.frame(0, 50, &FRAME);
    sender.on_report(160_200, &ARRIVALS);
    let camel = &mut *sender;
    camel.min_delay.add(Time::from_millis(160), Span::from_millis(50), Span::from_secs(10));
    assert_eq!(camel.product(), Some(Bytes::new(6250)));
    for point in 0..20u64 {
        // On the line of a full queue: one second of delay per megabit.
        let in_flight = Bytes::new(6250 + point * 250);
        camel.gradient.add(Time::from_millis(200), in_flight, Rate::from_kbps(1000).time_for(in_flight));
    }
    for update in 1..=3u64 {
        camel.fresh = true;
        camel.move_gamma(Time::from_millis(200 + update * 50));
        camel.fresh = true;
        camel.move_gamma(Time::from_millis(200 + update * 50 + 49));
    }
    assert!((camel.gamma - 0.857375).abs() < 1e-12, "{}", camel.gamma);
    assert_eq!((camel.window(), camel.target()), (Bytes::new(5359), Rate::from_bps(857_375)));
    camel.gradient.clear();
    camel.fresh = true;
    camel.move_gamma(Time::from_millis(500));
    assert_eq!((camel.gamma, camel.window(), camel.target()), (1.0, Bytes::new(6250), Rate::from_kbps(1000)));
    let said: Vec<&str> = core::iter::from_fn(|| camel.poll_decision()).map(|decision| decision.what).collect();
    assert_eq!(said, ["begin", "slow down", "slow down", "slow down", "speed up"]);
}

#[test]
fn gamma_rests_at_its_floor_and_pacing_at_half_the_bandwidth() {
    let mut sender = sender(Config::default());
    sender.frame(0, 50, &FRAME);
    sender.on_report(160_200, &ARRIVALS);
    sender.gamma = 0.1;
    let limits = sender.limits();
    assert_eq!((limits.capacity, limits.pacing), (Rate::from_kbps(100), Rate::from_kbps(500)));
    assert_eq!(limits.window, Some(Bytes::new(4800)), "four packets");
}

#[test]
fn the_window_holds_a_frame_that_is_more_than_the_product() {
    // specs/camel.md 5: 1 Mbps x 25 ms is 3125 bytes, a frame 4167.
    let mut sender = sender(Config::default());
    sender.frame(0, 75, &FRAME);
    sender.on_report(125_000, &ARRIVALS);
    sender.on_report(160_200, &ARRIVALS);
    sender.frame(1, 200, &[1042, 1042, 1042, 1041]);
    sender.frame(2, 233, &[1042, 1042]);
    sender.min_delay.add(Time::from_millis(233), Span::from_millis(25), Span::from_secs(10));
    sender.held = Span::ZERO;
    assert_eq!(sender.window(), Bytes::new(4167 + 1200));
    sender.gamma = 0.95;
    assert_eq!(sender.window(), Bytes::new(4800), "congested: 0.95 x 4167 is less than four packets");
}

#[test]
fn a_retransmission_in_a_burst_counts_for_neither_its_bytes_nor_its_time() {
    let mut sender = sender(Config::default());
    let at = Time::from_millis(50);
    for first in [true, false, false, false] {
        let place = FramePlace { first, ..place(0, false, Time::ZERO) };
        sender.send(at, 1200, |packet| packet.place = Some(place));
    }
    sender.send(at, 400, |packet| packet.payload = Payload::Repair);
    sender.send(at, 400, |packet| packet.place = Some(place(0, true, Time::ZERO)));
    let mut arrivals = ARRIVALS.to_vec();
    arrivals[4] = (4, 132_000);
    arrivals.push((5, 135_200));
    sender.on_report(160_200, &arrivals);
    // 4000 bytes over 35.2 ms.
    assert_eq!(sender.average(), Some(Rate::from_bps(909_090)));
}

#[test]
fn the_last_arrival_ends_a_burst_whatever_its_place_and_lost_bytes_do_not_count() {
    let mut sender = sender(Config::default());
    sender.frame(0, 50, &FRAME);
    // The third is lost, the last two are reordered: 1200 + 1200 + 800 over 35.2 ms.
    sender.on_report(160_200, &[(0, 100_000), (1, 109_600), (4, 128_800), (3, 135_200)]);
    assert_eq!(sender.average(), None, "the third may still come");
    sender.frame(1, 160, &FRAME);
    let next: Vec<(u64, u64)> = ARRIVALS.iter().map(|(id, at)| (id + 5, at + 110_000)).collect();
    sender.on_report(200_000, &next[..1]);
    assert_eq!(sender.average(), Some(Rate::from_bps(727_272)), "three later ones came: it is lost");
}

#[test]
fn a_burst_of_which_a_part_is_never_told_of_is_judged_after_two_round_trips_and_a_bit() {
    let mut sender = sender(Config::default());
    sender.frame(0, 50, &FRAME);
    sender.on_report(160_200, &ARRIVALS[..4]);
    assert_eq!(sender.average(), None);
    sender.on_report(400_000, &[]);
    // The feedback arrived 110 ms after the burst left: 50 + 2 x 110 + 100 has passed.
    assert_eq!(sender.average(), Some(Rate::from_kbps(1000)));
}

#[test]
fn a_frame_longer_than_m_is_more_than_one_burst() {
    let mut sender = sender(Config::default());
    // Five packets fit into 6144 bytes; the other five leave when the first have drained.
    for index in 0..10 {
        let place = FramePlace { first: index == 0, ..place(0, index == 9, Time::ZERO) };
        let at = Time::from_millis(if index < 5 { 50 } else { 90 });
        sender.send(at, 1200, |packet| packet.place = Some(place));
    }
    let first: Vec<(u64, u64)> = (0..5).map(|id| (id, 100_000 + id * 9600)).collect();
    sender.on_report(163_400, &first);
    assert_eq!(sender.average(), Some(Rate::from_kbps(1000)), "the first slice by itself");
    // The second slice meets twice the capacity, and is timed from its own first packet.
    let second: Vec<(u64, u64)> = (5..10).map(|id| (id, 150_000 + (id - 5) * 4800)).collect();
    sender.on_report(200_000, &second);
    assert_eq!(sender.average(), Some(Rate::from_kbps(1500)));
}

#[test]
fn missing_feedback_halves_the_target_once_per_timeout_until_some_arrives() {
    let mut sender = sender(Config::default());
    sender.frame(0, 50, &FRAME);
    sender.on_report(160_200, &ARRIVALS);
    sender.frame(1, 200, &FRAME);
    let mut capacities = Vec::new();
    for _ in 0..6 {
        let at = sender.expire();
        capacities.push((at, sender.limits().capacity.as_bps() / 1000));
    }
    let expected = [(700, 500), (1200, 250), (1700, 125), (2200, 62), (2700, 50), (3200, 50)];
    assert_eq!(capacities, expected.map(|(at, kbps)| (Time::from_millis(at), kbps)));
    assert_eq!(sender.limits().window, Some(Bytes::new(4800)));
    sender.on_report(3_300_000, &[(5, 3_250_000)]);
    assert_eq!(sender.limits().capacity, Rate::from_kbps(1000), "avg(B) stood still");
}

#[test]
fn an_idle_connection_is_measured_by_a_train_every_five_seconds() {
    let mut idle = sender(Config::default());
    idle.frame(0, 50, &FRAME);
    idle.on_report(160_200, &ARRIVALS);
    assert_eq!(idle.limits().probe, None);
    idle.on_timeout(Time::from_micros(5_160_200));
    let probe = idle.limits().probe.unwrap();
    assert_eq!((probe.packets, probe.bytes), (5, Bytes::new(6000)));
    assert!(probe.rate.over(probe.spacing) >= probe.bytes, "all of them leave at once");
    let mut never = sender(Config { idle: None, ..Config::default() });
    never.frame(0, 50, &FRAME);
    never.on_timeout(Time::from_millis(6000));
    assert_eq!(never.limits().probe, None);
}

#[test]
fn gcc_takes_over_at_the_target_and_its_probes_have_numbers_of_their_own() {
    let mut sender = sender(Config::default());
    sender.frame(0, 50, &FRAME);
    sender.on_report(160_200, &ARRIVALS);
    let camel = &mut *sender;
    camel.clusters = 7;
    camel.burst_length.restart();
    for packet in 0..40 {
        let outcome = if packet % 2 == 0 { Outcome::Arrived } else { Outcome::Lost };
        camel.burst_length.on_packet(Bytes::ZERO, Bytes::new(1200), packet % 2 == 0, outcome);
    }
    camel.judge_burst_length(Time::from_millis(5050));
    let limits = camel.limits();
    assert_eq!((limits.burst, limits.window), (None, None), "paced, and by rate alone");
    assert_eq!(limits.capacity, Rate::from_kbps(1000));
    assert!(limits.probe.is_some_and(|probe| probe.cluster > 7), "{:?}", limits.probe);
    // Thirty seconds later bursts of the min length are tried.
    camel.on_timeout(Time::from_millis(35_050));
    assert_eq!(camel.limits().burst, Some(Bytes::new(2048)));
    camel.on_timeout(Time::from_millis(40_050));
    assert_eq!(camel.limits().burst, None, "nothing was seen of the trial, so GCC stays");
}
