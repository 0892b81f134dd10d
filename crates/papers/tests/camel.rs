//! Short versions of Camel's experiments (specs/camel.md 8): the paper's claims, each with both bounds, compared with
//! the baselines.

use thalweg_codecs::Codec;
use thalweg_lab::metrics::Summary;
use thalweg_lab::scenario::{Competitor, Scenario, Sender, Video};
use thalweg_lab::simulate::Run;
use thalweg_netsim::queue::Limits;
use thalweg_netsim::{HopConfig, LossModel, PathConfig, QueueConfig, TcpConfig};
use thalweg_papers::{Reading, Windowed};
use thalweg_sender::{FeedbackStyle, Scheme};
use thalweg_units::{Bytes, Seed, Size, Span};

use crate::support::{delay, scenario};

const KILOBYTE: u64 = 1024;

fn drop_tail(kilobytes: u64) -> QueueConfig {
    QueueConfig::DropTail(Limits::bytes(Bytes::new(kilobytes * KILOBYTE)))
}

/// A scenario with an encoder model over a link of these rates, 25 ms each way.
fn over(rates: &str, queue: QueueConfig, seconds: i64) -> Scenario {
    let hops = vec![HopConfig::Rate { rate: rates.parse().unwrap(), queue }, delay()];
    let codec = Codec::Model(Default::default());
    Scenario { codec, call: true, forward: PathConfig { hops }, ..scenario(seconds, Size::new(640, 360)) }
}

fn megabit(seconds: i64) -> Scenario {
    over("1Mbps", drop_tail(100), seconds)
}

fn play(scenario: &Scenario, scheme: &str) -> Run {
    played(scenario, &scheme.parse().unwrap())
}

fn played(scenario: &Scenario, scheme: &Scheme) -> Run {
    scenario.play(scheme).unwrap()
}

fn summary(scenario: &Scenario, scheme: &str) -> Summary {
    play(scenario, scheme).outcome.summary
}

fn accuracy(summary: &Summary) -> f64 {
    summary.estimate_accuracy.unwrap()
}

/// Camel's share of the path while all responsive flows were active.
fn share(summary: &Summary) -> f64 {
    summary.sharing.as_ref().unwrap().flows[0].share
}

#[test]
fn an_encoder_at_sixty_percent_does_not_spoil_the_estimate() {
    let scene = Scenario { undershoot: "0.6@30s-60s".parse().unwrap(), ..megabit(90) };
    let camel = play(&scene, "camel").outcome;
    let of_camel = accuracy(&camel.summary);
    let within = Reading::Within { key: "", of: Windowed::Accuracy, from: 30.0, until: 60.0 };
    let meanwhile = within.of(&camel).unwrap();
    println!("camel {of_camel:.3}, from 30 to 60 s {meanwhile:.3}");
    // The paper: 0.989.
    assert!((0.97..=1.0).contains(&of_camel) && (0.97..=1.0).contains(&meanwhile), "{of_camel} {meanwhile}");
    // Each baseline has its known accuracy, so that none is unfairly weak.
    for (scheme, min, max) in [("gcc", 0.80, 0.96), ("copa", 0.50, 0.90), ("bbr", 0.50, 0.96)] {
        let found = accuracy(&summary(&scene, scheme));
        println!("{scheme} {found:.3}");
        assert!((min..=max).contains(&found) && found < of_camel - 0.02, "{scheme}: {found}, camel {of_camel}");
    }
}

