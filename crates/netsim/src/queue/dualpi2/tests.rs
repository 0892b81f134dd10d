//! The worked numbers of specs/l4s.md 2.8.

use super::*;
use crate::queue::tests::{Numbered, queued};
use alloc::vec::Vec;
use proptest::prelude::*;

const RATE: Rate = Rate::from_kbps(10_000);

fn queue(config: DualPi2Config) -> DualPi2<Numbered> {
    DualPi2::new(config, Seed::new(1)).unwrap()
}

fn push(queue: &mut DualPi2<Numbered>, ms: u64, size: u64, ecn: Ecn) {
    queue.push(
        Time::from_millis(ms),
        || RATE,
        queued(ms, size, ecn),
        |lost, _| {
            panic!("{lost:?} does not fit");
        },
    );
}

#[test]
fn the_probability_follows_the_delay_as_in_the_worked_example() {
    let mut queue = queue(DualPi2Config::default());
    let mut probabilities = Vec::new();
    for (number, delay) in [20, 25, 25, 20, 15, 10, 0, 0].into_iter().enumerate() {
        let at = 16 * (number as u64 + 1);
        queue.classic = Fifo::new();
        if delay > 0 {
            // The first of them would have arrived before the start.
            let arrival = Time::from_millis(at + 100 - delay);
            queue.classic.push(Queued { arrival, ..queued(0, 1500, Ecn::NotCapable) });
        }
        queue.next_update = Time::from_millis(at + 100);
        queue.update(Time::from_millis(at + 100));
        probabilities.push((queue.probability * 1e4).round() / 1e4);
    }
    assert_eq!(probabilities, [0.0648, 0.0824, 0.0840, 0.0688, 0.0528, 0.0360, 0.0016, 0.0]);
}

#[test]
fn an_idle_queue_lets_the_probability_decay_and_then_waits_for_a_packet() {
    let mut queue = queue(DualPi2Config::default());
    queue.probability = 0.1;
    // 41 updates of alpha times the target leave a rest, and the 42nd nothing.
    queue.update(Time::from_millis(16 * 41));
    assert!((queue.probability - 0.0016).abs() < 1e-9, "{}", queue.probability);
    queue.update(Time::from_millis(16 * 42));
    assert_eq!(queue.probability, 0.0);
    queue.update(Time::from_millis(16 * 100_000 + 7));
    assert_eq!(queue.next_update, Time::from_millis(16 * 100_001));
}

/// Which queue each packet comes from while both are backlogged.
fn order(config: DualPi2Config, low: u64, classic: u64, count: usize) -> Vec<char> {
    let mut queue = queue(DualPi2Config { limits: Some(Limits::packets(1000)), ..config });
    (0..100).for_each(|_| push(&mut queue, 0, low, Ecn::Ect1));
    (0..100).for_each(|_| push(&mut queue, 0, classic, Ecn::NotCapable));
    let left = core::iter::from_fn(|| queue.pop(Time::ZERO, || RATE, |_, _| {})).take(count);
    left.map(|left| if left.packet.ecn.is_low_latency() { 'L' } else { 'C' }).collect()
}

#[test]
fn nine_packets_for_low_latency_pass_for_each_classic_one_of_their_size() {
    let order = order(DualPi2Config::default(), 1500, 1500, 30);
    assert_eq!(order.iter().collect::<alloc::string::String>(), "LLLLLLLLLC".repeat(3));
}

#[test]
fn a_small_classic_packet_costs_less_credit() {
    let order = order(DualPi2Config::default(), 1500, 500, 17);
    assert_eq!(order.iter().collect::<alloc::string::String>(), "LLLLLLLLLCLLLCLLL");
}

#[test]
fn a_time_shifted_fifo_serves_the_classic_queue_once_it_is_later_by_the_shift() {
    let scheduler = Scheduler::TimeShiftedFifo { shift: Span::from_millis(50) };
    let serves_low = |low: u64, classic: u64| {
        let mut queue = queue(DualPi2Config { scheduler, ..DualPi2Config::default() });
        queue.next_update = Time::NEVER;
        push(&mut queue, 100 - low, 1500, Ecn::Ect1);
        push(&mut queue, 100 - classic, 1500, Ecn::NotCapable);
        queue.pop(Time::from_millis(100), || RATE, |_, _| {}).unwrap().packet.ecn.is_low_latency()
    };
    assert_eq!(
        [(1, 20), (1, 51), (1, 52), (10, 60), (10, 61)].map(|(l, c)| serves_low(l, c)),
        [true, true, false, true, false]
    );
}

