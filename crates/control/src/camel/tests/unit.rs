//! The specification's worked examples and edge cases, run through the controller.

use alloc::vec::Vec;

use thalweg_units::{Bytes, Rate, Span, Time};

use super::super::burst_length::Outcome;
use super::super::{Camel, Config, Window};
use crate::controller::{Controller, Demand};
use crate::feedback::{self, Acknowledgement, History};
use crate::packet::{FramePlace, PacketId, Payload, SentPacket};

/// A sender of frames over a path with reported arrivals.
struct Sender {
    history: History,
    camel: Camel,
    next: u64,
}

impl Sender {
    fn new(config: Config) -> Sender {
        let mut camel = Camel::new(config).unwrap();
        camel.on_demand(Time::ZERO, Demand { min: Rate::from_kbps(30), max: Rate::from_kbps(12_000) });
        Sender { history: History::new(feedback::Config::default()), camel, next: 0 }
    }

    /// Sends a frame's packets at `at_ms`.
    fn send(&mut self, frame: u64, at_ms: u64, sizes: &[u64]) {
        let mut offset = Bytes::ZERO;
        for (index, size) in sizes.iter().enumerate() {
            let place = FramePlace {
                frame,
                first: index == 0,
                last: index + 1 == sizes.len(),
                offset,
                captured: Time::from_millis(at_ms),
                keyframe: false,
            };
            offset += Bytes::new(*size);
            self.send_packet(at_ms, *size, Some(place), Payload::Media);
        }
    }

    fn send_packet(&mut self, at_ms: u64, size: u64, place: Option<FramePlace>, payload: Payload) {
        let packet = SentPacket {
            place,
            payload,
            ..SentPacket::new(PacketId(self.next), Time::from_millis(at_ms), Bytes::new(size))
        };
        self.next += 1;
        let sent = self.history.on_sent(packet);
        self.camel.on_sent(&sent);
    }

    fn on_report(&mut self, now_us: u64, arrivals: &[(u64, u64)]) {
        let reported: Vec<Acknowledgement> = arrivals
            .iter()
            .map(|(id, at)| Acknowledgement { id: PacketId(*id), arrival: Some(Time::from_micros(*at)), ce: false })
            .collect();
        let feedback = self.history.on_report(Time::from_micros(now_us), &reported, None);
        self.camel.on_feedback(&feedback);
    }

    fn average(&self) -> Option<Rate> {
        self.camel.bandwidth.average()
    }
}

const FRAME: [u64; 5] = [1200, 1200, 1200, 1200, 800];
const ARRIVALS: [(u64, u64); 5] = [(0, 100_000), (1, 109_600), (2, 119_200), (3, 128_800), (4, 135_200)];

#[test]
fn a_frame_of_five_packets_measures_a_megabit() {
    // Worked example 1.
    let mut sender = Sender::new(Config::default());
    sender.send(0, 50, &FRAME);
    assert_eq!(sender.camel.limits().capacity, Rate::from_kbps(300), "the start target");
    assert_eq!(sender.camel.limits().window, Some(Bytes::new(12_000)), "ten packets");
    sender.on_report(160_200, &ARRIVALS);
    assert_eq!(sender.average(), Some(Rate::from_kbps(1000)));
    let limits = sender.camel.limits();
    assert_eq!((limits.capacity, limits.pacing), (Rate::from_kbps(1000), Rate::from_kbps(1000)));
    assert_eq!(limits.burst, Some(Bytes::new(6144)));
    // The first packet took 75 ms: 50 to the receiver, 25 back.
    assert_eq!(sender.camel.min_delay.get(), Some(Span::from_millis(75)));
}

#[test]
fn three_congested_updates_and_a_clean_one_move_gamma_as_the_worked_example_says() {
    // Worked example 2: avg(B) 1 Mbps, min(D) 50 ms.
    let literal = Window { gain: 1.0, holds_burst: false, covers_reports: None, ..Window::default() };
    let mut sender = Sender::new(Config { window: literal, ..Config::default() });
    sender.send(0, 50, &FRAME);
    sender.on_report(160_200, &ARRIVALS);
    let camel = &mut sender.camel;
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
    let mut sender = Sender::new(Config::default());
    sender.send(0, 50, &FRAME);
    sender.on_report(160_200, &ARRIVALS);
    sender.camel.gamma = 0.1;
    let limits = sender.camel.limits();
    assert_eq!((limits.capacity, limits.pacing), (Rate::from_kbps(100), Rate::from_kbps(500)));
    assert_eq!(limits.window, Some(Bytes::new(4800)), "four packets");
}

#[test]
fn the_window_holds_a_frame_that_is_more_than_the_product() {
    // specs/camel.md 5: 1 Mbps x 25 ms is 3125 bytes, a frame 4167.
    let mut sender = Sender::new(Config::default());
    sender.send(0, 75, &FRAME);
    sender.on_report(125_000, &ARRIVALS);
    sender.on_report(160_200, &ARRIVALS);
    sender.send(1, 200, &[1042, 1042, 1042, 1041]);
    sender.send(2, 233, &[1042, 1042]);
    sender.camel.min_delay.add(Time::from_millis(233), Span::from_millis(25), Span::from_secs(10));
    sender.camel.held = Span::ZERO;
    assert_eq!(sender.camel.window(), Bytes::new(4167 + 1200));
    sender.camel.gamma = 0.95;
    assert_eq!(sender.camel.window(), Bytes::new(4800), "congested: 0.95 x 4167 is less than four packets");
}

