//! Changes during a run: links, routes, a receiver's limit, an application's bounds.

use thalweg_control::{Signal, gcc};
use thalweg_lab::Scenario;
use thalweg_lab::record::{self, Record};
use thalweg_lab::scenario::{Change, FORWARD, NamedLink, REVERSE, Route, What};
use thalweg_lab::simulate::{Run, Simulation};
use thalweg_netsim::{HopConfig, LossModel, PathConfig, QueueConfig};
use thalweg_sender::scheme::{ControllerConfig, known};
use thalweg_sender::{Event, Registry, Scheme};
use thalweg_units::{Bytes, Rate, Size, Span, Time};

fn rate(rates: &str) -> HopConfig {
    HopConfig::Rate { rate: rates.parse().unwrap(), queue: QueueConfig::Infinite }
}

fn delay(millis: i64) -> HopConfig {
    HopConfig::delay(Span::from_millis(millis))
}

fn scenario(hops: &[HopConfig], changes: Vec<Change>, seconds: i64) -> Scenario {
    Scenario {
        duration: Span::from_secs(seconds),
        forward: PathConfig { hops: hops.to_vec() },
        reverse: PathConfig { hops: vec![delay(20)] },
        changes,
        measure_quality: false,
        ..Scenario::over("unused")
    }
}

fn at(seconds: f64, what: What) -> Change {
    Change { at: Span::from_secs_f64(seconds), what }
}

fn link(name: &str) -> What {
    What::Link { name: name.into(), rate: None, delay: None, loss: None }
}

fn route(forward: &str) -> What {
    let route = Route { flow: 0, forward: vec![forward.into()], reverse: vec![REVERSE.into()] };
    What::Route { route, adapter: true }
}

fn run(scenario: &Scenario) -> Run {
    let gcc: Scheme = "gcc".parse().unwrap();
    scenario.play(&gcc).unwrap()
}

/// Capacity and padding allowed by the controller at these times.
fn limits(scenario: &Scenario, scheme: &Scheme, seconds: &[f64]) -> Vec<(Rate, Rate)> {
    let mut simulation = Simulation::new(scenario, scheme, &Registry::new(), &mut scenario.find()).unwrap();
    let seen = seconds.iter().map(|second| {
        simulation.run_until(Time::ZERO + Span::from_secs_f64(*second)).unwrap();
        let limits = simulation.engine(0).unwrap().limits();
        (limits.capacity, limits.padding.rate())
    });
    seen.collect()
}

fn targets(scenario: &Scenario, seconds: &[f64]) -> Vec<f64> {
    limits(scenario, &"gcc".parse().unwrap(), seconds).iter().map(|(target, _)| target.as_kbps_f64()).collect()
}

#[test]
fn a_links_rate_delay_and_loss_change_when_the_scenario_says() {
    let what = What::Link {
        name: FORWARD.into(),
        rate: Some(Rate::from_kbps(400)),
        delay: Some(Span::from_millis(70)),
        loss: Some(0.2),
    };
    let hops = [rate("2Mbps"), HopConfig::Loss(LossModel::Random { probability: 0.0 }), delay(20)];
    let run = run(&scenario(&hops, vec![at(5.0, what)], 20));
    let of = |from: f64, until: f64, found: fn(&record::What) -> Option<u64>| -> u64 {
        let within = |record: &&Record| (from..until).contains(&record.at.as_secs_f64());
        run.recorder.records().filter(within).filter_map(|record| found(&record.what)).sum()
    };
    let arrived = |what: &record::What| match what {
        record::What::Arrived { size, .. } => Some(size.bits()),
        _ => None,
    };
    let dropped = |what: &record::What| matches!(what, record::What::Dropped { .. }).then_some(1);
    let packets = |what: &record::What| matches!(what, record::What::Arrived { .. }).then_some(1);
    assert!(of(3.0, 5.0, arrived) > 2_000_000);
    // A fifth of what crosses 400 kbit/s is lost after it.
    let after = of(6.0, 8.0, arrived) as f64 / 2e3;
    assert!((250.0..=340.0).contains(&after), "{after} kbit/s");
    assert_eq!(of(0.0, 5.0, dropped), 0);
    let lost = of(6.0, 20.0, dropped) as f64 / (of(6.0, 20.0, dropped) + of(6.0, 20.0, packets)) as f64;
    assert!((0.14..0.26).contains(&lost), "{lost}");
}

#[test]
fn on_another_route_packets_cross_other_links_and_gcc_starts_over() {
    let mut rerouted = scenario(&[rate("1Mbps"), delay(20)], vec![at(5.0, route("wide"))], 10);
    rerouted.links = vec![NamedLink { name: "wide".into(), hops: vec![rate("3Mbps"), delay(20)] }];
    let seen = targets(&rerouted, &[4.9, 5.04, 9.9]);
    assert!((800.0..1200.0).contains(&seen[0]), "{seen:?}");
    assert_eq!(seen[1], 300.0, "the start rate");
    assert!((2000.0..3300.0).contains(&seen[2]), "{seen:?}");
    // What is under way stays on the old link: nothing is lost.
    assert!(run(&rerouted).recorder.records().all(|record| !matches!(record.what, record::What::Dropped { .. })));
}

