//! Properties of all cases: they can be played, every bar is measured, and the same seeds give the same bytes.

use std::sync::Arc;

use thalweg_lab::simulate::Simulation;
use thalweg_rmcat::{Bench, Case, Contestant, Options, Outcome, Setting, all, find, json};
use thalweg_sender::scheme::ControllerConfig;
use thalweg_sender::{Registry, Scheme};
use thalweg_units::{Rate, Seed, Span};

fn scheme(name: &str) -> Scheme {
    name.parse().unwrap()
}

fn played(cases: Vec<Case>, name: &str, threads: usize) -> Vec<Outcome> {
    let scheme = scheme(name);
    let bench = Bench { cases, contestants: vec![&scheme], seeds: vec![1], options: Options::default() };
    bench.run(threads, &|_, _| true).unwrap().expect("nothing stopped it")
}

fn cases(ids: &[&str]) -> Vec<Case> {
    ids.iter().flat_map(|id| find(id).unwrap()).collect()
}

#[test]
fn every_case_and_its_reference_can_be_prepared() {
    let gcc = scheme("gcc");
    for case in all() {
        let sender = gcc.sender(case.limits).unwrap();
        let scenarios = [
            Some(case.scenario("gcc", Seed::new(1), &Options::default()).unwrap()),
            case.reference_scenario("gcc", Seed::new(1), &Options::default()).unwrap(),
        ];
        for scenario in scenarios.iter().flatten() {
            let mut find = |name: &str| Err::<Arc<_>, _>(format!("no trace {name}"));
            let prepared = Simulation::new(scenario, &*sender, &Registry::new(), &mut find);
            assert!(prepared.is_ok(), "{}: {}", case.id, prepared.err().unwrap());
        }
    }
}

#[test]
fn every_bar_has_a_range_within_a_range_and_a_window_within_its_case() {
    for case in all() {
        assert!(!case.bars.is_empty(), "{} asks nothing", case.id);
        for bar in &case.bars {
            let (must, should) = (bar.must, bar.should);
            assert!(
                must.low <= should.low && should.low <= should.high && should.high <= must.high,
                "{case:?} {bar:?}"
            );
            let (from, until) = bar.window;
            assert!(from < until && until <= case.duration.as_secs_f64() + 1e-6, "{}: {bar:?}", case.id);
            assert!(bar.flow.is_none_or(|flow| flow < case.flows()), "{}: {bar:?}", case.id);
        }
    }
}

#[test]
fn every_bar_of_the_wired_cases_is_measured() {
    for outcome in played(cases(&["5.1", "5.3", "5.6", "5.8", "6.3"]), "gcc", 2) {
        for judged in &outcome.bars {
            assert!(judged.mean.is_some_and(f64::is_finite), "{}: {judged}", outcome.case);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_one_thread_and_on_two() {
    let twice = [1, 2].map(|threads| json(&played(cases(&["5.1", "5.6", "w4.1f"]), "nada", threads)).to_string());
    assert_eq!(twice[0], twice[1]);
}

#[test]
fn a_sender_of_fixed_rate_uses_what_it_sends_and_never_settles_after_a_fall() {
    // 0.9 Mbps for all time: the first phase has room for it, the third has 0.6 Mbps.
    let mut fixed = ControllerConfig::Fixed(Default::default());
    if let ControllerConfig::Fixed(config) = &mut fixed {
        config.rate = Rate::from_kbps(900);
    }
    let scheme = Scheme { name: "fixed".into(), controller: fixed, ..scheme("gcc") };
    let case = find("5.1").unwrap().remove(0);
    let bench = Bench { cases: vec![case], contestants: vec![&scheme], seeds: vec![1], options: Options::default() };
    let outcome = bench.run(1, &|_, _| true).unwrap().unwrap().remove(0);
    let value = |name: &str, from: f64| {
        let found = outcome.bars.iter().find(|judged| judged.bar.figure.name() == name && judged.bar.window.0 >= from);
        found.and_then(|judged| judged.mean).unwrap()
    };
    assert!((0.80..0.92).contains(&value("use", 10.0)), "{}", value("use", 10.0));
    assert!((0.97..1.03).contains(&value("use", 65.0)), "the link is full: {}", value("use", 65.0));
    // What exceeds 0.6 of 0.8 Mbps is dropped; the queue of 300 ms is full.
    assert!((20.0..30.0).contains(&value("loss", 65.0)), "{}", value("loss", 65.0));
    assert!((270.0..310.0).contains(&value("q95", 65.0)), "{}", value("q95", 65.0));
    let fall = outcome.bars.iter().find(|judged| judged.bar.figure.name() == "fall").unwrap();
    assert_eq!(fall.censored, 1);
}

#[test]
fn options_reach_every_flow_and_link() {
    let options =
        Options { one_way: Some(Span::from_millis(7)), queue: Some(Span::from_millis(70)), ..Options::default() };
    let Setting::Network(network) = &find("5.5").unwrap()[0].setting else { unreachable!("5.5 is a network") };
    assert!(network.flows.iter().any(|flow| flow.one_way != Span::from_millis(7)));
    let changed = find("5.5").unwrap()[0].network(&options).unwrap();
    assert!(changed.flows.iter().all(|flow| flow.one_way == Span::from_millis(7)));
    assert!(changed.links.iter().all(|link| link.queue == Span::from_millis(70)));
}
