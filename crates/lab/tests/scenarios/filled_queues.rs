//! `thalweg` beside flows that fill the queue, and beside those that do not (docs/thalweg.md).

use thalweg_codecs::Codec;
use thalweg_lab::metrics::response::mean_between;
use thalweg_lab::record::What;
use thalweg_lab::scenario::{Competitor, Scenario, Sender};
use thalweg_lab::{simulate, simulate::Run, unattended};
use thalweg_netsim::queue::Limits;
use thalweg_netsim::{DatagramsConfig, HopConfig, PathConfig, QueueConfig, TcpConfig, Trace};
use thalweg_sender::scheme::ControllerConfig;
use thalweg_sender::{Event, Scheme};
use thalweg_units::{Rate, Seed, Size, Span};

use crate::scenarios::support::{delay, named, scenario};

/// 70 s over `kbps` with 25 ms each way and a queue of `round_trips` of 50 ms.
fn beside(kbps: u64, round_trips: f64, competitor: Competitor) -> Scenario {
    let queue = Rate::from_kbps(kbps).over(Span::from_millis(50)).scale(round_trips);
    let queue = QueueConfig::DropTail(Limits::bytes(queue));
    let bottleneck = HopConfig::Bottleneck { trace: "link".into(), queue, once: false };
    let forward = PathConfig { hops: vec![bottleneck, delay()] };
    Scenario {
        codec: Codec::Model(Default::default()),
        forward,
        competitors: vec![competitor],
        ..scenario(70, Size::HD)
    }
}

fn cubic() -> Competitor {
    Competitor::Tcp(TcpConfig { from: Span::from_secs(10), until: Some(Span::from_secs(50)), ..TcpConfig::default() })
}

fn competing(scheme: &str, on: bool) -> Scheme {
    let mut scheme = named(scheme);
    let ControllerConfig::Thalweg(controller) = &mut scheme.controller else { panic!("not thalweg") };
    if !on {
        // Nor is the other's rate taken for a policer's, and its queue for jitter.
        (controller.competing, controller.policer, controller.jitter) = (None, None, None);
    }
    scheme
}

fn play(scenario: &Scenario, kbps: u64, scheme: &Scheme) -> Run {
    let link = std::sync::Arc::new(Trace::constant(Rate::from_kbps(kbps)).unwrap());
    simulate(scenario, scheme, &mut |_| Ok(link.clone()), &mut unattended).unwrap()
}

/// Our share of what both have from `from` to `to` seconds.
fn share(run: &Run, from: f64, to: f64) -> f64 {
    let series = &run.outcome.series;
    let [ours, theirs] = [&series.delivered_mbps, &series.others[0].delivered_mbps];
    let [ours, theirs] = [ours, theirs].map(|delivered| mean_between(delivered, series.bin_s, from, to));
    ours / (ours + theirs)
}

fn times(run: &Run, what: &str) -> Vec<f64> {
    let is = |record: &What| matches!(record, What::Sender(Event::Decision(decision)) if decision.what == what);
    run.recorder.records().filter(|record| is(&record.what)).map(|record| record.at.as_secs_f64()).collect()
}

/// The mean delay of the path from `from` to `to` seconds, in ms.
fn waits(run: &Run, from: f64, to: f64) -> f64 {
    let within = run.outcome.series.variable("one_way_delay_ms").iter().filter(|(at, _)| (from..to).contains(at));
    let delays: Vec<f64> = within.map(|(_, delay)| *delay).collect();
    delays.iter().sum::<f64>() / delays.len() as f64
}

/// A share beside Cubic is a mean over so many seeds.
const SEEDS: u64 = 4;

#[test]
fn beside_cubic_behind_one_bdp_each_has_about_half_and_the_queue_is_short_again_once_it_has_left() {
    for (scheme, kbps) in [("thalweg", 2000), ("thalweg", 6000), ("thalweg:standard-decoder", 4000)] {
        let mut shares = [0.0; 2];
        for seed in 1..=SEEDS {
            let scenario = Scenario { seed: Seed::new(seed), ..beside(kbps, 1.0, cubic()) };
            let run = play(&scenario, kbps, &competing(scheme, true));
            let delay = waits(&run, 60.0, 70.0);
            assert!((25.0..=55.0).contains(&delay), "{scheme} waits {delay} ms, seed {seed}");
            if seed == 1 {
                let (entered, left) = (times(&run, "compete"), times(&run, "yield"));
                assert!(!entered.is_empty() && (10.5..15.0).contains(&entered[0]), "{entered:?}");
                assert!(left.last().is_some_and(|left| (50.0..60.0).contains(left)), "{left:?}");
            }
            let without = play(&scenario, kbps, &competing(scheme, false));
            for (sum, run) in shares.iter_mut().zip([&run, &without]) {
                *sum += share(run, 25.0, 50.0);
            }
        }
        let [with, without] = shares.map(|sum| sum / SEEDS as f64);
        println!("{scheme}, {kbps} kbps: {with:.2}, {without:.2} without");
        assert!((0.4..=0.6).contains(&with), "{scheme} has {with} of {kbps} kbps");
        // What the queue has no room for waits in the sender then, and is taken for our share where Cubic gives up its own.
        assert!((0.0..0.45).contains(&without) && without < 0.8 * with, "{without} and {with}");
    }
}

#[test]
fn datagrams_that_do_not_listen_are_not_competed_with() {
    let datagrams = DatagramsConfig {
        rate: Rate::from_kbps(1000),
        from: Span::from_secs(10),
        until: Some(Span::from_secs(50)),
        ..DatagramsConfig::default()
    };
    let run = play(&beside(2000, 10.0, Competitor::Datagrams(datagrams)), 2000, &competing("thalweg", true));
    assert_eq!(times(&run, "compete"), Vec::<f64>::new());
    let ours = share(&run, 20.0, 50.0);
    assert!((0.4..=0.52).contains(&ours), "{ours}");
    let delay = waits(&run, 20.0, 50.0);
    assert!((25.0..=90.0).contains(&delay), "{delay} ms");
}

#[test]
fn beside_gcc_and_alone_there_is_nothing_to_compete_with() {
    // Its camera takes its pictures a third of an interval after ours. Where both leave at the same moment the packets of a
    // frame of ours may have a whole one of its between them (docs/thalweg.md).
    let gcc = Sender { scheme: "gcc".into(), video: None, from: Span::from_millis(10_011), until: None };
    let scenario = beside(4000, 10.0, Competitor::Sender(gcc));
    let theirs_of = |seed| {
        let scenario = Scenario { seed: Seed::new(seed), ..scenario.clone() };
        1.0 - share(&play(&scenario, 4000, &competing("thalweg", true)), 25.0, 70.0)
    };
    let theirs = (1..=5).map(theirs_of).sum::<f64>() / 5.0;
    assert!((0.35..=0.65).contains(&theirs), "{theirs}");
    let none = Scenario { competitors: Vec::new(), ..beside(2000, 1.0, cubic()) };
    assert_eq!(times(&play(&none, 2000, &competing("thalweg", true)), "compete"), Vec::<f64>::new());
}
