//! Receivers whose clocks run too fast or too slow, and paths that deliver packets and reports twice.

use std::collections::BTreeSet;

use thalweg_lab::Scenario;
use thalweg_lab::metrics::Summary;
use thalweg_lab::playout;
use thalweg_lab::record::What;
use thalweg_lab::simulate::Run;
use thalweg_netsim::queue::Limits;
use thalweg_netsim::{HopConfig, LossModel, PathConfig, QueueConfig};
use thalweg_sender::Scheme;
use thalweg_units::Span;

/// Half a minute over 2 Mbps with 25 ms each way and 300 ms of queue.
fn plain() -> Scenario {
    let queue = QueueConfig::DropTail(Limits::time(Span::from_millis(300)));
    let rate = HopConfig::Rate { rate: "2Mbps".parse().unwrap(), queue };
    let delay = HopConfig::delay(Span::from_millis(25));
    Scenario {
        duration: Span::from_secs(30),
        forward: PathConfig { hops: vec![rate, delay.clone()] },
        reverse: PathConfig { hops: vec![delay] },
        ..Scenario::over("2Mbps")
    }
}

/// The same, of whose packets, reports or both this share comes twice, the copy `after` its packet.
fn duplicating(probability: f64, after: Span, packets: bool, reports: bool) -> Scenario {
    let copies = HopConfig::Duplicate { probability, after };
    let mut scenario = plain();
    scenario.forward.hops.extend(packets.then_some(copies.clone()));
    scenario.reverse.hops.extend(reports.then_some(copies));
    scenario
}

fn run(scenario: &Scenario, scheme: &str) -> Run {
    let scheme: Scheme = scheme.parse().unwrap();
    scenario.play(&scheme).unwrap_or_else(|error| panic!("{}: {error}", scheme.name))
}

/// The figures of a run without what a copy must change: its fingerprint.
fn figures(scenario: &Scenario, scheme: &str) -> Summary {
    let summary = run(&Scenario { duration: Span::from_secs(10), ..scenario.clone() }, scheme).outcome.summary;
    Summary { events_fingerprint: String::new(), ..summary }
}

/// Behind the bottleneck a copy that comes at once takes nothing from anybody. Of copies of reports one ablation is not
/// quite unmoved: Camel with bursts of 20 kB sends one at another moment.
#[test]
fn a_copy_of_every_packet_and_of_every_report_changes_no_figure() {
    for known in thalweg_sender::scheme::known() {
        let once = figures(&plain(), known.name);
        for (packets, reports) in [(true, false), (false, true)] {
            let twice = figures(&duplicating(1.0, Span::ZERO, packets, reports), known.name);
            if known.name == "camel:fixed-burst" && reports {
                assert!((twice.video_bitrate_bps / once.video_bitrate_bps - 1.0).abs() < 0.01);
            } else {
                assert_eq!(twice, once, "{}: copies of packets {packets}, of reports {reports}", known.name);
            }
        }
    }
}

#[test]
fn copies_are_events_of_their_own_and_take_their_place_on_the_link_without_being_counted() {
    let mut before = plain();
    before.forward.hops.insert(0, HopConfig::Duplicate { probability: 1.0, after: Span::ZERO });
    let run = run(&before, "gcc");
    let summary = &run.outcome.summary;
    // Half of the link is copies.
    assert!(summary.utilization.is_some_and(|share| (0.3..0.51).contains(&share)), "{summary:?}");
    let mut arrived = BTreeSet::new();
    let (mut copies, mut dropped) = (0, 0);
    for record in run.recorder.records() {
        match record.what {
            What::Arrived { id, .. } => assert!(arrived.insert(id), "packet {id} arrived twice"),
            What::CopyArrived { id, .. } => {
                assert!(arrived.contains(&id), "a copy came before packet {id}");
                copies += 1;
            }
            What::Dropped { id, .. } => {
                assert!(!arrived.contains(&id), "packet {id} arrived and was dropped");
                dropped += 1;
            }
            _ => {}
        }
    }
    assert!(copies as f64 > 0.9 * arrived.len() as f64, "{copies} copies of {}", arrived.len());
    let sent = arrived.len() + dropped;
    assert!(
        (summary.packet_loss_ratio - dropped as f64 / sent as f64).abs() < 0.01,
        "{dropped} of {sent}: {summary:?}"
    );
}

/// Loss behind the copying: of packets sent twice, a tenth lost each, a hundredth never arrives.
#[test]
fn a_packet_is_lost_with_the_last_of_its_copies() {
    let mut scenario = duplicating(1.0, Span::from_millis(5), true, false);
    scenario.forward.hops.push(HopConfig::Loss(LossModel::Random { probability: 0.1 }));
    let summary = run(&scenario, "gcc").outcome.summary;
    assert!((0.005..0.015).contains(&summary.packet_loss_ratio), "{}", summary.packet_loss_ratio);
}

