//! The experiments of Camel (WWW 2026, arXiv 2602.09500; specs/camel.md 8).
//!
//! 30 fps at 360p, 25 ms one way, a drop-tail queue of 100 KB unless the figure has another, and an encoder model (the
//! paper does not print frame rate, delay or queue for most tests: specs/camel.md's choice). Where the paper says which
//! scheme does what without a number, the claim is a bound: too low, too high, more than another.

mod signals;
mod table1;

use thalweg_netsim::{DatagramsConfig, HopConfig, Jitter, LossModel, TcpConfig};
use thalweg_sender::{FeedbackStyle, Scheme};
use thalweg_units::{Bytes, Size, Span};

use super::figure::known;
use super::{Encoder, Experiment, Figure, Link, Other, Reading, Setup, Windowed};
use thalweg_lab::Undershoot;
use thalweg_lab::scenario::{Competitor, Sender};

const KILOBYTE: u64 = 1024;
/// The link's queue, unless the figure has another (specs/camel.md 8).
const QUEUE: Bytes = Bytes::new(100 * KILOBYTE);
/// All schemes that the figures compare.
const ALL: [&str; 6] = ["gcc", "copa", "bbr", "sqp", "pudica", "camel"];
/// And Camel with an encoder that may use the whole estimate, as in the paper.
const UNDERSHOOTING: [&str; 7] = ["gcc", "copa", "bbr", "sqp", "pudica", "camel", "camel:no-headroom"];