/// Fates of 10,000 packets at this p: passed, marked, dropped. None waits, so that there is no step.
fn fates(p: f64, ecn: Ecn, config: DualPi2Config) -> [usize; 3] {
    let mut queue = queue(config);
    queue.next_update = Time::NEVER;
    queue.probability = p;
    let mut fates = [0; 3];
    (0..10).for_each(|_| push(&mut queue, 0, 1500, ecn));
    for _ in 0..10_000 {
        while queue.len() < 10 {
            push(&mut queue, 0, 1500, ecn);
        }
        let mut dropped = 0;
        let left = queue.pop(
            Time::ZERO,
            || RATE,
            |_, why| {
                assert_eq!(why, DropReason::QueueManaged);
                dropped += 1;
            },
        );
        fates[2] += dropped;
        fates[usize::from(left.unwrap().packet.marked.is_some())] += 1;
    }
    fates
}

#[test]
fn classic_packets_meet_p_squared_and_low_latency_ones_twice_p() {
    let config = DualPi2Config::default();
    let within = |count: usize, expected: f64| (count as f64 - expected * 1e4).abs() < 300.0;
    let [passed, marked, dropped] = fates(0.3, Ecn::NotCapable, config);
    // Of those that leave one in 11 more was dropped: 0.09 / 0.91.
    assert!(passed == 10_000 && marked == 0 && within(dropped, 0.0989), "{dropped}");
    let [_, marked, dropped] = fates(0.3, Ecn::Ect0, config);
    assert!(dropped == 0 && within(marked, 0.09), "{marked}");
    let [_, marked, dropped] = fates(0.3, Ecn::Ect1, config);
    assert!(dropped == 0 && within(marked, 0.6), "{marked}");
}

#[test]
fn an_overloaded_queue_drops_of_both_kinds_alike_and_marks_the_rest_for_low_latency() {
    let config = DualPi2Config::default();
    let [passed, marked, dropped] = fates(0.55, Ecn::Ect1, config);
    // 0.3025 are dropped: 0.4337 for each that leaves.
    assert!(passed == 0 && marked == 10_000 && (4000..4700).contains(&dropped), "{dropped}");
    let [_, marked, dropped] = fates(0.55, Ecn::Ect0, config);
    assert!(marked == 0 && (4000..4700).contains(&dropped), "{marked} {dropped}");
}

#[test]
fn a_queue_that_may_overflow_holds_p_and_drops_nothing_for_low_latency() {
    let mut queue = queue(DualPi2Config { overload: Overload::Overflow, ..DualPi2Config::default() });
    push(&mut queue, 0, 1500, Ecn::Ect1);
    queue.update(Time::from_millis(16 * 1000));
    assert_eq!(queue.probability, 0.5);
    let config = DualPi2Config { overload: Overload::Overflow, ..DualPi2Config::default() };
    assert_eq!(fates(0.5, Ecn::Ect1, config), [0, 10_000, 0]);
}

#[test]
fn even_marks_hit_the_packets_of_the_worked_example() {
    let mut queue = queue(DualPi2Config { even: true, ..DualPi2Config::default() });
    let hit: Vec<usize> = (1..12).filter(|_| matches!(queue.low_mark(0.3, 0.0), Verdict::Mark(_))).collect();
    assert_eq!(hit, [4, 7, 11]);
}

#[test]
fn the_last_two_packets_of_a_queue_are_left_to_the_step() {
    let mut queue = queue(DualPi2Config { limits: Some(Limits::packets(10)), ..DualPi2Config::default() });
    queue.next_update = Time::NEVER;
    queue.probability = 1.0;
    (0..3).for_each(|_| push(&mut queue, 0, 1500, Ecn::Ect0));
    let mut dropped = 0;
    let left: Vec<_> = core::iter::from_fn(|| queue.pop(Time::ZERO, || RATE, |_, _| dropped += 1)).collect();
    // The first has two full packets behind it, and p is 1.
    assert_eq!((dropped, left.iter().filter(|left| left.packet.marked.is_some()).count()), (1, 0));
}

