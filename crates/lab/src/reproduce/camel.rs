//! The experiments of Camel (WWW 2026, arXiv 2602.09500; specs/camel.md 8).
//!
//! 30 fps at 360p, 25 ms one way, a drop-tail queue of 100 KB unless the figure has another, and an encoder model (the
//! paper does not print frame rate, delay or queue for most tests: specs/camel.md's choice). The paper's printed
//! numbers for a figure are shown beside ours; where it only describes which scheme does what, the figure's description
//! quotes that.

use thalweg_link::{DatagramsConfig, HopConfig, Jitter, LossModel, TcpConfig};
use thalweg_sender::scheme::FramesConfig;
use thalweg_sender::{FeedbackStyle, Scheme};
use thalweg_units::{Bytes, Rate, Size, Span};

use super::vidaptive::known;
use super::{
    Encoder, Experiment, Figure, Folder, Link, Links, Origin, Other, Published, Reading, Setup, Signals, Windowed,
};
use crate::Undershoot;
use crate::scenario::{Competitor, Sender};

const KILOBYTE: u64 = 1024;
/// The link's queue, unless the figure has another (specs/camel.md 8).
const QUEUE: Bytes = Bytes::new(100 * KILOBYTE);
/// Max bitrate of the paper's encoder: no bitrate of Table 1 exceeds 2060 kbps (specs/camel.md C5).
const TABLE_1_MAX: Rate = Rate::from_kbps(2100);
/// All schemes that the figures compare.
const ALL: [&str; 6] = ["gcc", "copa", "bbr", "sqp", "pudica", "camel"];

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

fn figure(name: &'static str, about: &'static str, seconds: i64, schemes: Vec<Scheme>, links: Vec<Link>) -> Figure {
    let experiment = Experiment::Runs { schemes, links: Links::Listed(links), readings: readings(&[]) };
    let setup = setup(seconds);
    Figure { name, about, experiment, setup, published: vec![], theirs: vec![], scattered: false }
}

impl Figure {
    fn frame_rate(mut self, pictures: u32) -> Figure {
        self.setup.frame_rate = Some(pictures);
        self
    }

    fn reading(mut self, more: &[Reading]) -> Figure {
        if let Experiment::Runs { readings: of, .. } = &mut self.experiment {
            *of = readings(more);
        }
        self
    }
}

/// The readings of every run, plus those specific to a figure.
fn readings(more: &[Reading]) -> Vec<Reading> {
    use Reading::*;
    let always = [VideoBitrate, EstimateAccuracy, EstimateBias, OneWayDelay, LatencyMean, LatencyP95, Stalls];
    always.into_iter().chain(more.iter().copied()).collect()
}

const fn within(key: &'static str, of: Windowed, from: f64, until: f64) -> Reading {
    Reading::Within { key, of, from, until }
}

const fn printed(link: &'static str, scheme: &'static str, key: &'static str, value: f64) -> Published {
    Published {
        link: Some(link),
        scheme,
        key,
        value,
        sigma: None,
        source: "arXiv 2602.09500, as quoted in specs/camel.md 8",
    }
}

pub(super) fn figures() -> Vec<Figure> {
    vec![
        signals(),
        undershooting(),
        sudden_undershooting(),
        changing_link(),
        recorded_links(),
        shallow_queues(),
        fixed_bursts(),
        alike(),
        beside_datagrams(),
        beside_gcc(),
        beside_cubic(),
        jitter(),
        losses(),
    ]
}

fn signals() -> Figure {
    Figure {
        name: "camel-fig7",
        about: "which signal tells congestion on a synthetic queue of 2 Mbps and 25 ms: accuracy under jitter (the paper: the gradient \
                clearly most accurate; the other two err after the queue was built)",
        experiment: Experiment::Signals(Signals { jitters: [0, 2, 5, 20, 50].map(Span::from_millis).to_vec() }),
        setup: setup(115),
        published: vec![],
        theirs: vec![],
        scattered: false,
    }
}

fn undershooting() -> Figure {
    let about = "1 Mbps, an encoder that makes less than it is asked for, drawn anew each 12 s as on iOS and Android (the paper: no \
                 stalls; Copa more bitrate and much delay; BBR believes too little; Pudica swings)";
    let links = vec![megabit("iOS").undershot(undershoot("ios")), megabit("Android").undershot(undershoot("android"))];
    let published = vec![
        printed("iOS", "camel", "video_bitrate_ratio", 1.198),
        printed("Android", "camel", "video_bitrate_ratio", 1.047),
    ];
    Figure { published, ..figure("camel-fig9", about, 150, known(&ALL), links) }
}