#[test]
fn a_receivers_limit_caps_the_target_and_leaves_the_estimate() {
    let limit = |kbps: Option<u64>| What::ReceiverLimit { flow: 0, rate: kbps.map(Rate::from_kbps) };
    let changes = vec![at(6.0, limit(Some(250))), at(7.0, limit(None))];
    let seen = targets(&scenario(&[rate("2Mbps"), delay(20)], changes, 8), &[5.99, 6.5, 7.01]);
    assert!(seen[0] > 1400.0 && seen[1] == 250.0 && seen[2] > 1000.0, "{seen:?}");
}

/// Rate sent of a scheme in the last four of twelve seconds, on 2 Mbps, after this change at 5 s, and the pictures shown
/// in them.
fn sent_after(scheme: &Scheme, what: What) -> (Rate, usize) {
    let mut scenario = scenario(&[rate("2Mbps"), delay(20)], vec![at(5.0, what)], 12);
    scenario.video.size = Some(Size::new(320, 180));
    let run = scenario.play(scheme).unwrap();
    let late = |record: &&Record| record.at >= Time::from_secs_f64(8.0);
    let sent = run.recorder.records().filter(late).filter_map(|record| match record.what {
        record::What::Sender(Event::PacketSent { size, .. }) => Some(size),
        _ => None,
    });
    let shown = run.outcome.frames.iter().filter(|frame| frame.displayed_s.is_some_and(|shown| shown >= 8.0)).count();
    (sent.sum::<Bytes>().per(Span::from_secs(4)), shown)
}

#[test]
fn every_scheme_sends_what_its_receiver_and_its_application_allow_and_no_more() {
    let most = Rate::from_kbps(300);
    for known in known() {
        let scheme = known.scheme();
        let limit = What::ReceiverLimit { flow: 0, rate: Some(most) };
        let bounds = What::Bounds { flow: 0, min: Rate::ZERO, max: most };
        for what in [limit, bounds] {
            let (sent, shown) = sent_after(&scheme, what);
            println!("{}: {sent}, {shown} pictures", known.name);
            let obeys = scheme.controller.build().unwrap().obeys(&Signal::ReceiverLimit(None));
            // GCC's target is a rate of media; all kinds of packets together otherwise.
            let most = if obeys { most.scale(1.2) } else { most.scale(1.01) };
            assert!((most.scale(0.15)..=most).contains(&sent), "{}: {sent}", known.name);
            assert!(shown >= 40, "{}: {shown} of 120 pictures", known.name);
        }
    }
}

#[test]
fn raised_bounds_are_probed_at_once() {
    let bounds = |max: u64| What::Bounds { flow: 0, min: Rate::from_kbps(30), max: Rate::from_kbps(max) };
    let changes = vec![at(3.0, bounds(100)), at(5.0, bounds(1500))];
    let seen = targets(&scenario(&[rate("5Mbps"), delay(20)], changes, 6), &[2.9, 4.0, 5.5]);
    assert!(seen[0] > 1000.0 && seen[1] == 100.0 && seen[2] > 1000.0, "{seen:?}");
}

/// libwebrtc's PaddingRateLimitedByCongestionWindowInTrial (specs/rmcat.md 8.1).
#[test]
fn padding_is_limited_by_the_target_that_pushback_leaves() {
    let mut scheme: Scheme = "gcc".parse().unwrap();
    let ControllerConfig::Gcc(config) = &mut scheme.controller else { panic!("it is gcc") };
    let window = gcc::PushbackConfig { queue: Span::from_millis(200), drop_frames: false, ..Default::default() };
    *config = gcc::Config {
        start: Rate::from_kbps(1000),
        padding: Rate::from_kbps(2000),
        pushback: Some(window),
        ..gcc::Config::default()
    };
    let halting = scenario(&[rate("1Mbps@10s/0bps@1s/1Mbps"), delay(100)], Vec::new(), 12);
    let seen = limits(&halting, &scheme, &[10.0, 11.0]);
    assert!(seen.iter().all(|(target, padding)| target == padding), "{seen:?}");
    assert!(seen[1].0 < seen[0].0.scale(0.5), "the window is full: {seen:?}");
}