#[test]
fn what_waited_longer_than_the_step_is_marked_though_nothing_else_waits() {
    let mut queue = queue(DualPi2Config::default());
    push(&mut queue, 0, 1500, Ecn::Ect1);
    let left = queue.pop(Time::from_micros(1001), || RATE, |_, _| {}).unwrap();
    assert_eq!(left.packet.marked, Some(MarkReason::Step));
    push(&mut queue, 2, 1500, Ecn::Ect1);
    assert_eq!(queue.pop(Time::from_micros(3000), || RATE, |_, _| {}).unwrap().packet.ecn, Ecn::Ect1);
}

#[test]
fn no_threshold_is_below_the_packets_that_it_must_allow() {
    let mut queue = queue(DualPi2Config { least_packets: 2, ..DualPi2Config::default() });
    // Two packets take 2.4 ms at 10 Mbps.
    let mut marked = |sent: u64, left: u64| {
        push(&mut queue, sent, 1500, Ecn::Ect1);
        queue.pop(Time::from_micros(left), || RATE, |_, _| {}).unwrap().packet.marked
    };
    assert_eq!([marked(0, 2400), marked(10, 12_401)], [None, Some(MarkReason::Step)]);
}

#[test]
fn by_default_the_queue_holds_what_the_link_carries_in_250_ms_and_at_least_30_kb() {
    for (kbps, holds) in [(10_000, 208), (100, 20)] {
        let mut queue = queue(DualPi2Config::default());
        let mut lost = 0;
        for _ in 0..300 {
            queue.push(
                Time::ZERO,
                || Rate::from_kbps(kbps),
                queued(0, 1500, Ecn::Ect1),
                |_, why| {
                    assert_eq!(why, DropReason::QueueFull);
                    lost += 1;
                },
            );
        }
        assert_eq!(300 - lost, holds, "{kbps} kbps");
    }
}

proptest! {
    /// No packet is lost without a word, none marked that is not capable, and each queue keeps its order.
    #[test]
    fn packets_leave_or_are_reported_and_each_queue_keeps_its_order(
        offers in proptest::collection::vec((0u64..8, 40u64..1500, 0usize..4), 1..200),
        shifted in proptest::bool::ANY, even in proptest::bool::ANY,
    ) {
        let scheduler = if shifted {
            Scheduler::TimeShiftedFifo { shift: Span::from_millis(50) }
        } else {
            Scheduler::default()
        };
        let mut queue = queue(DualPi2Config { scheduler, even, ..DualPi2Config::default() });
        let (mut now, mut lost, mut left) = (0, Vec::new(), Vec::new());
        for (number, (gap, size, ecn)) in offers.iter().enumerate() {
            now += gap;
            let mut packet = queued(now, *size, Ecn::ALL[*ecn]);
            packet.packet.number = number as u64;
            queue.push(Time::from_millis(now), || Rate::from_kbps(1000), packet, |one, _| lost.push(one.packet));
            if number % 3 == 0 {
                left.extend(queue.pop(Time::from_millis(now), || RATE, |one, _| lost.push(one.packet)));
            }
        }
        while let Some(one) = queue.pop(Time::from_millis(now + 1), || RATE, |one, _| lost.push(one.packet)) {
            left.push(one);
        }
        prop_assert!(queue.is_empty() && queue.bytes() == Bytes::ZERO);
        prop_assert_eq!(left.len() + lost.len(), offers.len());
        for class in [true, false] {
            let of = |number: u64| Ecn::ALL[offers[number as usize].2];
            let numbers = left.iter().map(|one| one.packet.number).filter(|one| of(*one).is_low_latency() == class);
            prop_assert!(numbers.collect::<Vec<_>>().is_sorted());
        }
        for one in &left {
            let sent = Ecn::ALL[offers[one.packet.number as usize].2];
            prop_assert!(one.packet.ecn == sent || one.packet.ecn == Ecn::Ce && sent.is_capable());
        }
    }
}
