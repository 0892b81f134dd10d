//! Figures that hold whatever is played: random scenarios, each with a random scheme.
//!
//! `INVARIANT_CASES` (200) says how many; the nightly has 10,000. A failure prints its seed and the smallest scenario that
//! fails too, and writes that one as `invariants.toml` into Cargo's temporary folder, for `thalweg run`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::Config;
use thalweg_lab::Scenario;
use thalweg_lab::bound::{Bound, Curve};
use thalweg_lab::metrics::{FIGURES, Summary, figures};
use thalweg_lab::outcome::Outcome;
use thalweg_lab::record::What as Event;
use thalweg_lab::scenario::{
    Audio, Change, Competitor, FORWARD, NamedLink, Pause, Paused, REVERSE, Route, Sender, Video, What,
};
use thalweg_lab::simulate::Run;
use thalweg_netsim::queue::Limits;
use thalweg_netsim::{DatagramsConfig, HopConfig, Jitter, LossModel, PathConfig, QueueConfig, TcpConfig};
use thalweg_sender::{FeedbackStyle, Scheme, scheme};
use thalweg_units::{Bytes, Rate, Seed, Size, Span};

/// Tolerance of floating-point sums.
const ROUNDING: f64 = 1e-9;

fn cases() -> u32 {
    std::env::var("INVARIANT_CASES").map_or(200, |cases| cases.parse().expect("INVARIANT_CASES is a number"))
}

fn millis(range: std::ops::Range<i64>) -> impl Strategy<Value = Span> {
    range.prop_map(Span::from_millis)
}

/// From 30 kbps to 30 Mbps, as many of each size.
fn kbps() -> impl Strategy<Value = u64> {
    (1.5..4.5_f64).prop_map(|exponent| 10_f64.powf(exponent) as u64)
}

fn queue() -> impl Strategy<Value = QueueConfig> {
    let limits = prop_oneof![
        (3_000..300_000_u64).prop_map(|bytes| Limits::bytes(Bytes::new(bytes))),
        (2..100_u64).prop_map(Limits::packets),
    ];
    prop_oneof![
        2 => Just(QueueConfig::Infinite),
        3 => limits.clone().prop_map(QueueConfig::DropTail),
        1 => limits.clone().prop_map(QueueConfig::DropHead),
        1 => limits.prop_map(|limits| QueueConfig::Codel {
            limits,
            target: Span::from_millis(5),
            interval: Span::from_millis(100),
        }),
    ]
}

/// A bottleneck: a constant rate, rates in turn, or opportunities at random.
fn bottleneck() -> impl Strategy<Value = HopConfig> {
    let rates = prop_oneof![
        3 => kbps().prop_map(|rate| format!("{rate}kbps")),
        2 => (kbps(), kbps(), 200..2_000_u64).prop_map(|(one, other, ms)| format!("{one}kbps/{other}kbps@{ms}ms")),
        1 => (kbps(), 100..900_u64).prop_map(|(rate, ms)| format!("{rate}kbps@1s/0bps@{ms}ms")),
    ];
    prop_oneof![
        3 => (rates, queue()).prop_map(|(rate, queue)| HopConfig::Rate { rate: rate.parse().expect("a rate"), queue }),
        1 => (kbps(), queue(), any::<bool>())
            .prop_map(|(rate, queue, once)| HopConfig::Bottleneck { trace: format!("{rate}kbps"), queue, once }),
    ]
}

fn nuisance() -> impl Strategy<Value = HopConfig> {
    prop_oneof![
        (0.0..0.3_f64).prop_map(|probability| HopConfig::Loss(LossModel::Random { probability })),
        (0.0..0.1_f64).prop_map(|to_bad| {
            let (to_good, good_loss, bad_loss) = (0.3, 0.0, 0.8);
            HopConfig::Loss(LossModel::GilbertElliott { to_bad, to_good, good_loss, bad_loss })
        }),
        (kbps(), 1_500..30_000_u64)
            .prop_map(|(rate, bucket)| HopConfig::Policer { rate: Rate::from_kbps(rate), bucket: Bytes::new(bucket) }),
        (millis(0..40), any::<bool>()).prop_map(|(max, reorders)| HopConfig::Delay {
            delay: Span::ZERO.into(),
            jitter: Jitter::Uniform { max },
            reorders
        }),
        millis(0..1_500)
            .prop_map(|from| { HopConfig::Loss(LossModel::Outage { from, until: from + Span::from_millis(700) }) }),
        copies(),
    ]
}

fn copies() -> impl Strategy<Value = HopConfig> {
    (0.0..=1.0_f64, millis(0..200)).prop_map(|(probability, after)| HopConfig::Duplicate { probability, after })
}

