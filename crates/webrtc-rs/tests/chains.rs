//! A controller in unmodified chains of webrtc-rs.

mod support;

use std::time::Duration;

use rtc_interceptor::{CongestionControlBuilder, Gcc, PacerBuilder, Registry, Slot, TwccSenderBuilder};
use support::{Seen, World, play};
use thalweg_control::{Controller, PaddingLimit, SendLimits};
use thalweg_units::{Bytes, Rate};
use thalweg_webrtc_rs::{Config, Driver, Estimator, Feedback, register};

fn config(world: &World) -> Config {
    let [start, max] = [world.start, 100e6].map(Rate::from_bps_f64);
    Config::new(start, Rate::from_kbps(100), max)
}

/// A controller that sees each departure.
fn seen(name: &str, world: &World, feedback: Feedback) -> Seen {
    let (registry, _) = register(Registry::new(), Driver::named(name, config(world)).unwrap(), feedback);
    play(world, registry, feedback)
}

/// An estimator of webrtc-rs's seam.
fn joined(estimator: impl rtc_interceptor::BandwidthEstimator + 'static, world: &World) -> Seen {
    let registry = Registry::new()
        .with(Slot::CongestionControl, CongestionControlBuilder::new(estimator).build())
        .with(Slot::TwccSender, TwccSenderBuilder::new().build())
        .with(Slot::Pacer, PacerBuilder::new().with_target_bitrate(world.start).build());
    play(world, registry, Feedback::Twcc)
}

/// webrtc-rs's own estimator.
fn theirs(world: &World) -> Seen {
    joined(Gcc::new(world.start, 1e5, 1e8), world)
}

fn within(what: &str, value: f64, from: f64, to: f64) {
    assert!(value >= from && value <= to, "{what} is {value:.3}, expected {from} to {to}");
}

#[test]
fn from_300_kbps_gcc_finds_3_mbps_within_a_second_where_webrtc_rs_needs_half_a_minute() {
    let world = World::steady();
    within("theirs reaches 2.7 Mbps after s", theirs(&world).reached(2.7e6).unwrap(), 20.0, 30.0);
    let ours = [
        ("estimator", joined(Estimator::named("gcc", config(&world)).unwrap(), &world)),
        ("interceptor, TWCC", seen("gcc", &world, Feedback::Twcc)),
        ("interceptor, RFC 8888", seen("gcc", &world, Feedback::Rfc8888)),
    ];
    for (what, ours) in &ours {
        within(&format!("{what}: 2.7 Mbps after s"), ours.reached(2.7e6).unwrap(), 0.2, 1.0);
        within(&format!("{what}: Mbps delivered"), ours.delivered(3.0, 30.0) / 1e6, 2.55, 3.0);
        within(&format!("{what}: s of queue"), ours.longest_queue, 0.0, 0.12);
        assert_eq!(ours.lost, 0, "{what}");
    }
}

#[test]
fn a_twentieth_lost_at_random_leaves_gcc_most_of_the_path() {
    let world = World { lost_one_in: Some(20), ..World::steady() };
    within("theirs: Mbps delivered", theirs(&world).delivered(21.0, 30.0) / 1e6, 0.3, 1.5);
    for feedback in [Feedback::Twcc, Feedback::Rfc8888] {
        let delivered = seen("gcc", &world, feedback).delivered(21.0, 30.0) / 1e6;
        within(&format!("{feedback:?}: Mbps delivered"), delivered, 0.85 * 3.0, 3.0);
    }
    let joined = joined(Estimator::named("gcc", config(&world)).unwrap(), &world);
    within("estimator: Mbps delivered", joined.delivered(21.0, 30.0) / 1e6, 0.75 * 3.0, 3.0);
}

#[test]
fn a_fifth_lost_at_random_leaves_copa_most_of_what_arrives() {
    let world = World { lost_one_in: Some(5), ..World::steady() };
    within("theirs: Mbps delivered", theirs(&world).delivered(21.0, 30.0) / 1e6, 0.0, 0.2);
    let copa = seen("copa", &world, Feedback::Twcc);
    within("Mbps delivered", copa.delivered(21.0, 30.0) / 1e6, 0.6 * 3.0, 3.0);
    within("s of queue", copa.longest_queue, 0.0, 0.12);
}

#[test]
fn a_target_falls_during_an_outage_though_no_report_comes() {
    let outage = Some((Duration::from_secs(10), Duration::from_secs(18)));
    let world = World { outage, ..World::steady() };
    let at = |seen: &Seen, second: f64| seen.mean(second - 0.1, second);
    let theirs = theirs(&world);
    assert_eq!(at(&theirs, 17.9), at(&theirs, 10.5), "webrtc-rs notices nothing");
    let ours = seen("gcc", &world, Feedback::Twcc);
    // Pushback, as soon as more is in flight than a congestion window; then a fifth less each second after three.
    within("share left after half a second", at(&ours, 10.6) / at(&ours, 9.9), 0.1, 0.5);
    within("share left after eight seconds", at(&ours, 17.9) / at(&ours, 9.9), 0.03, 0.3);
    within("share of the target before, four seconds after", at(&ours, 22.0) / at(&ours, 9.9), 0.7, 1.1);
}

