//! A sender with a scripted peer: segments of 100 bytes, a round trip of 100 ms.

use super::super::config::Congestion;
use super::*;
use alloc::vec::Vec;

const ROUND_TRIP: u64 = 100;

fn config() -> ConnectionConfig {
    ConnectionConfig { segment: Bytes::new(152), ..ConnectionConfig::default() }
}

fn at(millis: u64) -> Time {
    Time::from_millis(millis)
}

/// A connection opened at 0 and confirmed after a round trip, with this many segments to send.
fn opened(config: ConnectionConfig, segments: u64) -> Sender {
    let mut sender = Sender::new(config, 0);
    sender.write(at(0), Bytes::new(segments * 100));
    assert!(sender.poll(at(0)).unwrap().opens());
    say(&mut sender, ROUND_TRIP, 0, &[], 0);
    sender
}

/// The numbers of the segments that leave now.
fn poll(sender: &mut Sender, millis: u64) -> Vec<u64> {
    core::iter::from_fn(|| sender.poll(at(millis))).map(|segment| segment.from / 100).collect()
}

/// The receiver reports that segments before `up_to` and these blocks arrived, and echoes this time.
fn say(sender: &mut Sender, millis: u64, up_to: u64, blocks: &[(u64, u64)], echo: u64) {
    let blocks = blocks.iter().map(|(from, to)| (from * 100, to * 100)).collect();
    let said = Acknowledgement { connection: 0, up_to: up_to * 100, blocks, echo: at(echo), marked: 0 };
    sender.on_acknowledgement(at(millis), &said);
}

#[test]
fn slow_start_sends_two_for_each_acknowledged() {
    let mut sender = opened(config(), 100);
    assert_eq!(sender.round_trip(), Some(Span::from_millis(100)));
    assert_eq!(poll(&mut sender, 100), Vec::from_iter(0..10));
    say(&mut sender, 200, 1, &[], 100);
    assert_eq!(poll(&mut sender, 200), [10, 11]);
    assert_eq!(sender.window().window(), 11.0);
}

#[test]
fn a_lost_opening_is_sent_again_after_one_second_then_two() {
    let mut sender = Sender::new(config(), 0);
    assert!(sender.poll(at(0)).is_none(), "there is nothing to open a connection for");
    sender.write(at(0), Bytes::new(100));
    for due in [0, 1_000, 3_000, 7_000] {
        assert!(due == 0 || sender.next_event() == at(due));
        assert!(sender.poll(at(due)).unwrap().opens() && sender.poll(at(due)).is_none());
    }
}

#[test]
fn a_loss_is_repeated_at_once_and_the_window_shrinks_once_in_a_recovery() {
    let mut sender = opened(config(), 100);
    poll(&mut sender, 100);
    say(&mut sender, 200, 0, &[(1, 2)], 0);
    say(&mut sender, 200, 0, &[(1, 3)], 0);
    assert_eq!(poll(&mut sender, 200), [10, 11, 12, 13]);
    say(&mut sender, 200, 0, &[(1, 4)], 0);
    // The window was twelve segments; seven tenths of it are in flight, yet the lost segment is retransmitted.
    assert!((sender.window().window() - 8.4).abs() < 1e-9, "{}", sender.window().window());
    assert_eq!(poll(&mut sender, 200), [0]);
    // Number 4 is lost too, in the same recovery.
    say(&mut sender, 210, 0, &[(5, 8), (1, 4)], 0);
    assert_eq!(poll(&mut sender, 210), [4]);
    assert!((sender.window().window() - 8.4).abs() < 1e-9, "{}", sender.window().window());
    say(&mut sender, 310, 14, &[], 210);
    assert_eq!(poll(&mut sender, 310), Vec::from_iter(14..22));
    say(&mut sender, 410, 15, &[], 310);
    let window = sender.window().window();
    assert!((8.41..9.0).contains(&window) && !sender.window().in_slow_start(), "{window}");
}