fn path() -> impl Strategy<Value = PathConfig> {
    let bottlenecks = prop_oneof![
        5 => bottleneck().prop_map(|one| vec![one]),
        1 => [bottleneck(), bottleneck()].prop_map(Vec::from),
    ];
    (bottlenecks, proptest::collection::vec(nuisance(), 0..3), millis(0..150)).prop_map(|(mut hops, more, delay)| {
        hops.extend(more);
        hops.push(HopConfig::delay(delay));
        PathConfig { hops }
    })
}

fn competitors() -> impl Strategy<Value = Vec<Competitor>> {
    let sender = (0..scheme::known().len(), millis(0..1_000)).prop_map(|(known, from)| {
        let scheme = scheme::known()[known].name.into();
        Competitor::Sender(Sender { scheme, video: None, from, until: None })
    });
    let tcp = millis(0..1_000).prop_map(|from| Competitor::Tcp(TcpConfig { from, ..TcpConfig::default() }));
    let datagrams = kbps().prop_map(|rate| {
        Competitor::Datagrams(DatagramsConfig { rate: Rate::from_kbps(rate), ..DatagramsConfig::default() })
    });
    prop_oneof![4 => Just(Vec::new()), 1 => proptest::collection::vec(prop_oneof![sender, tcp, datagrams], 1..3)]
}

/// A change of the forward link, or of the route to another one.
fn changes() -> impl Strategy<Value = (Vec<NamedLink>, Vec<Change>)> {
    let rate = (millis(100..2_500), kbps()).prop_map(|(at, rate)| {
        let rate = Some(Rate::from_kbps(rate));
        (Vec::new(), vec![Change { at, what: What::Link { name: FORWARD.into(), rate, delay: None, loss: None } }])
    });
    let delay = (millis(100..2_500), millis(0..300)).prop_map(|(at, delay)| {
        let what = What::Link { name: FORWARD.into(), rate: None, delay: Some(delay), loss: None };
        (Vec::new(), vec![Change { at, what }])
    });
    let route = (millis(100..2_500), path()).prop_map(|(at, path)| {
        let route = Route { flow: 0, forward: vec!["other".into()], reverse: vec![REVERSE.into()] };
        let other = NamedLink { name: "other".into(), hops: path.hops };
        (vec![other], vec![Change { at, what: What::Route { route, adapter: true } }])
    });
    prop_oneof![3 => Just((Vec::new(), Vec::new())), 1 => rate, 1 => delay, 1 => route]
}

fn video() -> impl Strategy<Value = Video> {
    let sizes = [(320, 180), (640, 360), (1280, 720), (1920, 1080)].map(|(width, height)| Size::new(width, height));
    let rates = prop_oneof![4 => Just(30_u32), 1 => Just(5), 1 => Just(15), 1 => Just(60), 1 => Just(120)];
    (proptest::sample::select(sizes.to_vec()), rates).prop_map(|(size, rate)| Video::scene(size, rate))
}

fn scenarios() -> impl Strategy<Value = Scenario> {
    let what = proptest::sample::select(vec![Paused::Both, Paused::Camera, Paused::Microphone]);
    let some_time = (millis(0..1_500), millis(1..1_500), what)
        .prop_map(|(from, long, what)| vec![Pause { flow: 0, from, until: from + long, what }]);
    let audio_alone = Pause { flow: 0, from: Span::ZERO, until: Span::from_secs(4), what: Paused::Camera };
    let pauses = prop_oneof![6 => Just(Vec::new()), 2 => some_time, 1 => Just(vec![audio_alone])];
    let feedback = proptest::option::weighted(
        0.3,
        proptest::sample::select(vec![FeedbackStyle::PerPacket, FeedbackStyle::Twcc, FeedbackStyle::Ccfb]),
    );
    let times = (millis(1_500..4_000), millis(0..100), any::<u64>());
    let reverse_loss = prop_oneof![3 => Just(0.0), 1 => 0.0..0.4_f64];
    let reverse_copies = proptest::option::weighted(0.25, copies());
    let drift = prop_oneof![3 => Just(0), 1 => -200..=200_i32, 1 => -50_000..=50_000_i32];
    let receiver = (feedback, reverse_loss, reverse_copies, drift);
    let others = (video(), changes(), pauses, competitors(), any::<bool>(), receiver);
    (times, path(), others).prop_map(|((duration, back, seed), forward, others)| {
        let (video, (links, changes), pauses, competitors, audio, (feedback, loss, copies, clock_drift_ppm)) = others;
        let mut reverse = vec![HopConfig::Loss(LossModel::Random { probability: loss }), HopConfig::delay(back)];
        reverse.splice(0..0, copies);
        Scenario {
            duration,
            seed: Seed::new(seed >> 1),
            video,
            forward,
            reverse: PathConfig { hops: reverse },
            links,
            changes,
            pauses,
            competitors,
            audio: audio.then(Audio::default),
            feedback,
            clock_drift_ppm,
            ..Scenario::over("invariants")
        }
    })
}