#[test]
fn a_retransmission_in_a_burst_counts_for_neither_its_bytes_nor_its_time() {
    let mut sender = Sender::new(Config::default());
    let place = |index: u64| FramePlace {
        frame: 0,
        first: index == 0,
        last: index == 4,
        offset: Bytes::ZERO,
        captured: Time::ZERO,
        keyframe: false,
    };
    for index in 0..4 {
        sender.send_packet(50, 1200, Some(place(index)), Payload::Media);
    }
    sender.send_packet(50, 400, None, Payload::Repair);
    sender.send_packet(50, 400, Some(place(4)), Payload::Media);
    let mut arrivals = ARRIVALS.to_vec();
    arrivals[4] = (4, 132_000);
    arrivals.push((5, 135_200));
    sender.on_report(160_200, &arrivals);
    // 4000 bytes over 35.2 ms.
    assert_eq!(sender.average(), Some(Rate::from_bps(909_090)));
}

#[test]
fn the_last_arrival_ends_a_burst_whatever_its_place_and_lost_bytes_do_not_count() {
    let mut sender = Sender::new(Config::default());
    sender.send(0, 50, &FRAME);
    // The third is lost, the last two are reordered: 1200 + 1200 + 800 over 35.2 ms.
    sender.on_report(160_200, &[(0, 100_000), (1, 109_600), (4, 128_800), (3, 135_200)]);
    assert_eq!(sender.average(), None, "the third may still come");
    sender.send(1, 160, &FRAME);
    let next: Vec<(u64, u64)> = ARRIVALS.iter().map(|(id, at)| (id + 5, at + 110_000)).collect();
    sender.on_report(200_000, &next[..1]);
    assert_eq!(sender.average(), Some(Rate::from_bps(727_272)), "three later ones came: it is lost");
}

#[test]
fn a_burst_of_which_a_part_is_never_told_of_is_judged_after_two_round_trips_and_a_bit() {
    let mut sender = Sender::new(Config::default());
    sender.send(0, 50, &FRAME);
    sender.on_report(160_200, &ARRIVALS[..4]);
    assert_eq!(sender.average(), None);
    sender.on_report(400_000, &[]);
    // The feedback arrived 110 ms after the burst left: 50 + 2 x 110 + 100 has passed.
    assert_eq!(sender.average(), Some(Rate::from_kbps(1000)));
}

#[test]
fn a_frame_longer_than_m_is_more_than_one_burst() {
    let mut sender = Sender::new(Config::default());
    // Five packets fit into 6144 bytes; the other five leave when the first have drained.
    let places = (0..10).map(|index| FramePlace {
        frame: 0,
        first: index == 0,
        last: index == 9,
        offset: Bytes::ZERO,
        captured: Time::ZERO,
        keyframe: false,
    });
    for (index, place) in places.enumerate() {
        sender.send_packet(if index < 5 { 50 } else { 90 }, 1200, Some(place), Payload::Media);
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
    let mut sender = Sender::new(Config::default());
    sender.send(0, 50, &FRAME);
    sender.on_report(160_200, &ARRIVALS);
    sender.send(1, 200, &FRAME);
    let mut capacities = Vec::new();
    for _ in 0..6 {
        let at = sender.camel.next_timeout();
        sender.camel.on_timeout(at);
        capacities.push((at, sender.camel.limits().capacity.as_bps() / 1000));
    }
    let expected = [(700, 500), (1200, 250), (1700, 125), (2200, 62), (2700, 50), (3200, 50)];
    assert_eq!(capacities, expected.map(|(at, kbps)| (Time::from_millis(at), kbps)));
    assert_eq!(sender.camel.limits().window, Some(Bytes::new(4800)));
    sender.on_report(3_300_000, &[(5, 3_250_000)]);
    assert_eq!(sender.camel.limits().capacity, Rate::from_kbps(1000), "avg(B) stood still");
}

#[test]
fn an_idle_connection_is_measured_by_a_train_every_five_seconds() {
    let mut sender = Sender::new(Config::default());
    sender.send(0, 50, &FRAME);
    sender.on_report(160_200, &ARRIVALS);
    assert_eq!(sender.camel.limits().probe, None);
    sender.camel.on_timeout(Time::from_micros(5_160_200));
    let probe = sender.camel.limits().probe.unwrap();
    assert_eq!((probe.packets, probe.bytes), (5, Bytes::new(6000)));
    assert!(probe.rate.over(probe.spacing) >= probe.bytes, "all of them leave at once");
    let idle_off = Config { idle: None, ..Config::default() };
    let mut never = Sender::new(idle_off);
    never.send(0, 50, &FRAME);
    never.camel.on_timeout(Time::from_millis(6000));
    assert_eq!(never.camel.limits().probe, None);
}

#[test]
fn gcc_takes_over_at_the_target_and_its_probes_have_numbers_of_their_own() {
    let mut sender = Sender::new(Config::default());
    sender.send(0, 50, &FRAME);
    sender.on_report(160_200, &ARRIVALS);
    let camel = &mut sender.camel;
    camel.clusters = 7;
    camel.burst_length.restart();
    for packet in 0..40 {
        let outcome = if packet % 2 == 0 { Outcome::Arrived } else { Outcome::Lost };
        camel.burst_length.on_packet(Bytes::ZERO, packet % 2 == 0, outcome);
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
