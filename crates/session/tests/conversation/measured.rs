//! A receiver that measures the path, and a sender that plans with the measurements (Rebera).

use std::sync::Arc;

use thalweg_control::PathReport;

use super::*;

/// Ten seconds behind a bottleneck of 500 kbps, where a frame of a thousand bytes takes longer than the min measurable
/// train.
fn play_slowly(scheme: &str, change: impl Fn(&mut Capabilities)) -> World {
    let hops = vec![
        HopConfig::Rate { rate: "500kbps".parse().expect("a rate"), queue: Default::default() },
        HopConfig::delay(Span::from_millis(25)),
    ];
    played(known(scheme), &PathConfig { hops }, 10, change)
}

/// The receiver's last path report, and the number of reports.
fn said(world: &World) -> (PathReport, u64) {
    let path = world.incoming.statistics().path.expect("the receiver measures");
    (path, world.outgoing.figures().path_reports)
}

#[test]
fn a_receiver_measures_what_the_path_bears_and_tells_it_ten_times_a_second() {
    for name in ["rebera", "rebera:paper", "rebera+fec"] {
        let world = play_slowly(name, |_| {});
        let (path, reported) = said(&world);
        let capacity = path.capacity.expect("frames are of two packets at least");
        // Audio packets come between the packets of a train, and take a sixteenth of the capacity.
        assert!((440..=505).contains(&(capacity.as_bps() / 1000)), "{name}: {capacity}");
        assert!((85..=100).contains(&reported), "{name}: {reported} reports in 10 s");
        assert_eq!(path.lost.get(), 0, "{name}");
        // All RTP was counted, to the byte, and nothing else: the rest is handshakes, connectivity checks and RTCP.
        let rest = world.sent.1.saturating_sub(path.received).get();
        assert!(rest > 0 && rest < 40_000, "{name}: {rest} of {}", world.sent.1);
        assert!(world.shown.len() > 150, "{name}: {}", world.shown.len());
        assert_eq!((world.outgoing.figures().malformed, world.incoming.statistics().malformed), (0, 0), "{name}");
    }
}

#[test]
fn what_is_lost_is_told_from_what_waits() {
    let world = play("rebera", 0.05, |_| {});
    let (path, _) = said(&world);
    let share = path.lost.as_f64() / (path.lost + path.received).as_f64();
    // 5 % of some hundred packets per second, subject to chance.
    assert!((0.02..0.09).contains(&share), "{path:?}");
}

#[test]
fn the_sender_plans_by_what_the_receiver_says_and_measures_itself_where_nothing_was_agreed_on() {
    let measured = |world: &mut World| {
        let value = |event| if let Event::Variable { name: "c kbps", value } = event { Some(value) } else { None };
        world.outgoing.drain_events().filter_map(|timed| value(timed.event)).last().expect("it measured")
    };
    let mut world = play_slowly("rebera", |_| {});
    let (path, reported) = said(&world);
    let (theirs, ours) = (path.capacity.map_or(0.0, Rate::as_kbps_f64), measured(&mut world));
    assert!(
        reported > 85 && (ours - theirs).abs() < 0.1 * theirs,
        "{reported} reports, {theirs} kbps there, {ours} here"
    );
    for change in
        [(|receiver| receiver.feedback.path = false) as fn(&mut Capabilities), |receiver| receiver.bytes_before = false]
    {
        let mut world = play_slowly("rebera", change);
        assert_eq!((world.incoming.statistics().path, world.outgoing.figures().path_reports), (None, 0));
        let capacity = measured(&mut world);
        assert!((440.0..=505.0).contains(&capacity), "{capacity}");
        assert!(world.shown.len() > 150, "{}", world.shown.len());
    }
    // A scheme that does not use measurements sends no counts.
    let world = play("gcc", 0.0, |_| {});
    assert_eq!((world.incoming.statistics().path, world.outgoing.figures().path_reports), (None, 0));
}

#[test]
fn a_sender_that_becomes_one_of_reberas_in_the_middle_of_a_call_is_told_from_then_on() {
    let mut world = play("gcc", 0.0, |_| {});
    let change = |world: &mut World, scheme, seconds| {
        world.outgoing.change_scheme(world.now(), Arc::new(known(scheme))).expect("in range");
        world.run(Span::from_secs(seconds));
    };
    change(&mut world, "rebera", 4);
    change(&mut world, "gcc", 2);
    let (before, shown) = (world.outgoing.figures().path_reports, world.shown.len());
    change(&mut world, "rebera", 4);
    let reported = world.outgoing.figures().path_reports - before;
    assert!((30..42).contains(&reported) && (30..42).contains(&before), "{before}, then {reported}");
    assert!(world.shown.len() > shown + 60, "{}", world.shown.len() - shown);
}