#[test]
fn the_estimate_follows_the_link_within_three_seconds_both_ways_at_sixty_percent() {
    let scene = Scenario { undershoot: "0.6".parse().unwrap(), ..over("2Mbps/1Mbps@30s", drop_tail(100), 90) };
    let settles = |scheme: &str, from: f64| {
        let reading = Reading::Within { key: "", of: Windowed::SettlingTime, from, until: from + 30.0 };
        reading.of(&play(&scene, scheme).outcome)
    };
    let (down, up) = (settles("camel", 30.0).unwrap(), settles("camel", 60.0).unwrap());
    println!("down {down:.1} s, up {up:.1} s");
    assert!((0.1..=3.0).contains(&down) && (0.1..=3.0).contains(&up), "down {down} s, up {up} s");
    // The paper: GCC and Copa overestimate; neither settles in time. (BBR, which sends padding while it probes, does.)
    for scheme in ["gcc", "copa"] {
        let found = settles(scheme, 60.0);
        println!("{scheme}: up {found:?}");
        assert!(found.is_none_or(|seconds| seconds > up + 2.0), "{scheme}: {found:?}");
    }
}

/// A kilobyte is too little for a measurable burst. Two kilobytes hold one of the shortest: four packets of 500 bytes.
#[test]
fn a_queue_that_holds_no_burst_means_gcc_and_a_larger_one_camel_again() {
    let [before, after] = [1, 20].map(|kilobytes| Limits::bytes(Bytes::new(kilobytes * KILOBYTE)));
    let queue = QueueConfig::DropTailUntil { until: Span::from_secs(60), before, after };
    let run = play(&over("1Mbps", queue, 120), "camel");
    let in_gcc = |from: f64, until: f64| {
        let points = run.outcome.series.variable("in_gcc").iter().filter(|(at, _)| (from..until).contains(at));
        let values: Vec<f64> = points.map(|(_, value)| *value).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    let (shallow, deep) = (in_gcc(20.0, 60.0), in_gcc(105.0, 120.0));
    println!("in GCC {shallow:.2} of the time behind 1 KB, {deep:.2} at the end");
    assert!((0.5..=1.0).contains(&shallow), "{shallow}");
    assert_eq!(deep, 0.0);
}

/// 10 fps, frames of 10 KB: those at 30 fps are too small for a burst of 20 KB.
#[test]
fn bursts_of_their_own_length_stall_less_than_fixed_ones_behind_shallow_queues() {
    let scene = |kilobytes: u64| Scenario {
        video: Video::scene(Size::new(640, 360), 10),
        ..over("1Mbps", drop_tail(kilobytes), 60)
    };
    let of = |kilobytes: u64, scheme: &str| summary(&scene(kilobytes), scheme);
    let (own, fixed) = (of(2, "camel"), of(2, "camel:fixed-burst"));
    let (rate, stalls) = (own.video_bitrate_bps / fixed.video_bitrate_bps, own.stall_ratio / fixed.stall_ratio);
    println!("2 KB: {rate:.2} of the bitrate, {stalls:.2} of the stalls");
    // The paper: 1.79 and 0.33.
    assert!((1.6..=2.5).contains(&rate) && (0.05..=0.33).contains(&stalls), "{rate} {stalls}");
    let stalls = |scheme: &str| [4, 6, 8, 10].map(|kilobytes| of(kilobytes, scheme).stall_ratio).iter().sum::<f64>();
    let fixed = stalls("camel:fixed-burst");
    let (own, careful) = (stalls("camel") / fixed, stalls("camel:careful") / fixed);
    println!("4 to 10 KB: {own:.2} of the stalls, {careful:.2} where 2 % of loss shorten bursts");
    // The paper accepts losing a tenth of a burst's end for good, which causes the remaining stalls.
    assert!((0.2..=0.5).contains(&own), "{own}");
    assert!((0.1..=0.35).contains(&careful), "{careful}");
}

/// The paper: 4.5 points below SQP, 2.6 below Pudica. All schemes repair as Camel does and have per-packet feedback, so
/// that their effect on the rate is compared.
#[test]
fn half_of_all_packets_lost_stalls_camel_less_than_sqp_and_pudica() {
    let clean = megabit(90);
    let lossy = HopConfig::Loss(LossModel::Random { probability: 0.5 });
    let hops: Vec<HopConfig> = std::iter::once(lossy).chain(clean.forward.hops.clone()).collect();
    let Scheme { repair, .. } = "camel".parse().unwrap();
    let mean = |scheme: &str, of: &dyn Fn(&Summary) -> f64| {
        let scheme = Scheme { repair, feedback: FeedbackStyle::PerPacket, ..scheme.parse().unwrap() };
        let run = |seed: u64| {
            let forward = PathConfig { hops: hops.clone() };
            of(&played(&Scenario { forward, seed: Seed::new(seed), ..clean.clone() }, &scheme).outcome.summary)
        };
        (1..=4).map(run).sum::<f64>() / 4.0
    };
    let [camel, sqp, pudica] = ["camel", "sqp", "pudica"].map(|scheme| mean(scheme, &|summary| summary.stall_ratio));
    println!("stalls: camel {camel:.3}, SQP {sqp:.3}, Pudica {pudica:.3}");
    assert!((0.3..=0.5).contains(&camel), "{camel}");
    assert!((0.01..=0.15).contains(&(sqp - camel)), "camel {camel}, SQP {sqp}");
    assert!((0.1..=0.4).contains(&(pudica - camel)), "camel {camel}, Pudica {pudica}");
    // The received packets still show the path's capacity.
    let accuracy = mean("camel", &accuracy);
    assert!((0.85..=1.0).contains(&accuracy), "{accuracy}");
}

/// The cameras are not in phase. Senders in phase would meet each other's bursts in the same order at every picture,
/// and the one whose burst comes first would see the shortest queue and keep a larger share.
#[test]
fn four_of_a_kind_share_evenly() {
    let other = |number: i64| {
        let from = Span::from_millis(number * 10_011);
        Competitor::Sender(Sender { scheme: "camel".into(), video: None, from, until: None })
    };
    let of = |seed: u64| {
        let competitors = [1, 2, 3].map(other).to_vec();
        let scene = Scenario { competitors, seed: Seed::new(seed), ..megabit(100) };
        let sharing = summary(&scene, "camel").sharing.unwrap();
        assert_eq!((sharing.flows.len(), sharing.from_s), (4, 30.033));
        println!("seed {seed}: {:.3}, by the second {:.3}", sharing.jain, sharing.jain_by_second);
        sharing.jain
    };
    let jain = (1..=4).map(of).sum::<f64>() / 4.0;
    assert!((0.95..=1.0).contains(&jain), "{jain}");
}

#[test]
fn neither_camel_nor_gcc_starves_the_other() {
    let other =
        Sender { scheme: "gcc".into(), video: None, from: Span::from_secs(30), until: Some(Span::from_secs(60)) };
    let scene = Scenario { competitors: vec![Competitor::Sender(other)], ..megabit(90) };
    let run = play(&scene, "camel").outcome;
    let share = share(&run.summary);
    let after = Reading::Within { key: "", of: Windowed::Delivered, from: 65.0, until: 90.0 }.of(&run).unwrap();
    println!("share {share:.2}, {after:.0} bit/s afterwards");
    assert!((0.25..=0.75).contains(&share), "{share}");
    assert!((8e5..=1e6).contains(&after), "{after}");
}

/// The paper has Camel at its minimum behind 500 KB and at half of the link behind 100 KB. Here its bursts stay
/// together in the queue, so they measure the whole link, and the min delay of ten seconds is that of a queue that
/// Cubic keeps: Camel keeps its share in both.
#[test]
fn beside_cubic_camel_holds_its_own() {
    let beside = |kilobytes: u64| Scenario {
        competitors: vec![Competitor::Tcp(TcpConfig::default())],
        ..over("1Mbps", drop_tail(kilobytes), 90)
    };
    let [deep, shallow] = [500, 100].map(|kilobytes| share(&summary(&beside(kilobytes), "camel")));
    println!("share {deep:.2} behind 500 KB, {shallow:.2} behind 100 KB");
    // Over six seeds 0.13 to 0.58, and 0.65 to 0.69.
    assert!((0.05..=0.65).contains(&deep), "{deep}");
    assert!((0.4..=0.75).contains(&shallow), "{shallow}");
}