/// An encoder with undershoot, by its command-line name.
fn undershoot(name: &str) -> Undershoot {
    name.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn setup(seconds: i64) -> Setup {
    Setup {
        frame_rate: Some(30),
        duration: Span::from_secs(seconds),
        size: Some(Size::new(640, 360)),
        encoder: Encoder::Model,
        call: true,
        runs: 16,
        ..Setup::USUAL
    }
}

/// A constant rate or a sequence of rates, by its command-line name. Served bit by bit, because the opportunities of a
/// trace, 1500 bytes each 12 ms at a megabit, are coarser than the packet trains that three of the schemes measure.
fn rate(name: impl Into<String>, rates: &str) -> Link {
    let rates = rates.parse().unwrap_or_else(|error| panic!("{error}"));
    Link::of_rate(name, rates).queue(QUEUE)
}

/// A link of 1 Mbps with the default queue.
fn megabit(name: impl Into<String>) -> Link {
    rate(name, "1Mbps")
}

/// The readings of every run; a figure adds its own.
const READINGS: [Reading; 7] = {
    use Reading::*;
    [VideoBitrate, EstimateAccuracy, EstimateBias, OneWayDelay, LatencyMean, LatencyP95, Stalls]
};

fn figure(name: &'static str, about: &'static str, seconds: i64, schemes: Vec<Scheme>, links: Vec<Link>) -> Figure {
    Figure::of_runs(name, about, schemes, links, &READINGS).setup(setup(seconds))
}

const fn within(key: &'static str, of: Windowed, from: f64, until: f64) -> Reading {
    Reading::Within { key, of, from, until }
}

pub(super) fn figures() -> Vec<Figure> {
    let (from, until) = (Span::from_secs(30), Some(Span::from_secs(60)));
    let shared = |name: &str, competitor| megabit(name).shared_with(Other::Competitor(competitor));
    let cubic = |queue| kilobytes(queue).shared_with(Other::Competitor(Competitor::Tcp(TcpConfig::default())));
    let datagrams = Competitor::Datagrams(DatagramsConfig { from, until, ..DatagramsConfig::default() });
    let gcc = Competitor::Sender(Sender { scheme: "gcc".into(), video: None, from, until });
    vec![
        estimates_by_etr(),
        Figure::new(
            "camel-fig7",
            "which signal tells congestion on a synthetic queue of 2 Mbps and 25 ms: accuracy under jitter (the paper: the gradient \
             clearly most accurate; the other two err after the queue was built)",
            Experiment::Rows(signals::ROWS),
        ),
        undershooting(),
        figure(
            "camel-fig10",
            "1 Mbps, the encoder at 60 % of its target from 30 to 60 s (the paper: only SQP, Pudica and Camel hold; BBR believes too \
             little, GCC and Copa too much)",
            90,
            known(&UNDERSHOOTING),
            vec![megabit("60 %").undershot(undershoot("0.6@30s-60s"))],
        )
        .because("Today's GCC probes while the encoder undershoots: it is low, not high, and loses 9 points, not 24")
        .reading(&[
            within("accuracy_30_60", Windowed::Accuracy, 30.0, 60.0),
            within("estimate_bias_30_60", Windowed::Bias, 30.0, 60.0),
        ]),
        figure(
            "camel-fig11",
            "2, 1 and 2 Mbps, 30 s each, the encoder at 60 %: seconds until the estimate is within a tenth of what there is and stays \
             (the paper: Camel, SQP and Pudica follow; BBR stays low; GCC and Copa believe too much)",
            90,
            known(&UNDERSHOOTING),
            vec![rate("2/1/2 Mbps", "2Mbps/1Mbps@30s").undershot(undershoot("0.6"))],
        )
        .because(
            "Pudica divides by the encoder's share, as the paper says, and never stays; today's GCC expects at most 1.5 times \
             what arrives, so it is low",
        )
        .reading(&[
            within("settles_down_s", Windowed::SettlingTime, 30.0, 60.0),
            within("settles_up_s", Windowed::SettlingTime, 60.0, 90.0),
        ]),
        table1::figure(),
        shallow_queues(
            "camel-fig12",
            "1 Mbps behind queues of 1 to 10 KB, 10 fps, whose frames of 10 KB fill the bursts of Figure 12 (the paper: GCC's mode at 2 \
             KB, bursts that grow with the queue)",
            "2 KB hold the shortest burst, four packets of 500 bytes, so GCC is not needed; with `burst_length.min` 4 KB it takes \
             over, at 16 % less bitrate and more stalls",
        )
        .setup(large_frames()),
        fixed_bursts(
            "camel-fig13",
            "the queues of Figure 12, 10 fps, bursts of Camel's own length against bursts of 20 KB; with bursts shortened at 2 % of loss \
             instead of 10 %; and with bins of burst sizes",
            "At 2 KB Camel keeps bursts of four small packets where the paper falls back to GCC, and gains more than the paper's",
        )
        .setup(large_frames()),
        fixed_bursts(
            "camel-fig13-30fps",
            "Figure 13 at 30 fps, where frames have 4 KB",
            "Frames of 4 KB lose little behind 2 KB even in one burst, so there is less to gain in bitrate, and nearly no stall is left",
        ),
        figure(
            "camel-fig14",
            "three to five senders of a kind on 1 Mbps, another each 10 s (the paper: fair shares, delay converges)",
            100,
            known(&["gcc", "camel"]),
            [3, 4, 5].map(of_a_kind).to_vec(),
        )
        .reading(&[Reading::Jain, Reading::JainBySecond, Reading::Share]),
        figure(
            "camel-fig15",
            "1 Mbps, datagrams at 400 kbps from 30 to 60 s (the paper: Camel shares, one-way delay stable; the rate of its datagrams \
             is not printed)",
            90,
            known(&ALL),
            vec![shared("datagrams", datagrams)],
        )
        .reading(&[
            within("delivered_35_60_bps", Windowed::Delivered, 35.0, 60.0),
            within("delivered_65_90_bps", Windowed::Delivered, 65.0, 90.0),
            within("one_way_10_30_ms", Windowed::OneWayDelay, 10.0, 30.0),
            within("one_way_35_60_ms", Windowed::OneWayDelay, 35.0, 60.0),
        ]),
        figure(
            "camel-fig16",
            "1 Mbps, a sender with GCC from 30 to 60 s (the paper: neither starves, read as a quarter to three quarters)",
            90,
            known(&ALL),
            vec![shared("gcc", gcc)],
        )
        .reading(&[
            Reading::Share,
            Reading::Jain,
            within("delivered_65_90_bps", Windowed::Delivered, 65.0, 90.0),
        ]),
        figure(
            "camel-fig17",
            "1 Mbps beside TCP Cubic behind 500 KB and 100 KB (the paper: Camel at a minimal rate, read as a tenth; a roughly equal \
             split, read as within a fifth)",
            90,
            known(&ALL),
            [500, 100].map(cubic).to_vec(),
        )
        .because(
            "A burst stays together in the queue and measures the whole link, and ten seconds of Cubic's queue become min(D), so \
             Camel does not yield",
        )
        .reading(&[Reading::Share, Reading::Jain, Reading::JainBySecond]),
        jitter(),
        figure(
            "camel-fig19",
            "1 Mbps, up to half of all packets lost at random before the queue, and behind the link in the last row (the paper does \
             not say where); everybody repairs as Camel does and has per-packet feedback",
            90,
            alike_but_for_the_controller(&["camel", "gcc", "copa", "bbr", "sqp", "pudica"]),
            lossy(),
        )
        .because("The order holds; SQP here aims below what its bursts measure, Pudica overshoots more than the paper's"),
        shallow_queues(
            "camel-fig20",
            "1 Mbps behind queues of 1 to 10 KB (the paper: at 2 KB SQP, Pudica and Copa overshoot and stall, BBR and GCC do well, Camel \
             is as good in GCC's mode; SQP works above 4 KB, Pudica above 6 KB)",
            "2 KB hold Camel's shortest burst, so GCC is not needed; SQP here aims below what its bursts measure, so its estimate is \
             low",
        ),
    ]
}

/// Figures 3(b), 4 and 5. Theirs are measurements of a platform; these are runs.
fn estimates_by_etr() -> Figure {
    let links = ["100", "80", "60", "40", "20"].map(|percent| {
        let ratio = percent.parse::<f64>().unwrap_or_else(|error| panic!("{error}")) / 100.0;
        rate(format!("{percent} %"), "2Mbps/1Mbps@30s").undershot(undershoot(&ratio.to_string()))
    });
    figure(
        "camel-fig3",
        "720p over 2 and 1 Mbps in turn, 30 s each, by the encoder's share of its target: mean and deviation of the estimate, lines \
         and stalls (the paper's Figures 3b, 4 and 5 are measurements of the platform's BBR: with a lower share a lower mean and \
         more variance of the estimate, fewer videos of 720p, more stalls)",
        150,
        known(&ALL),
        links.to_vec(),
    )
    .setup(Setup { size: Some(Size::HD), ..setup(150) })
    .reading(&[
        within("estimate_deviation", Windowed::Deviation, 0.0, f64::INFINITY),
        Reading::MeanLines,
        Reading::PaddingBitrate,
    ])
}

/// Figure 9.
fn undershooting() -> Figure {
    figure(
        "camel-fig9",
        "1 Mbps, an encoder that makes less than it is asked for, drawn anew each 12 s as on iOS and Android (the paper: no stalls; \
         Camel above all but Copa, which has much delay; BBR believes too little; Pudica swings)",
        150,
        known(&UNDERSHOOTING),
        vec![megabit("iOS").undershot(undershoot("ios")), megabit("Android").undershot(undershoot("android"))],
    )
    .because("Today's GCC probes while the encoder undershoots and is hardly hurt; Figure 3(a)'s shares are not printed")
    .reading(&[Reading::PaddingBitrate])
}

/// Figure 18.
fn jitter() -> Figure {
    figure(
        "camel-fig18",
        "1 Mbps, jitter of up to 100 ms: the same for the packets of a burst, before the queue, or of each packet alone, behind the \
         link, order kept (the paper does not say which, nor how much: Camel up to 94.9 % more bitrate than GCC; BBR, SQP and \
         Pudica stall, Copa too, at more bitrate)",
        90,
        known(&ALL),
        jittery(),
    )
    .because("Jitter hurts today's GCC little; Camel keeps 95 % of its bitrate without jitter")
}

/// Queues of Figures 12 and 13, in KB.
const SHALLOW: [u64; 6] = [1, 2, 4, 6, 8, 10];

/// A link of 1 Mbps with a queue of this many KB.
fn kilobytes(kilobytes: u64) -> Link {
    megabit(format!("{kilobytes} KB")).queue(Bytes::new(kilobytes * KILOBYTE))
}

/// Figures 12 and 20.
fn shallow_queues(name: &'static str, about: &'static str, because: &'static str) -> Figure {
    let schemes = known(&["gcc", "copa", "bbr", "sqp", "pudica", "camel:paper", "camel"]);
    figure(name, about, 90, schemes, SHALLOW.map(kilobytes).to_vec())
        .because(because)
        .reading(&[Reading::BurstLength, Reading::InGcc])
}

/// Figure 13.
fn fixed_bursts(name: &'static str, about: &'static str, because: &'static str) -> Figure {
    let schemes = known(&["camel:fixed-burst", "camel", "camel:careful", "camel:burst-sizes"]);
    figure(name, about, 90, schemes, SHALLOW.map(kilobytes).to_vec())
        .because(because)
        .reading(&[Reading::BurstLength, Reading::InGcc])
}

/// 10 fps: frames of 10 KB. At 30 fps frames have 4 KB at a megabit and are too small for bursts of the lengths that
/// the paper shows (12 KB and 20 KB).
fn large_frames() -> Setup {
    Setup { frame_rate: Some(10), ..setup(90) }
}

/// Interval between senders' start times: 10 s plus a third of a picture interval, because cameras are not in phase.
/// Otherwise senders in phase would meet each other's bursts in the same order at every picture, and the one whose
/// burst comes first would see the shortest queue and keep a larger share.
const APART: Span = Span::from_millis(10_011);

fn of_a_kind(senders: u32) -> Link {
    megabit(format!("{senders} senders")).shared_with(Other::Alike { count: senders - 1, every: APART })
}

fn jittery() -> Vec<Link> {
    let delay = |jitter| HopConfig::Delay { delay: Span::ZERO.into(), jitter, reorders: false };
    let by_burst = |millis: i64| {
        let jitter = Jitter::UniformByBurst { max: Span::from_millis(millis), gap: Span::from_millis(1) };
        Link { before: vec![delay(jitter)], ..megabit(format!("{millis} ms by burst")) }
    };
    let by_packet = |millis: i64| {
        let jitter = Jitter::Uniform { max: Span::from_millis(millis) };
        Link { behind: vec![delay(jitter)], ..megabit(format!("{millis} ms by packet")) }
    };
    let some = [10, 20, 30, 50, 100];
    [megabit("0 ms")].into_iter().chain(some.map(by_burst)).chain(some.map(by_packet)).collect()
}

fn lossy() -> Vec<Link> {
    let model = |percent: u32| LossModel::Random { probability: f64::from(percent) / 100.0 };
    let before = |percent: u32| megabit(format!("{percent} %")).losing(model(percent));
    let behind = Link { behind: vec![HopConfig::Loss(model(50))], ..megabit("50 % behind") };
    [megabit("0 %")].into_iter().chain([10, 20, 30, 40, 50].map(before)).chain([behind]).collect()
}

/// The same FEC, retransmissions and reports for all schemes, so that the controllers' reactions to them are compared:
/// with per-packet feedback SQP stalls for 46 % of the time where half of the packets are lost, with feedback every 62
/// ms for 70 %.
fn alike_but_for_the_controller(names: &[&str]) -> Vec<Scheme> {
    let repair = known(&["camel"]).pop().and_then(|camel| camel.repair);
    let feedback = FeedbackStyle::PerPacket;
    known(names).into_iter().map(|scheme| Scheme { repair, feedback, ..scheme }).collect()
}