fn sudden_undershooting() -> Figure {
    let about = "1 Mbps, the encoder at 60 % of its target from 30 to 60 s (the paper: only SQP, Pudica and Camel hold; BBR believes too \
                 little, GCC and Copa too much)";
    let links = vec![megabit("60 %").undershot(undershoot("0.6@30s-60s"))];
    let published = vec![
        printed("60 %", "camel", "estimate_accuracy", 0.989),
        printed("60 %", "camel", "estimate_accuracy_gain", 0.2391),
    ];
    Figure { published, ..figure("camel-fig10", about, 90, known(&ALL), links) }.reading(&[within(
        "accuracy_30_60",
        Windowed::Accuracy,
        30.0,
        60.0,
    )])
}

fn changing_link() -> Figure {
    let about = "2, 1 and 2 Mbps, 30 s each, the encoder at 60 %: seconds until the estimate is within a tenth of what there is and stays \
                 (the paper: Camel, SQP and Pudica follow; BBR stays low; GCC and Copa believe too much)";
    let links = vec![rate("2/1/2 Mbps", "2Mbps/1Mbps@30s").undershot(undershoot("0.6"))];
    figure("camel-fig11", about, 90, known(&ALL), links).reading(&[
        within("settles_down_s", Windowed::SettlingTime, 30.0, 60.0),
        within("settles_up_s", Windowed::SettlingTime, 60.0, 90.0),
    ])
}

/// Schemes with the max encoder rate of Table 1. Salsify has no rate-targeted encoder, so only its frame sizes limit
/// its rate.
fn bounded(names: &[&str]) -> Vec<Scheme> {
    let bound = |mut scheme: Scheme| {
        if let FramesConfig::RateTargeted(frames) = &mut scheme.frames {
            frames.encoder.max = TABLE_1_MAX;
        }
        scheme
    };
    known(names).into_iter().map(bound).collect()
}

/// Table 1's links: names, files, and substitutes if those are absent.
const TABLE_1_LINKS: [(&str, &str, &str); 4] = [
    ("4G walking 50167", "4g_trace_walking_50167_a", "lte-walking"),
    ("4G driving 50187", "4g_trace_driving_50187_dr", "lte-driving"),
    ("5G 90", "5g_trace_90_walking", "5g-mmwave"),
    ("5G 109", "5g_trace_109_driving", "5g-mmwave"),
];

/// kbps, ms, percent of the time in stalls.
type Printed = (f64, Option<f64>, f64);

/// Table 1, over each link; the paper has no delay for Salsify.
const TABLE_1: [(&str, [Printed; 4]); 7] = [
    (
        "camel",
        [
            (1606.61, Some(1014.57), 6.35),
            (2010.09, Some(183.69), 0.30),
            (2030.23, Some(135.34), 1.42),
            (1981.05, Some(546.51), 4.99),
        ],
    ),
    (
        "copa",
        [
            (1697.66, Some(997.89), 6.78),
            (2035.74, Some(268.16), 0.00),
            (2042.70, Some(185.39), 1.36),
            (2052.34, Some(652.03), 5.05),
        ],
    ),
    (
        "bbr",
        [
            (1668.18, Some(1167.29), 10.92),
            (2014.49, Some(195.75), 0.29),
            (2028.53, Some(213.41), 1.34),
            (2042.48, Some(687.53), 4.84),
        ],
    ),
    (
        "gcc",
        [
            (1054.97, Some(704.40), 6.05),
            (1624.72, Some(139.36), 1.02),
            (2037.92, Some(153.65), 1.41),
            (1958.70, Some(606.71), 5.40),
        ],
    ),
    (
        "sqp",
        [
            (1419.80, Some(914.53), 9.72),
            (1954.26, Some(188.76), 2.41),
            (1979.38, Some(187.53), 2.67),
            (1860.21, Some(634.29), 8.61),
        ],
    ),
    (
        "pudica",
        [
            (1535.89, Some(1037.90), 7.73),
            (1930.93, Some(275.97), 1.20),
            (1946.38, Some(231.36), 3.65),
            (1884.94, Some(603.07), 9.03),
        ],
    ),
    ("salsify-2c", [(1504.33, None, 12.69), (2041.93, None, 2.03), (2059.46, None, 1.56), (2025.78, None, 9.59)]),
];

