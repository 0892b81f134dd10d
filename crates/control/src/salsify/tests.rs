use alloc::vec::Vec;

use super::*;
use crate::feedback::{self, Acknowledgement, History};
use crate::packet::{FramePlace, PacketId};

/// A sender of packets of 1,400 bytes, each a frame of its own, over a path whose delay is told with each arrival.
struct Sender {
    history: History,
    salsify: Salsify,
}

impl Sender {
    fn new(config: Config) -> Sender {
        Sender { history: History::new(feedback::Config::default()), salsify: config.build().unwrap() }
    }

    fn send(&mut self, id: u64, at_us: u64, first: bool) {
        let place = FramePlace { frame: 0, first, last: false, offset: Bytes::ZERO };
        let packet = SentPacket {
            place: Some(place),
            ..SentPacket::new(PacketId(id), Time::from_micros(at_us), Bytes::new(1400))
        };
        let sent = self.history.on_sent(packet);
        self.salsify.on_sent(&sent);
    }

    fn arrive(&mut self, now_us: u64, arrivals: &[(u64, u64)]) {
        let told: Vec<Acknowledgement> = arrivals
            .iter()
            .map(|(id, at)| Acknowledgement { id: PacketId(*id), arrival: Some(Time::from_micros(*at)), ce: false })
            .collect();
        let feedback = self.history.on_report(Time::from_micros(now_us), &told, None);
        self.salsify.on_feedback(&feedback);
    }

    fn tau_us(&self) -> i64 {
        self.salsify.interarrival().map_or(-1, |tau| tau.as_nanos() / 1000)
    }
}

/// The arrivals of spec A7.1 as a sender sees them, and tau after each.
fn worked_example(grace: Grace) -> Vec<i64> {
    let mut sender = Sender::new(Config { grace, ..Config::default() });
    let packets = [(0, 0, true), (1, 1200, false), (2, 2600, false), (3, 36_000, true), (4, 37_000, false)];
    // The second frame was sent 33 ms after the first: its first packet says so.
    let sent = [0, 0, 0, 33_000, 33_000];
    for ((id, _, first), sent) in packets.into_iter().zip(sent) {
        sender.send(id, sent, first);
    }
    packets
        .into_iter()
        .map(|(id, at, _)| {
            sender.arrive(40_000 + at, &[(id, at)]);
            sender.tau_us()
        })
        .collect()
}

#[test]
fn the_time_between_arrivals_is_smoothed_without_the_senders_pauses() {
    for grace in [Grace::EveryPacket, Grace::FirstOfFrame] {
        assert_eq!(worked_example(grace), [0, 120, 248, 263, 336]);
    }
    assert_eq!(worked_example(Grace::None)[3], 3563);
}

#[test]
fn a_batch_of_arrivals_counts_as_each_alone_whatever_its_order() {
    let run = |batch: bool| {
        let mut sender = Sender::new(Config::default());
        (0..4).for_each(|id| sender.send(id, id * 500, id == 0));
        let arrivals = [(0, 20_000), (2, 21_100), (1, 21_500), (3, 23_000)];
        if batch {
            sender.arrive(60_000, &arrivals);
        } else {
            arrivals.iter().for_each(|arrival| sender.arrive(60_000, &[*arrival]));
        }
        sender.tau_us()
    };
    assert_eq!(run(true), run(false));
    // Packet 1 came after 2 and does not count: 1100, then 1900.
    assert_eq!(run(true), 289);
}

fn allowed(tau_us: i64, under_way: u64, config: Config) -> u64 {
    let mut sender = Sender::new(config);
    sender.salsify.on_interarrival(Time::ZERO, Span::from_micros(tau_us));
    (0..under_way).for_each(|id| sender.send(id, id * 500, id == 0));
    sender.salsify.max_frame_size().unwrap().get()
}

#[test]
fn a_frame_may_have_what_the_path_does_in_100_ms_less_what_is_under_way() {
    assert_eq!(allowed(2000, 10, Config::default()), 56_000);
    assert_eq!(allowed(2000, 60, Config::default()), 0);
    assert_eq!(allowed(500, 30, Config::default()), 238_000);
    // Division before subtraction: 100,000 / 30,000 is 3.
    assert_eq!(allowed(30_000, 2, Config::default()), 1400);
    assert_eq!(allowed(2000, 10, Config { counts_one_more: true, ..Config::default() }), 54_600);
    assert_eq!(allowed(0, 0, Config::default()), 140_000_000);
}

#[test]
fn nothing_limits_the_first_frame() {
    let salsify = Config::default().build().unwrap();
    assert_eq!((salsify.max_frame_size(), salsify.allowance().frame), (None, Some(Bytes::MAX)));
}

#[test]
fn packets_are_spaced_by_a_fifth_of_tau_within_half_a_millisecond_and_two() {
    let packet = Config::default().packet + OVERHEAD;
    for (tau, spacing) in [(1000, 500), (5000, 1000), (20_000, 2000)] {
        let mut salsify = Config::default().build().unwrap();
        salsify.on_interarrival(Time::ZERO, Span::from_micros(tau));
        assert_eq!(salsify.allowance().pacing, packet.per(Span::from_micros(spacing)), "tau {tau} us");
    }
}

#[test]
fn in_an_outage_what_is_under_way_counts_as_lost_after_a_second() {
    let mut sender = Sender::new(Config::default());
    (0..10).for_each(|id| sender.send(id, id * 100_000, true));
    sender.arrive(150_000, &[(0, 50_000)]);
    assert_eq!(sender.salsify.outstanding.count(), 9);
    assert_eq!(sender.salsify.next_timeout(), Time::from_micros(1_150_000));
    sender.salsify.on_timeout(Time::from_micros(1_150_000));
    assert_eq!((sender.salsify.outstanding.count(), sender.salsify.next_timeout()), (8, Time::from_micros(1_200_000)));
    // News of an arrival clears all before it.
    sender.arrive(1_160_000, &[(8, 900_000)]);
    assert_eq!(sender.salsify.outstanding.count(), 1);
}

#[test]
fn a_parameter_out_of_range_is_refused_with_its_value_and_range() {
    let message = |config: Config| alloc::string::ToString::to_string(&config.build().unwrap_err());
    assert!(message(Config { gain: 1.5, ..Config::default() }).contains("1.5"));
    assert!(message(Config { delay: Span::ZERO, ..Config::default() }).contains("such as 100ms"));
    assert!(message(Config { packet: Bytes::ZERO, ..Config::default() }).contains("1400B"));
}
