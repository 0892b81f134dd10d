use alloc::vec::Vec;

use super::*;
use crate::packet::FramePlace;
use crate::testing::{Flow, place};

/// A sender of packets of 1,400 bytes, each a frame of its own, over a path whose delay is reported with each arrival.
fn sender(config: Config) -> Flow<Salsify> {
    Flow::new(Salsify::new(config).unwrap())
}

impl Flow<Salsify> {
    fn leave(&mut self, at_us: u64, first: bool) {
        let place = FramePlace { first, ..place(0, false, Time::ZERO) };
        self.send(Time::from_micros(at_us), 1400, |packet| packet.place = Some(place));
    }

    fn arrive(&mut self, now_us: u64, arrivals: &[(u64, u64)]) {
        let arrivals: Vec<(u64, Time)> = arrivals.iter().map(|(id, at)| (*id, Time::from_micros(*at))).collect();
        self.report(Time::from_micros(now_us), &arrivals);
    }

    fn tau_us(&self) -> i64 {
        self.interarrival().map_or(-1, |tau| tau.as_nanos() / 1000)
    }
}

fn paper() -> Config {
    Config {
        smoothing: Smoothing::PAPER,
        measured_by: End::Receiver,
        grace: Grace::FirstOfFrame,
        first_packets: None,
        ..Config::default()
    }
}

fn corrected() -> Smoothing {
    Smoothing { corrects_beginning: true, ..Smoothing::PAPER }
}