fn recorded_links() -> Figure {
    let about = "four recorded links by the second, an encoder of at most 2.1 Mbps; the links are Lumos5G's files of these numbers where \
                 they are here (5G 109 is of a car there, of a walk in the paper), otherwise synthetic";
    let link = |(name, file, instead): &(&'static str, &'static str, &'static str)| {
        Link::new(*name, Origin::File { folder: Folder::Lumos5g, file, instead }).queue(QUEUE)
    };
    let published = TABLE_1.iter().flat_map(|(scheme, values)| {
        TABLE_1_LINKS.iter().zip(values).flat_map(|((link, ..), (kbps, delay, stalls))| {
            let delay = delay.map(|ms| printed(link, scheme, "latency_mean_ms", ms));
            [
                printed(link, scheme, "video_bitrate_bps", kbps * 1e3),
                printed(link, scheme, "stall_ratio", stalls / 100.0),
            ]
            .into_iter()
            .chain(delay)
        })
    });
    let schemes = bounded(&["gcc", "copa", "bbr", "sqp", "pudica", "salsify-2c", "camel"]);
    let links = TABLE_1_LINKS.iter().map(link).collect();
    let mut figure = Figure { published: published.collect(), ..figure("camel-table1", about, 250, schemes, links) };
    if let Experiment::Runs { readings, .. } = &mut figure.experiment {
        // Estimates do not exceed what the encoder could use, and these links have far more.
        readings.retain(|reading| !matches!(reading, Reading::EstimateAccuracy | Reading::EstimateBias));
    }
    figure
}

/// 10 fps: frames of 10 KB. At 30 fps frames have 4 KB at a megabit and are too small for bursts of the lengths that
/// the paper shows (12 KB and 20 KB).
const LARGE_FRAMES: u32 = 10;

/// A link of 1 Mbps with shallow queues.
fn shallow() -> Vec<Link> {
    let of = |kilobytes: u64| megabit(format!("{kilobytes} KB")).queue(Bytes::new(kilobytes * KILOBYTE));
    [1, 2, 4, 6, 8, 10].map(of).to_vec()
}

fn shallow_queues() -> Figure {
    let about = "1 Mbps behind queues of 1 to 10 KB, 10 fps (the paper's Figures 12 and 20: Camel in GCC's mode at 2 KB, bursts that grow with the \
                 queue to more than 12 KB at 10 KB; SQP works above 4 KB, Pudica above 6 KB)";
    let schemes = known(&["gcc", "sqp", "pudica", "camel:paper", "camel"]);
    figure("camel-fig12", about, 90, schemes, shallow())
        .frame_rate(LARGE_FRAMES)
        .reading(&[Reading::BurstLength, Reading::InGcc])
}

fn fixed_bursts() -> Figure {
    let about = "the same queues, bursts of Camel's own length against bursts of 20 KB; and with bursts shortened at 2 % of loss instead of 10 %";
    let published =
        vec![printed("2 KB", "camel", "video_bitrate_ratio", 1.79), printed("2 KB", "camel", "stall_times", 0.33)];
    Figure {
        published,
        ..figure("camel-fig13", about, 90, known(&["camel:fixed-burst", "camel", "camel:careful"]), shallow())
    }
    .frame_rate(LARGE_FRAMES)
    .reading(&[Reading::BurstLength, Reading::InGcc])
}

/// Interval between senders' start times: 10 s plus a third of a picture interval, because cameras are not in phase.
/// Otherwise senders in phase would meet each other's bursts in the same order at every picture, and the one whose
/// burst comes first would see the shortest queue and keep a larger share.
const APART: Span = Span::from_millis(10_011);

fn alike() -> Figure {
    let about = "three to five senders of a kind on 1 Mbps, another each 10 s (the paper: Jain's index near 1, delay converges)";
    let of = |senders: u32| {
        let more = Other::Alike { count: senders - 1, every: APART };
        megabit(format!("{senders} senders")).shared_with(more)
    };
    figure("camel-fig14", about, 100, known(&["gcc", "camel"]), [3, 4, 5].map(of).to_vec()).reading(&[
        Reading::Jain,
        Reading::JainBySecond,
        Reading::Share,
    ])
}

