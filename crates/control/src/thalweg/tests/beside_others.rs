//! Beside flows that fill the queue.

use super::*;

/// Frames of `packets` packets of 1000 bytes, one frame each 40 ms; the path serves 4 Mbps, and what others have queued
/// delays a frame's first packet by `queue`.
fn frames(flow: &mut Flow<Thalweg>, frames: core::ops::Range<u64>, packets: u64, queue: i64) {
    for frame in frames {
        let at = MS(40 * frame);
        let ids: Vec<u64> = (0..packets).map(|_| flow.send(at, 1000, |_| {}).0).collect();
        for (place, id) in ids.into_iter().enumerate() {
            let arrival = at + Span::from_millis(25 + queue + 2 * place as i64);
            flow.report(arrival + Span::from_millis(25), &[(id, arrival)]);
        }
    }
}

fn competing() -> Config {
    let competing = competing::Config { long: Span::from_millis(50), ..competing::Config::default() };
    Config { competing: Some(competing), ..steady() }
}

fn decided(flow: &mut Flow<Thalweg>) -> Vec<&'static str> {
    flow.decisions().into_iter().map(|(what, _)| what).collect()
}

/// A flow beside another that keeps 60 ms in the queue from the first second on.
fn beside(config: Config) -> Flow<Thalweg> {
    let mut flow = Flow::new(Thalweg::new(config).unwrap());
    frames(&mut flow, 0..25, 4, 0);
    frames(&mut flow, 25..80, 4, 60);
    flow
}

#[test]
fn a_queue_of_others_that_does_not_drain_is_competed_for_within_two_seconds() {
    let mut flow = beside(competing());
    assert_eq!(decided(&mut flow), ["drain", "contend", "compete"]);
    // Half of what is under way on a path of 4 Mbps and 110 ms, as smoothed, and some packets since.
    let allowed = allowed(&flow);
    assert!((25_000..36_000).contains(&allowed), "{allowed}");
    let capacity = flow.limits().capacity.as_mbps_f64();
    assert!((1.8..2.8).contains(&capacity), "{capacity}");
}

#[test]
fn while_others_packets_are_among_ours_the_budget_is_the_same_for_all() {
    let margin = margin::Config { shared: Some(Span::from_millis(33)), ..margin::Config::default() };
    let mut flow = Flow::new(Thalweg::new(Config { margin: Some(margin), ..competing() }).unwrap());
    let mut budgets = Vec::new();
    for (from, until, queue) in [(0, 25, 0), (25, 40, 60), (40, 80, 0)] {
        frames(&mut flow, from..until, 4, queue);
        budgets.push(flow.budget());
    }
    assert_eq!(budgets, [steady().budget, Span::from_millis(33), steady().budget]);
}

#[test]
fn without_the_part_the_same_queue_is_given_way_to() {
    let mut flow = beside(steady());
    assert!(!decided(&mut flow).contains(&"compete"));
    assert!(flow.limits().capacity.as_mbps_f64() < 1.0);
}

#[test]
fn a_loss_decreases_the_window_as_cubics() {
    let mut flow = beside(competing());
    let before = allowed(&flow);
    // Three packets that left later have arrived: the first is lost.
    let ids = [0, 1, 2, 3].map(|_| flow.send(MS(3210), 1000, |_| {}).0);
    flow.report(MS(3320), &[1, 2, 3].map(|place| (ids[place], MS(3295 + 2 * place as u64))));
    let left = allowed(&flow) as f64 / before as f64;
    assert!((0.68..0.74).contains(&left), "{left}");
}

#[test]
fn once_hardly_any_packets_of_others_are_among_ours_the_queue_is_given_up() {
    let mut flow = beside(competing());
    // Frames of 20 packets take the path 40 ms: each comes right behind the one before, in a queue of our own.
    frames(&mut flow, 80..110, 20, 60);
    assert_eq!(decided(&mut flow), ["drain", "contend", "compete", "yield"]);
    let rate = flow.limits().capacity;
    assert!((3.5..4.2).contains(&rate.as_mbps_f64()), "{rate}");
    let most = rate.over(Span::from_millis(ROUND_TRIP as i64) + steady().budget);
    assert!(flow.may_be_under_way() <= most, "{} and {most}", flow.may_be_under_way());
}

#[test]
fn a_queue_of_our_own_is_drained_and_not_competed_for() {
    let mut flow = Flow::new(Thalweg::new(competing()).unwrap());
    frames(&mut flow, 0..25, 4, 0);
    frames(&mut flow, 25..120, 20, 60);
    assert!(!decided(&mut flow).contains(&"compete"));
}

#[test]
fn a_cell_that_serves_a_frame_at_once_is_not_taken_for_a_path_that_is_so_fast() {
    let mut competing = competing::Config::default().build(Bytes::new(1000), Span::from_millis(2)).unwrap();
    // Two packets each 100 ms, 10 us apart: 800 Mbps, of which others would have nearly all.
    for frame in 0..20 {
        for packet in 0..2 {
            let sent = SentPacket::new(PacketId(2 * frame + packet), MS(100 * frame), Bytes::new(1000));
            let at = MS(100 * frame + 500) + Span::from_micros(10 * packet as i64);
            competing.on_arrival(at, &sent, Time::ZERO);
        }
    }
    assert!(competing.others().is_some_and(|others| others > 0.99), "{:?}", competing.others());
    // An eighth of 50 ms of ten times what serves us.
    let little = competing.little(Span::from_millis(50), Rate::from_kbps(400));
    assert_eq!(little, Bytes::new(3125));
}