#[test]
fn changes_that_make_no_sense_are_refused_with_what_there_is() {
    let problem = |changes: Vec<Change>| {
        let gcc: Scheme = "gcc".parse().unwrap();
        let scenario = scenario(&[rate("1Mbps")], changes, 2);
        scenario.play(&gcc).err().expect("it is refused").to_string()
    };
    assert_eq!(problem(vec![at(1.0, link("middle"))]), "a change names the link 'middle'; there are forward, reverse");
    assert!(problem(vec![at(1.0, link(FORWARD))]).contains("changes nothing: give rate, delay or loss"));
    let loss = |loss| What::Link { name: FORWARD.into(), rate: None, delay: None, loss: Some(loss) };
    assert!(problem(vec![at(1.0, loss(2.0))]).contains("not within 0 to 1"));
    assert!(problem(vec![at(1.0, loss(0.1))]).contains("no hop of it has that property"));
    assert!(problem(vec![at(1.0, route("wide"))]).contains("a route names the link 'wide'"));
    let limit = |flow| What::ReceiverLimit { flow, rate: None };
    assert!(problem(vec![at(1.0, limit(1))]).contains("video senders are flows 0 to 0"));
    assert!(problem(vec![at(1.0, limit(0)), at(0.5, limit(0))]).contains("not in order of time"));
    let bounds = What::Bounds { flow: 0, min: Rate::from_kbps(2), max: Rate::from_kbps(1) };
    assert!(problem(vec![at(1.0, bounds)]).contains("min is above max"));
}

#[test]
fn changes_are_written_as_they_are_read() {
    let written = r#"
        [[changes]]
        at = "3s"
        what.link = { name = "forward", rate = "800kbps", loss = 0.1 }

        [[changes]]
        at = "5s"
        what.route = { route = { flow = 0, forward = ["wide"], reverse = ["reverse"] }, adapter = true }

        [[changes]]
        at = "6s"
        what.receiver-limit = { rate = "250kbps" }

        [[changes]]
        at = "7s"
        what.bounds = { min = "30kbps", max = "1Mbps" }
    "#;
    let plain = toml::to_string(&scenario(&[rate("1Mbps")], Vec::new(), 9)).unwrap();
    let read: Scenario = toml::from_str(&format!("{plain}\n{written}")).unwrap();
    let loss = What::Link { name: FORWARD.into(), rate: Some(Rate::from_kbps(800)), delay: None, loss: Some(0.1) };
    let limit = What::ReceiverLimit { flow: 0, rate: Some(Rate::from_kbps(250)) };
    let bounds = What::Bounds { flow: 0, min: Rate::from_kbps(30), max: Rate::from_kbps(1000) };
    assert_eq!(read.changes, [at(3.0, loss), at(5.0, route("wide")), at(6.0, limit), at(7.0, bounds)]);
    assert_eq!(toml::from_str::<Scenario>(&toml::to_string(&read).unwrap()).unwrap(), read);
}

/// The share of 2 Mbps that arrives from one minute after the one-way delay has risen, from 20 to 100 ms for good.
fn used_on_the_longer_path(scheme: &Scheme) -> f64 {
    let what = What::Link { name: FORWARD.into(), rate: None, delay: Some(Span::from_millis(100)), loss: None };
    let run = scenario(&[rate("2Mbps"), delay(20)], vec![at(20.0, what)], 100).play(scheme).unwrap();
    let late = |record: &&Record| record.at >= Time::from_secs_f64(80.0);
    let arrived = run.recorder.records().filter(late).map(|record| match record.what {
        record::What::Arrived { size, .. } => size.bits(),
        _ => 0,
    });
    arrived.sum::<u64>() as f64 / (20.0 * 2e6)
}

#[test]
fn a_path_that_becomes_longer_for_good_is_used_again_within_a_minute() {
    let scheme = |name: &str| -> Scheme { name.parse().unwrap() };
    let (mut draft, mut paper) = (scheme("scream"), scheme("vidaptive:rocc"));
    let ControllerConfig::Scream(config) = &mut draft.controller else { panic!("scream is SCReAM") };
    config.delay.drain = None;
    let ControllerConfig::Rocc(config) = &mut paper.controller else { panic!("vidaptive:rocc is over RoCC") };
    config.rtt_min_lasts = None;
    for (what, scheme, used) in [
        ("gcc", scheme("gcc"), 0.8..1.001),
        ("scream", scheme("scream"), 0.8..1.001),
        ("scream:libwebrtc", scheme("scream:libwebrtc"), 0.8..1.001),
        ("vidaptive:rocc", scheme("vidaptive:rocc"), 0.9..1.001),
        ("thalweg", scheme("thalweg"), 0.85..1.001),
        ("thalweg:standard-decoder", scheme("thalweg:standard-decoder"), 0.85..1.001),
        // As their papers have them (their pages say so): a delay that has risen is a queue.
        ("nada", scheme("nada"), 0.6..0.8),
        ("salsify", scheme("salsify"), 0.5..0.75),
        ("pudica", scheme("pudica"), 0.6..0.9),
        // To the letter.
        ("the draft", draft, 0.02..0.2),
        ("the paper", paper, 0.1..0.4),
    ] {
        let share = used_on_the_longer_path(&scheme);
        println!("{what}: {share:.3}");
        assert!(used.contains(&share), "{what}: {share}");
    }
}
