//! Capacity of a flow's way: the least of what is on it at each moment, and what figures are divided by it.

use std::sync::Arc;

use thalweg_lab::Scenario;
use thalweg_lab::outcome::Outcome;
use thalweg_lab::scenario::{Change, NamedLink, Pause, Paused, REVERSE, Route, What};
use thalweg_lab::{simulate, unattended};
use thalweg_netsim::{HopConfig, PathConfig, QueueConfig, Trace};
use thalweg_sender::Scheme;
use thalweg_units::{Bytes, Rate, Span};

fn rate(rate: &str) -> HopConfig {
    HopConfig::Rate { rate: rate.parse().unwrap(), queue: QueueConfig::Infinite }
}

fn scenario(hops: &[HopConfig], changes: Vec<Change>, seconds: i64) -> Scenario {
    let delay = HopConfig::delay(Span::from_millis(25));
    Scenario {
        duration: Span::from_secs(seconds),
        forward: PathConfig { hops: hops.iter().cloned().chain([delay.clone()]).collect() },
        reverse: PathConfig { hops: vec![delay] },
        changes,
        ..Scenario::over("unused")
    }
}

fn set(seconds: i64, mbps: u64) -> Change {
    let rate = Some(Rate::from_kbps(1000 * mbps));
    let what = What::Link { name: "forward".into(), rate, delay: None, loss: None };
    Change { at: Span::from_secs(seconds), what }
}

fn outcome(scenario: &Scenario, scheme: &str) -> Outcome {
    scenario.play(&scheme.parse::<Scheme>().unwrap()).unwrap().outcome
}

/// Capacity in Mbps in the bin of 100 ms that begins at this second.
fn capacity(outcome: &Outcome, second: usize) -> f64 {
    outcome.series.capacity_mbps[10 * second]
}

#[test]
fn a_rate_that_a_change_sets_is_the_capacity_from_then_on() {
    let faster = scenario(&[rate("500kbps")], vec![set(10, 2)], 30);
    // 500 kbps for 10 s and 2 Mbps for 20 s: 1.5 Mbps in the mean.
    for (scheme, used) in [("gcc", 0.44..0.56), ("copa", 0.85..1.0)] {
        let outcome = outcome(&faster, scheme);
        assert_eq!([5, 9, 10, 29].map(|second| capacity(&outcome, second)), [0.5, 0.5, 2.0, 2.0]);
        let found = outcome.summary.utilization.unwrap();
        assert!(used.contains(&found), "{scheme}: {found}");
    }
    let there_and_back = scenario(&[rate("2Mbps")], vec![set(20, 1), set(40, 2)], 60);
    let found = outcome(&there_and_back, "gcc");
    assert_eq!([19, 20, 39, 40].map(|second| capacity(&found, second)), [2.0, 1.0, 1.0, 2.0]);
    let (used, accuracy) = (found.summary.utilization.unwrap(), found.summary.estimate_accuracy.unwrap());
    assert!((0.7..1.0).contains(&used) && (0.7..1.0).contains(&accuracy), "{used} {accuracy}");
}

#[test]
fn of_two_bottlenecks_and_a_policer_the_least_counts_wherever_it_is() {
    for hops in [[rate("4Mbps"), rate("1Mbps")], [rate("1Mbps"), rate("4Mbps")]] {
        let found = outcome(&scenario(&hops, Vec::new(), 40), "gcc");
        assert_eq!(capacity(&found, 20), 1.0);
        let (used, accuracy) = (found.summary.utilization.unwrap(), found.summary.estimate_accuracy.unwrap());
        assert!((0.82..0.97).contains(&used) && (0.8..1.0).contains(&accuracy), "{hops:?}: {used} {accuracy}");
    }
    let policer = HopConfig::Policer { rate: Rate::from_kbps(2000), bucket: Bytes::new(15_000) };
    let found = outcome(&scenario(&[policer], Vec::new(), 20), "gcc");
    // The bucket is full at the beginning: 15 kB within 100 ms are 1.2 Mbps.
    assert_eq!([0, 1, 19].map(|second| (capacity(&found, second) * 10.0).round()), [32.0, 20.0, 20.0]);
    assert!((0.6..=1.0).contains(&found.summary.utilization.unwrap()), "{:?}", found.summary.utilization);
}

#[test]
fn before_a_change_of_route_the_capacity_is_that_of_the_route_before() {
    let delay = HopConfig::delay(Span::from_millis(25));
    let other = NamedLink { name: "other".into(), hops: vec![rate("5Mbps"), delay] };
    let route = Route { flow: 0, forward: vec!["other".into()], reverse: vec![REVERSE.into()] };
    let change = Change { at: Span::from_secs(20), what: What::Route { route, adapter: false } };
    let scenario = Scenario { links: vec![other], ..scenario(&[rate("2Mbps")], vec![change], 60) };
    let found = outcome(&scenario, "gcc");
    assert_eq!([10, 19, 20, 59].map(|second| capacity(&found, second)), [2.0, 2.0, 5.0, 5.0]);
    assert!((0.6..1.0).contains(&found.summary.utilization.unwrap()), "{:?}", found.summary.utilization);
}

#[test]
fn a_trace_that_is_played_once_carries_nothing_after_its_end() {
    let trace = Arc::new(Trace::new((1..=500).map(|at| at * 10).collect()).unwrap());
    let once = HopConfig::Bottleneck { trace: "once".into(), queue: QueueConfig::Infinite, once: true };
    let gcc: Scheme = "gcc".parse().unwrap();
    let scenario = scenario(&[once], Vec::new(), 10);
    let found = simulate(&scenario, &gcc, &mut |_| Ok(trace.clone()), &mut unattended).unwrap().outcome;
    assert_eq!([1, 4, 6, 9].map(|second| (capacity(&found, second) * 10.0).round()), [12.0, 12.0, 0.0, 0.0]);
    // Of 5 s, not of 10.
    assert!((0.4..1.0).contains(&found.summary.utilization.unwrap()), "{:?}", found.summary.utilization);
}

#[test]
fn a_camera_that_is_off_for_half_of_the_time_and_one_of_five_pictures_a_second_stall_no_one() {
    let off = Pause { flow: 0, from: Span::from_secs(15), until: Span::from_secs(45), what: Paused::Both };
    let paused = Scenario { pauses: vec![off], ..scenario(&[rate("2Mbps")], Vec::new(), 60) };
    let mut slow = scenario(&[rate("2Mbps")], Vec::new(), 60);
    slow.video.frame_rate = thalweg_units::FrameRate::whole(5);
    for (scenario, fps, stalled) in [(paused, 28.0..30.01, 0.02), (slow, 4.7..5.01, 0.1)] {
        // At 5 pictures a second some are 300 to 570 ms after the one before, by bursts of probes: they are late.
        let summary = outcome(&scenario, "gcc").summary;
        assert!(summary.stall_ratio < stalled && fps.contains(&summary.frame_rate_fps), "{}", summary.stall_ratio);
    }
    // Nothing comes through: one stall.
    let lost = HopConfig::Loss(thalweg_netsim::LossModel::Random { probability: 1.0 });
    let summary = outcome(&scenario(&[lost], Vec::new(), 5), "gcc").summary;
    assert_eq!((summary.stall_ratio, summary.frame_rate_fps), (1.0, 0.0));
}