#[test]
fn reno_halves_its_window_once_in_a_recovery_and_grows_by_one_segment_in_a_round_trip_after_it() {
    let mut sender = opened(ConnectionConfig { congestion: Congestion::Reno, ..config() }, 100);
    poll(&mut sender, 100);
    say(&mut sender, 200, 0, &[(1, 3)], 0);
    assert_eq!(poll(&mut sender, 200), [10, 11, 12, 13]);
    // Segments 0 and 4 of a window of twelve are lost; six others are in flight, and the first is repeated all the
    // same.
    say(&mut sender, 210, 0, &[(5, 8), (1, 4)], 0);
    assert_eq!((poll(&mut sender, 210), sender.window().window()), (Vec::from([0]), 6.0));
    // The partial acknowledgement of RFC 6582: the recovery goes on, and nothing grows.
    say(&mut sender, 310, 4, &[(5, 10)], 210);
    assert_eq!((poll(&mut sender, 310), sender.window().window()), (Vec::from([4, 14]), 6.0));
    say(&mut sender, 410, 15, &[], 310);
    assert_eq!((poll(&mut sender, 410), sender.window().window()), (Vec::from_iter(15..21), 6.0));
    for (acknowledged, window) in [(16, 6.0 + 1.0 / 6.0), (17, 6.0 + 1.0 / 6.0 + 6.0 / 37.0)] {
        say(&mut sender, 510, acknowledged, &[], 410);
        assert!((sender.window().window() - window).abs() < 1e-9, "{}", sender.window().window());
    }
    // A timeout leaves one segment, and half of the window as threshold.
    let late = sender.next_event().as_millis();
    poll(&mut sender, late);
    let late = sender.next_event().as_millis();
    poll(&mut sender, late);
    assert_eq!(sender.window().window(), 1.0);
    assert!((3.0..3.3).contains(&sender.window().threshold()), "{}", sender.window().threshold());
}

#[test]
fn a_tail_is_probed_after_two_round_trips_and_a_hole_that_only_the_probe_filled_is_a_loss() {
    let mut sender = opened(config(), 2);
    assert_eq!(poll(&mut sender, 100), [0, 1]);
    say(&mut sender, 200, 1, &[], 100);
    assert_eq!(sender.next_event(), at(400));
    assert_eq!(poll(&mut sender, 400), [1]);
    say(&mut sender, 500, 2, &[], 400);
    assert!(sender.is_done() && sender.window().threshold() < f64::INFINITY);

    let mut sender = opened(config(), 2);
    poll(&mut sender, 100);
    say(&mut sender, 200, 1, &[], 100);
    poll(&mut sender, 400);
    // The first transmission was only late.
    say(&mut sender, 410, 2, &[], 100);
    assert!(sender.is_done() && sender.window().threshold() == f64::INFINITY);
}

#[test]
fn after_a_probe_in_vain_everything_is_sent_again_from_a_window_of_one() {
    let mut sender = opened(config(), 30);
    poll(&mut sender, 100);
    assert_eq!(poll(&mut sender, 300), [10], "a probe is new data where there is some");
    // The smoothed 100 ms plus the larger of 200 ms and four deviations of 50 ms.
    assert_eq!(sender.next_event(), at(600));
    assert_eq!(poll(&mut sender, 600), [0]);
    assert_eq!((sender.window().window(), sender.window().threshold()), (1.0, 7.0));
    assert_eq!(sender.next_event(), at(600 + 600));
    say(&mut sender, 700, 1, &[], 600);
    assert_eq!(poll(&mut sender, 700), [1, 2]);
}

#[test]
fn an_application_with_little_to_say_does_not_widen_the_window_and_loses_it_when_idle() {
    let mut sender = opened(config(), 100);
    for round in 1..6 {
        poll(&mut sender, round * ROUND_TRIP);
        let next = sender.next / 100;
        say(&mut sender, (round + 1) * ROUND_TRIP, next, &[], round * ROUND_TRIP);
    }
    assert!(sender.is_done());
    let wide = sender.window().window();
    assert!(wide > 50.0, "{wide}");
    for index in 0..20 {
        sender.write(at(700 + index * 100), Bytes::new(100));
        poll(&mut sender, 700 + index * 100);
        say(&mut sender, 800 + index * 100, 101 + index, &[], 700 + index * 100);
    }
    assert_eq!(sender.window().window(), wide);
    sender.write(at(10_000), Bytes::new(100));
    assert_eq!(sender.window().window(), 10.0);
}

#[test]
fn a_paced_sender_spreads_twice_its_window_over_a_round_trip() {
    let mut sender = opened(ConnectionConfig { paced: true, ..config() }, 100);
    for index in 0..10 {
        let due = at(100) + Span::from_millis(5) * index;
        assert!(index == 0 || sender.next_event() == due, "{}", sender.next_event());
        assert!(sender.poll(due).is_some() && sender.poll(due).is_none());
    }
}