/// The arrivals of specs/salsify.md 7, example 1, as seen by a sender, and tau after each.
fn worked_example(grace: Grace) -> Vec<i64> {
    let mut sender = sender(Config { grace, ..paper() });
    let packets = [(0, true), (1200, false), (2600, false), (36_000, true), (37_000, false)];
    // The second frame was sent 33 ms after the first: its first packet carries that grace.
    let sent = [0, 0, 0, 33_000, 33_000];
    for ((_, first), sent) in packets.into_iter().zip(sent) {
        sender.leave(sent, first);
    }
    (0..)
        .zip(packets)
        .map(|(id, (at, _))| {
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
fn the_papers_grace_hides_a_queue_of_single_packets_and_what_the_path_was_empty_for_does_not() {
    // A packet every 16 ms into a path that takes 24 ms for each: they arrive 24 ms apart, 8 more than they were sent.
    let tau = |grace: Grace| {
        let mut sender = sender(Config { grace, ..Config { smoothing: corrected(), ..paper() } });
        for id in 0..20 {
            sender.leave(id * 16_000, true);
        }
        (0..20).for_each(|id| sender.arrive(600_000, &[(id, 1_000_000 + id * 24_000)]));
        sender.tau_us()
    };
    // The second packet waited 8 ms; before it, the path cannot be known to have been busy.
    assert_eq!((tau(Grace::EveryPacket), tau(Grace::WhileEmpty)), (7_999, 23_568));
}

#[test]
fn a_pause_of_the_sender_that_leaves_the_path_empty_is_taken_off() {
    let config = Config { grace: Grace::WhileEmpty, smoothing: corrected(), ..paper() };
    let mut sender = sender(config);
    // Two packets at once, every 33 ms, over a path of 20 ms and 2 ms per packet.
    for frame in 0..10 {
        sender.leave(frame * 33_000, true);
        sender.leave(frame * 33_000, false);
    }
    for frame in 0..10 {
        sender.arrive(600_000, &[(2 * frame, frame * 33_000 + 22_000), (2 * frame + 1, frame * 33_000 + 24_000)]);
    }
    // The first of each arrives at the min delay and gives no measurement; the second gives 2 ms.
    assert!((900..1300).contains(&sender.tau_us()), "{}", sender.tau_us());
}

#[test]
fn a_batch_of_arrivals_counts_as_each_alone_whatever_its_order() {
    let run = |batch: bool| {
        let mut sender = sender(paper());
        (0..4).for_each(|id| sender.leave(id * 500, id == 0));
        let arrivals = [(0, 20_000), (2, 21_100), (1, 21_500), (3, 23_000)];
        if batch {
            sender.arrive(60_000, &arrivals);
        } else {
            arrivals.iter().for_each(|arrival| sender.arrive(60_000, &[*arrival]));
        }
        sender.tau_us()
    };
    assert_eq!(run(true), run(false));
    // Packet 1 arrived after 2 and does not count: 1100, then 1900.
    assert_eq!(run(true), 289);
}

fn allowed(tau_us: i64, under_way: u64, config: Config) -> u64 {
    let mut sender = sender(config);
    sender.on_signal(Time::ZERO, Signal::Interarrival(Span::from_micros(tau_us)));
    (0..under_way).for_each(|id| sender.leave(id * 500, id == 0));
    sender.max_frame_size().unwrap().get()
}

#[test]
fn a_frame_may_have_what_the_path_does_in_100_ms_less_what_is_under_way() {
    assert_eq!(allowed(2000, 10, paper()), 56_000);
    assert_eq!(allowed(2000, 60, paper()), 0);
    assert_eq!(allowed(500, 30, paper()), 238_000);
    // Division before subtraction: 100,000 / 30,000 is 3.
    assert_eq!(allowed(30_000, 2, paper()), 1400);
    assert_eq!(allowed(2000, 10, Config { counts_one_more: true, ..paper() }), 54_600);
    assert_eq!(allowed(0, 0, paper()), 140_000_000);
}

#[test]
fn before_anything_is_known_of_the_path_ten_packets_may_be_sent_and_by_the_paper_any_number() {
    let salsify = Salsify::new(paper()).unwrap();
    assert_eq!((salsify.max_frame_size(), salsify.limits().media.frame()), (None, Some(Bytes::MAX)));
    let mut sender = sender(Config { first_packets: Some(10), ..paper() });
    assert_eq!(sender.max_frame_size(), Some(Bytes::new(14_000)));
    (0..9).for_each(|id| sender.leave(id, id == 0));
    assert_eq!(sender.max_frame_size(), Some(Bytes::new(1400)));
}

#[test]
fn counted_in_bytes_small_packets_take_little_of_the_path() {
    // 30 packets of 1400 bytes are 28 of 1500; 50 of those pass in 100 ms.
    assert_eq!(allowed(2000, 30, Config { measured_by: End::Receiver, ..Config::default() }), 1400 * (50 - 28));
    assert_eq!(allowed(2000, 60, Config { measured_by: End::Receiver, ..Config::default() }), 0);
}

#[test]
fn packets_are_spaced_by_a_fifth_of_tau_within_half_a_millisecond_and_two() {
    let packet = Config::default().packet + OVERHEAD;
    for (tau, spacing) in [(1000, 500), (5000, 1000), (20_000, 2000)] {
        let mut salsify = Salsify::new(paper()).unwrap();
        salsify.on_signal(Time::ZERO, Signal::Interarrival(Span::from_micros(tau)));
        assert_eq!(salsify.limits().pacing, packet.per(Span::from_micros(spacing)), "tau {tau} us");
    }
}

#[test]
fn in_an_outage_what_is_under_way_counts_as_lost_after_a_second() {
    let mut sender = sender(Config::default());
    (0..10).for_each(|id| sender.leave(id * 100_000, true));
    sender.arrive(150_000, &[(0, 50_000)]);
    assert_eq!(sender.outstanding.count(), 9);
    assert_eq!(sender.next_timeout(), Time::from_micros(1_150_000));
    sender.on_timeout(Time::from_micros(1_150_000));
    assert_eq!((sender.outstanding.count(), sender.next_timeout()), (8, Time::from_micros(1_200_000)));
    // Feedback on an arrival clears all before it.
    sender.arrive(1_160_000, &[(8, 900_000)]);
    assert_eq!(sender.outstanding.count(), 1);
}

#[test]
fn a_parameter_out_of_range_is_refused_with_its_value_and_range() {
    let message = |config: Config| alloc::string::ToString::to_string(&Salsify::new(config).unwrap_err());
    assert!(
        message(Config { smoothing: Smoothing { gain: 1.5, ..Smoothing::default() }, ..Config::default() })
            .contains("1.5")
    );
    assert!(message(Config { delay: Span::ZERO, ..Config::default() }).contains("such as 100ms"));
    assert!(message(Config { packet: Bytes::ZERO, ..Config::default() }).contains("1400B"));
}