/// The least fixed delay that a packet to the receiver can have.
fn propagation(scenario: &Scenario) -> f64 {
    let fixed = |hops: &[HopConfig]| -> f64 {
        let of = |hop: &HopConfig| match hop {
            HopConfig::Delay { delay, .. } => delay.at(thalweg_units::Time::ZERO).0.as_millis_f64(),
            _ => 0.0,
        };
        hops.iter().map(of).sum()
    };
    let delay_changes = |change: &Change| matches!(change.what, What::Link { delay: Some(_), .. });
    if scenario.changes.iter().any(delay_changes) {
        // The first hop with a delay gets the whole of it and the others none, while packets are between them.
        return 0.0;
    }
    scenario.links.iter().map(|link| fixed(&link.hops)).fold(fixed(&scenario.forward.hops), f64::min)
}

/// The bounds that a figure never leaves.
fn range(figure: &str) -> (f64, f64) {
    match figure {
        "utilization"
        | "estimate_accuracy"
        | "in_time_ratio"
        | "stall_ratio"
        | "packet_loss_ratio"
        | "bound_share"
        | "sharing.jain"
        | "sharing.jain_by_second"
        | "delivery.discard_ratio"
        | "redundancy.ffre"
        | "redundancy.frcc"
        | "redundancy.useful_padding_ratio"
        | "choices.better_share"
        | "choices.lower_share"
        | "choices.none_share" => (0.0, 1.0),
        "estimate_bias" => (-1.0, f64::INFINITY),
        "qoe_call" | "qoe_driving" => (1.0, 5.0),
        "psnr_db" | "screen_psnr_db" => (0.0, 100.0),
        // Of pictures unlike their source SSIM may be below 0, and in dB too; coding and age alone never make that.
        "ssim_db" | "ssim_p25_db" | "screen_ssim_db" => (-0.5, 100.0),
        _ => (0.0, f64::INFINITY),
    }
}

/// The faults of an outcome, a line each; empty for none.
fn faults(scenario: &Scenario, scheme: &str, run: &Run) -> String {
    let outcome: &Outcome = &run.outcome;
    let summary: &Summary = &outcome.summary;
    let mut faults = String::new();
    let mut must = |holds: bool, what: String| {
        if !holds {
            let _ = writeln!(faults, "{scheme}: {what}");
        }
    };
    let found = figures(summary);
    for (name, value) in FIGURES.iter().zip(&found) {
        let Some(value) = value else { continue };
        let (least, most) = range(name);
        must((least - ROUNDING..=most + ROUNDING).contains(value), format!("{name} is {value}, not {least} to {most}"));
    }
    // The time in which pictures were due.
    let on = outcome.series.camera_off.iter().map(|(from, until)| until - from).sum::<f64>();
    let due = (summary.duration_s - on) / scenario.video.scene_format().interval().as_secs_f64();
    let shown = outcome.frames.iter().filter(|frame| frame.displayed_s.is_some()).count();
    must((outcome.frames.len() as f64 - due).abs() <= 2.0, format!("{} pictures of {due}", outcome.frames.len()));
    must(summary.shown_fps.unwrap_or(0.0) <= summary.frame_rate_fps + ROUNDING, "more displays than frames".into());
    if outcome.frames.is_empty() {
        must((summary.stall_ratio, summary.shown_fps) == (0.0, None), "figures of a camera that was never on".into());
    }
    let of_flow = run.recorder.records().filter(|record| record.flow == 0);
    let (mut arrived, mut dropped) = (BTreeSet::new(), BTreeSet::new());
    for record in of_flow {
        match record.what {
            Event::Arrived { id, .. } => must(arrived.insert(id), format!("packet {id} arrived twice")),
            Event::Dropped { id, .. } => must(dropped.insert(id), format!("packet {id} was dropped twice")),
            Event::CopyArrived { id, .. } => must(arrived.contains(&id), format!("a copy came before packet {id}")),
            _ => {}
        }
    }
    must(arrived.is_disjoint(&dropped), "a packet was dropped and arrived".into());
    if shown == 0 {
        let nothing = (summary.stall_ratio, summary.frame_rate_fps, summary.latency_p95_ms, summary.tail_missing);
        let blank = outcome.frames.len() as u64;
        must(nothing == (1.0, 0.0, None, blank) || blank == 0, format!("nothing was shown: {nothing:?}"));
        must(summary.video_bitrate_bps == 0.0, "bits of nothing shown".into());
    } else {
        let [p50, p95, mean] =
            [summary.latency_p50_ms, summary.latency_p95_ms, summary.latency_mean_ms].map(Option::unwrap);
        let least = propagation(scenario);
        must(
            p50 <= p95 && p50 > least && mean > least,
            format!("latency {p50} {p95} {mean} over a path of {least} ms"),
        );
        let latencies = outcome.frames.iter().filter_map(|frame| Some(frame.displayed_s? - frame.captured_s));
        must(latencies.fold(f64::INFINITY, f64::min) * 1e3 > least, "a frame was shown before it can be there".into());
    }
    let wire = summary.wire_bitrate_bps * (1.0 + ROUNDING);
    must(
        summary.video_bitrate_bps + summary.padding_bitrate_bps <= wire,
        "more video and padding than was sent".into(),
    );
    // Series add up to the figures.
    let series = &outcome.series;
    let sum = |bins: &[f64]| bins.iter().sum::<f64>() * series.bin_s * 1e6;
    let sent = sum(&series.sent_mbps);
    must((sent - summary.wire_bitrate_bps * summary.duration_s).abs() <= 1.0, format!("{sent} bits in the series"));
    must(sum(&series.video_mbps) + sum(&series.padding_mbps) <= sent + 1.0, "parts of what was sent are more".into());
    must(sum(&series.delivered_mbps) <= sent + 1.0, "more arrived than was sent".into());
    // Of one bottleneck on one route, without the utilisation's own limit.
    let limits =
        scenario.forward.hops.iter().filter(|hop| {
            matches!(hop, HopConfig::Bottleneck { .. } | HopConfig::Rate { .. } | HopConfig::Policer { .. })
        });
    if limits.count() == 1 && scenario.links.is_empty() {
        let (delivered, carried) = (sum(&series.delivered_mbps), sum(&series.capacity_mbps));
        // An opportunity's packet at the very end, and half a byte a bin.
        let slack = 12_032.0 + 4.0 * series.capacity_mbps.len() as f64;
        must(delivered <= carried + slack, format!("{delivered} bits over a link that carried {carried}"));
    }
    if let Some(sharing) = &summary.sharing {
        let shares: f64 = sharing.flows.iter().map(|flow| flow.share).sum();
        must((shares - 1.0).abs() < 1e-6 || shares == 0.0, format!("shares add up to {shares}"));
    }
    faults
}