/// The share that a scheme has of its rate, and by how much its 95th percentile of latency is greater, than on the plain path.
fn compared(scenario: &Scenario, scheme: &str) -> (f64, f64) {
    let [plain, other] = [&plain(), scenario].map(|scenario| run(scenario, scheme).outcome.summary);
    let p95 = |summary: &Summary| summary.latency_p95_ms.unwrap_or(f64::INFINITY);
    (other.video_bitrate_bps / plain.video_bitrate_bps, p95(&other) - p95(&plain))
}

/// A scheme for each controller and each way to measure.
const ONE_OF_EACH: [&str; 22] = [
    "gcc",
    "gcc:loss",
    "copa",
    "vidaptive",
    "vidaptive:rocc",
    "scream",
    "scream:libwebrtc",
    "nada",
    "sqp",
    "pudica",
    "bbr",
    "bbr:media",
    "fbra",
    "fbra:xr",
    "rrtcc",
    "cnadu",
    "tfrc",
    "camel",
    "rebera",
    "rebera:sender",
    "salsify",
    "thalweg",
];

#[test]
fn a_tenth_of_packets_and_reports_twice_costs_no_scheme_a_twentieth_of_its_rate() {
    for scheme in ONE_OF_EACH {
        let (share, later_ms) = compared(&duplicating(0.1, Span::from_millis(5), true, true), scheme);
        println!("{scheme}: {share:.3} of the rate, P95 {later_ms:+.1} ms");
        assert!((0.95..1.05).contains(&share) && later_ms < 20.0, "{scheme}: {share:.3}, {later_ms:+.1} ms");
    }
}

/// Two crystals that are each off by 100 ppm, one fast and one slow.
#[test]
fn clocks_that_disagree_by_200_ppm_cost_no_scheme_a_fifth_of_its_rate() {
    for scheme in ONE_OF_EACH {
        for clock_drift_ppm in [200, -200] {
            let (share, later_ms) = compared(&Scenario { clock_drift_ppm, ..plain() }, scheme);
            println!("{scheme} at {clock_drift_ppm} ppm: {share:.3} of the rate, P95 {later_ms:+.1} ms");
            let bounds = if scheme.starts_with("fbra") { 0.8..1.25 } else { 0.9..1.1 };
            assert!(bounds.contains(&share) && later_ms < 50.0, "{scheme}: {share:.3}, {later_ms:+.1} ms");
        }
    }
}

/// A hundredth is a hundred times what a crystal does. It is one-way delay that grows, or shrinks, by 10 ms a second: who
/// takes delay for a queue, against a minimum of the last ten seconds or longer, yields to a queue that is not there
/// where the receiver's clock is fast, or takes the path for shorter than it is where it is slow.
#[test]
fn a_clock_off_by_a_hundredth_costs_only_these_schemes_a_fifth_of_their_rate() {
    let fast = [
        ("scream", 0.1..0.4),
        ("scream:libwebrtc", 0.08..0.35),
        ("nada", 0.3..0.65),
        ("pudica", 0.05..0.3),
        ("fbra:xr", 0.2..0.75),
        ("salsify", 0.45..0.75),
        ("thalweg", 0.15..0.4),
    ];
    let slow = [("copa", 0.4..0.75), ("vidaptive", 0.25..0.6), ("fbra", 0.08..0.4), ("fbra:xr", 0.1..0.6)];
    for scheme in ONE_OF_EACH {
        for (clock_drift_ppm, costly) in [(10_000, &fast[..]), (-10_000, &slow[..])] {
            let (share, _) = compared(&Scenario { clock_drift_ppm, ..plain() }, scheme);
            println!("{scheme} at {clock_drift_ppm} ppm: {share:.3} of the rate");
            let known = costly.iter().find(|(name, _)| *name == scheme);
            let bounds = known.map_or(0.8..1.1, |(_, bounds)| bounds.clone());
            assert!(bounds.contains(&share), "{scheme} at {clock_drift_ppm} ppm: {share:.3}, not {bounds:?}");
        }
    }
}

/// Playout learns the camera's clock in its own, as libwebrtc's extrapolator does: by 600 ms of drift no frame is late, and
/// none waits longer.
#[test]
fn playout_follows_a_clock_that_drifts() {
    let played = |clock_drift_ppm| {
        let playout = Some(playout::Config::default());
        run(&Scenario { duration: Span::from_secs(60), clock_drift_ppm, playout, ..plain() }, "gcc").outcome.summary
    };
    let true_clock = played(0).latency_p50_ms.unwrap();
    for clock_drift_ppm in [10_000, -10_000] {
        let summary = played(clock_drift_ppm);
        let later = summary.latency_p50_ms.unwrap() - true_clock;
        println!("{clock_drift_ppm} ppm: {true_clock:.1} ms, {later:+.1} ms");
        assert!((-30.0..30.0).contains(&later) && summary.stall_ratio < 0.02, "{clock_drift_ppm} ppm: {later:+.1} ms");
    }
}