fn beside_datagrams() -> Figure {
    let about =
        "1 Mbps, datagrams at 400 kbps from 30 to 60 s (the paper: Camel yields to about 600 kbps, one-way delay flat)";
    let datagrams =
        DatagramsConfig { from: Span::from_secs(30), until: Some(Span::from_secs(60)), ..DatagramsConfig::default() };
    let links = vec![megabit("datagrams").shared_with(Other::Competitor(Competitor::Datagrams(datagrams)))];
    figure("camel-fig15", about, 90, known(&ALL), links).reading(&[
        within("delivered_35_60_bps", Windowed::Delivered, 35.0, 60.0),
        within("delivered_65_90_bps", Windowed::Delivered, 65.0, 90.0),
        within("one_way_10_30_ms", Windowed::OneWayDelay, 10.0, 30.0),
        within("one_way_35_60_ms", Windowed::OneWayDelay, 35.0, 60.0),
    ])
}

fn beside_gcc() -> Figure {
    let about = "1 Mbps, a sender with GCC from 30 to 60 s (the paper: neither starves)";
    let other =
        Sender { scheme: "gcc".into(), video: None, from: Span::from_secs(30), until: Some(Span::from_secs(60)) };
    let links = vec![megabit("gcc").shared_with(Other::Competitor(Competitor::Sender(other)))];
    figure("camel-fig16", about, 90, known(&ALL), links).reading(&[
        Reading::Share,
        Reading::Jain,
        within("delivered_65_90_bps", Windowed::Delivered, 65.0, 90.0),
    ])
}

fn beside_cubic() -> Figure {
    let about = "1 Mbps beside TCP Cubic behind 500 KB and 100 KB (the paper: Camel at its minimum in the first, an even split in the \
                 second)";
    let of = |kilobytes: u64| {
        let cubic = Other::Competitor(Competitor::Tcp(TcpConfig::default()));
        megabit(format!("{kilobytes} KB")).queue(Bytes::new(kilobytes * KILOBYTE)).shared_with(cubic)
    };
    figure("camel-fig17", about, 90, known(&ALL), [500, 100].map(of).to_vec()).reading(&[
        Reading::Share,
        Reading::Jain,
        Reading::JainBySecond,
    ])
}

fn jitter() -> Figure {
    let about = "1 Mbps, jitter of up to 100 ms: the same for the packets of a burst, before the queue, or of each packet alone, behind \
                 the link, order kept (the paper does not say which: Camel up to 94.9 % more bitrate than GCC; BBR, SQP and Pudica \
                 stall)";
    let delay = |jitter| HopConfig::Delay { delay: Span::ZERO, jitter, reorders: false };
    let by_burst = |millis: i64| {
        let jitter = Jitter::UniformByBurst { max: Span::from_millis(millis), gap: Span::from_millis(1) };
        Link { before: vec![delay(jitter)], ..megabit(format!("{millis} ms by burst")) }
    };
    let by_packet = |millis: i64| {
        let jitter = Jitter::Uniform { max: Span::from_millis(millis) };
        Link { behind: vec![delay(jitter)], ..megabit(format!("{millis} ms by packet")) }
    };
    let some = [10, 20, 30, 50, 100];
    let links = [megabit("0 ms")].into_iter().chain(some.map(by_burst)).chain(some.map(by_packet)).collect();
    figure("camel-fig18", about, 90, known(&["gcc", "bbr", "sqp", "pudica", "camel"]), links)
}

/// The same FEC, retransmissions and reports for all schemes, so that the controllers' reactions to them are compared:
/// with per-packet feedback SQP stalls for 46 % of the time where half of the packets are lost, with feedback every 62
/// ms for 70 %.
fn alike_but_for_the_controller(names: &[&str]) -> Vec<Scheme> {
    let repair = known(&["camel"]).pop().and_then(|camel| camel.repair);
    let feedback = FeedbackStyle::PerPacket;
    known(names).into_iter().map(|scheme| Scheme { repair, feedback, ..scheme }).collect()
}

fn losses() -> Figure {
    let about = "1 Mbps, up to half of all packets lost at random before the queue, and behind the link in the last row (the paper does \
                 not say where); everybody repairs as Camel does and has per-packet feedback";
    let model = |percent: u32| LossModel::Random { probability: f64::from(percent) / 100.0 };
    let before = |percent: u32| megabit(format!("{percent} %")).losing(model(percent));
    let behind = Link { behind: vec![HopConfig::Loss(model(50))], ..megabit("50 % behind") };
    let links = [megabit("0 %")].into_iter().chain([10, 20, 30, 40, 50].map(before)).chain([behind]).collect();
    let published = vec![printed("50 %", "sqp", "stall_gain", 0.0453), printed("50 %", "pudica", "stall_gain", 0.0262)];
    Figure {
        published,
        ..figure("camel-fig19", about, 90, alike_but_for_the_controller(&["camel", "gcc", "sqp", "pudica"]), links)
    }
}