/// Plays it, with its share of the bound.
fn played(scenario: &Scenario, sender: &dyn thalweg_sender::SenderFactory) -> Result<Run, String> {
    let mut run = scenario.play(sender).map_err(|error| error.to_string())?;
    if let Ok(curve) = Curve::of(scenario, &mut scenario.find()) {
        curve.judge(&mut run.outcome);
    }
    Ok(run)
}

fn keep(scenario: &Scenario, scheme: &Scheme) -> std::path::PathBuf {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("invariants.toml");
    let text = thalweg_lab::run_folder::run_file(scenario, &[], scheme).unwrap_or_else(|error| error);
    std::fs::write(&file, text).expect("a temporary folder that can be written");
    file
}

proptest! {
    #![proptest_config(Config { cases: cases(), failure_persistence: None, max_shrink_iters: 200, ..Config::default() })]

    fn hold(
        scenario in scenarios(),
        known in 0..scheme::known().len(),
    ) {
        let scheme = scheme::known()[known].scheme();
        let faults = match played(&scenario, &scheme) {
            Ok(run) => faults(&scenario, &scheme.name, &run),
            // Some controllers work with reports of one kind alone, and say so.
            Err(refused) if refused.contains("feedback is") => String::new(),
            Err(problem) => format!("{}: {problem}\n", scheme.name),
        };
        if !faults.is_empty() {
            let file = keep(&scenario, &scheme);
            prop_assert!(false, "{faults}the smallest is written to {}", file.display());
        }
    }
}

#[test]
fn figures_of_every_scheme_over_every_scenario_are_what_they_can_be() {
    // A scenario and its strategies are large, and moved often in a build without optimisation.
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(hold).expect("a thread");
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

#[test]
fn a_bound_has_all_of_its_own_curve() {
    for link in ["20kbps", "100kbps", "1Mbps/300kbps@3s", "lte-driving"] {
        for name in ["bound:omniscient", "bound:omniscient:33ms"] {
            let scenario = Scenario { duration: Span::from_secs(20), ..Scenario::over(link) };
            let summary = played(&scenario, &name.parse::<Bound>().unwrap()).unwrap().outcome.summary;
            println!("{link} {name} {:?}", summary.bound_share);
            assert!(summary.bound_share.is_none_or(|share| (0.5..=1.0).contains(&share)), "{link} {name}: {summary:?}");
        }
    }
}