#[test]
fn an_application_that_sends_little_keeps_its_target_by_probes() {
    let world = World { most: 4e5, ..World::steady() };
    let ours = seen("gcc", &world, Feedback::Twcc);
    within("Mbps of target", ours.mean(20.0, 30.0) / 1e6, 2.0, 6.0);
    within("Mbps on the wire", ours.delivered(20.0, 30.0) / 1e6, 0.35, 0.55);
}

/// Asks for padding and a window, whatever happens.
#[derive(Clone)]
struct Asks(SendLimits);

impl Controller for Asks {
    fn on_feedback(&mut self, _: &thalweg_control::Feedback<'_>) {}

    fn limits(&self) -> SendLimits {
        self.0
    }
}

#[test]
fn padding_is_sent_up_to_a_rate_and_never_beyond_the_window() {
    let world = World { most: 4e5, duration: Duration::from_secs(10), ..World::steady() };
    let mut limits = SendLimits::of_rate(Rate::from_kbps(2000));
    let rate = Rate::from_kbps(1000);
    // What the world calls at most 0.4 Mbps is without headers.
    let media = 0.43;
    for (padding, window, expected) in [
        (PaddingLimit::None, None, media),
        (PaddingLimit::UpTo(rate), None, 1.0),
        (PaddingLimit::Beside(rate), None, media),
        // 8 kB in a round trip of 40 ms and what a report waits.
        (PaddingLimit::UpTo(rate.scale(2.0)), Some(Bytes::new(8000)), 0.85),
    ] {
        (limits.padding, limits.window) = (padding, window);
        let driver = Driver::new(Box::new(Asks(limits)), config(&world)).unwrap();
        let (registry, _) = register(Registry::new(), driver, Feedback::Twcc);
        let seen = play(&world, registry, Feedback::Twcc);
        let what = format!("{padding:?} and a window of {window:?}: Mbps");
        within(&what, seen.delivered(2.0, 10.0) / 1e6, expected - 0.05, expected + 0.05);
    }
}

#[test]
fn retransmissions_and_probes_share_one_sequence_of_numbers() {
    let world = World { lost_one_in: Some(20), ..World::steady() };
    let ours = seen("gcc", &world, Feedback::Twcc);
    within("retransmissions and padding", ours.rtx.len() as f64, 100.0, 4000.0);
    assert!(ours.rtx.iter().enumerate().all(|(index, number)| *number == index as u16));
}

#[test]
fn two_runs_tell_the_application_the_same() {
    let world = World { lost_one_in: Some(20), duration: Duration::from_secs(10), ..World::steady() };
    for name in ["gcc", "nada", "scream"] {
        assert_eq!(seen(name, &world, Feedback::Twcc).targets, seen(name, &world, Feedback::Twcc).targets, "{name}");
    }
}

#[test]
fn the_handle_shows_decisions_and_sets_the_demand() {
    let world = World { duration: Duration::from_secs(5), ..World::steady() };
    let driver = Driver::named("gcc", config(&world)).unwrap();
    let (registry, handle) = register(Registry::new(), driver, Feedback::Twcc);
    assert!(handle.set_demand(Rate::from_kbps(2000), Rate::from_kbps(1000)).is_err());
    handle.set_demand(Rate::from_kbps(100), Rate::from_kbps(900)).unwrap();
    let seen = play(&world, registry, Feedback::Twcc);
    assert!(seen.targets.iter().all(|(_, target)| *target <= 9e5));
    within("Mbps", handle.snapshot().target.as_mbps_f64(), 0.8, 0.9);
    assert!(handle.poll_decision().is_some_and(|decision| !decision.why.is_empty()));
    assert!(!handle.snapshot().stats.blind);
}

/// Prints the table of docs/webrtc-rs.md: `cargo test -p thalweg-webrtc-rs --test chains -- --ignored --nocapture`.
#[test]
#[ignore = "prints a table"]
fn table() {
    println!("| lost | controller | 2.7 Mbps after | delivered, 3-30 s | longest queue | packets lost |");
    println!("|---|---|---|---|---|---|");
    for lost_one_in in [None, Some(20), Some(5)] {
        let world = World { lost_one_in, ..World::steady() };
        let row = |name: &str, seen: &Seen| {
            let lost = lost_one_in.map_or("none".into(), |one_in| format!("1 in {one_in}"));
            let reached = seen.reached(2.7e6).map_or("never".into(), |at| format!("{at:.1} s"));
            let used = 100.0 * seen.delivered(3.0, 30.0) / world.capacity;
            let (queue, losses) =
                (1e3 * seen.longest_queue, 100.0 * seen.lost as f64 / (seen.media + seen.padding) as f64);
            println!("| {lost} | {name} | {reached} | {used:.0} % | {queue:.0} ms | {losses:.0} % |");
        };
        row("webrtc-rs `Gcc`", &theirs(&world));
        for name in ["gcc", "nada", "scream", "copa", "rocc", "pudica", "sqp", "bbr", "tfrc"] {
            row(&format!("`{name}`, `Estimator`"), &joined(Estimator::named(name, config(&world)).unwrap(), &world));
            row(&format!("`{name}`, `register`"), &seen(name, &world, Feedback::Twcc));
        }
    }
}
