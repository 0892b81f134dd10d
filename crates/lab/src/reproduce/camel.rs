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

use super::figure::known;
use super::{Encoder, Experiment, Figure, Folder, Link, Origin, Other, Published, Reading, Setup, Signals, Windowed};
use crate::Undershoot;
use crate::scenario::{Competitor, Sender};

const KILOBYTE: u64 = 1024;
/// The link's queue, unless the figure has another (specs/camel.md 8).
const QUEUE: Bytes = Bytes::new(100 * KILOBYTE);
/// Max bitrate of the paper's encoder: no bitrate of Table 1 exceeds 2060 kbps (specs/camel.md C5). Headers, repair and
/// headroom come on top, for which the controllers may use more.
const TABLE_1_MAX: Rate = Rate::from_kbps(2100);
const TABLE_1_DEMAND: Rate = Rate::from_kbps(2400);
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

const fn printed(link: &'static str, scheme: &'static str, key: &'static str, value: f64) -> Published {
    Published::new(Some(link), scheme, key, value, "arXiv 2602.09500, as quoted in specs/camel.md 8")
}

pub(super) fn figures() -> Vec<Figure> {
    let kilobytes = |kilobytes: u64| megabit(format!("{kilobytes} KB")).queue(Bytes::new(kilobytes * KILOBYTE));
    let shared = |name: &str, competitor| megabit(name).shared_with(Other::Competitor(competitor));
    let cubic = |queue| kilobytes(queue).shared_with(Other::Competitor(Competitor::Tcp(TcpConfig::default())));
    let (from, until) = (Span::from_secs(30), Some(Span::from_secs(60)));
    let datagrams = Competitor::Datagrams(DatagramsConfig { from, until, ..DatagramsConfig::default() });
    let gcc = Competitor::Sender(Sender { scheme: "gcc".into(), video: None, from, until });
    vec![
        Figure::new(
            "camel-fig7",
            "which signal tells congestion on a synthetic queue of 2 Mbps and 25 ms: accuracy under jitter (the paper: the gradient \
             clearly most accurate; the other two err after the queue was built)",
            Experiment::Signals(Signals { jitters: [0, 2, 5, 20, 50].map(Span::from_millis).to_vec() }),
        )
        .setup(setup(115)),
        figure(
            "camel-fig9",
            "1 Mbps, an encoder that makes less than it is asked for, drawn anew each 12 s as on iOS and Android (the paper: no \
             stalls; Copa more bitrate and much delay; BBR believes too little; Pudica swings)",
            150,
            known(&UNDERSHOOTING),
            vec![megabit("iOS").undershot(undershoot("ios")), megabit("Android").undershot(undershoot("android"))],
        )
        .published([
            printed("iOS", "camel", "video_bitrate_ratio", 1.198),
            printed("Android", "camel", "video_bitrate_ratio", 1.047),
            printed("iOS", "camel:no-headroom", "video_bitrate_ratio", 1.198),
            printed("Android", "camel:no-headroom", "video_bitrate_ratio", 1.047),
        ])
        .reading(&[Reading::PaddingBitrate]),
        figure(
            "camel-fig10",
            "1 Mbps, the encoder at 60 % of its target from 30 to 60 s (the paper: only SQP, Pudica and Camel hold; BBR believes too \
             little, GCC and Copa too much)",
            90,
            known(&UNDERSHOOTING),
            vec![megabit("60 %").undershot(undershoot("0.6@30s-60s"))],
        )
        .published([
            printed("60 %", "camel", "estimate_accuracy", 0.989),
            printed("60 %", "camel", "estimate_accuracy_gain", 0.2391),
        ])
        .reading(&[within("accuracy_30_60", Windowed::Accuracy, 30.0, 60.0)]),
        figure(
            "camel-fig11",
            "2, 1 and 2 Mbps, 30 s each, the encoder at 60 %: seconds until the estimate is within a tenth of what there is and stays \
             (the paper: Camel, SQP and Pudica follow; BBR stays low; GCC and Copa believe too much)",
            90,
            known(&UNDERSHOOTING),
            vec![rate("2/1/2 Mbps", "2Mbps/1Mbps@30s").undershot(undershoot("0.6"))],
        )
        .reading(&[
            within("settles_down_s", Windowed::SettlingTime, 30.0, 60.0),
            within("settles_up_s", Windowed::SettlingTime, 60.0, 90.0),
        ]),
        recorded_links(),
        figure(
            "camel-fig12",
            "1 Mbps behind queues of 1 to 10 KB, 10 fps (the paper's Figures 12 and 20: Camel in GCC's mode at 2 KB, bursts that grow with the \
             queue to more than 12 KB at 10 KB; at 2 KB SQP, Pudica and Copa overshoot and stall, BBR and GCC do well; SQP works \
             above 4 KB, Pudica above 6 KB)",
            90,
            known(&SHALLOW_QUEUES),
            SHALLOW.map(kilobytes).to_vec(),
        )
        .setup(large_frames())
        .reading(&[Reading::BurstLength, Reading::InGcc]),
        figure("camel-fig20", "the same at 30 fps", 90, known(&SHALLOW_QUEUES), SHALLOW.map(kilobytes).to_vec())
            .reading(&[Reading::BurstLength, Reading::InGcc]),
        fixed_bursts(
            "camel-fig13",
            "the same queues, 10 fps, bursts of Camel's own length against bursts of 20 KB; and with bursts shortened at 2 % of loss instead \
             of 10 %, and with bins of burst sizes",
        )
        .setup(large_frames()),
        fixed_bursts("camel-fig13-30fps", "the same at 30 fps"),
        figure(
            "camel-fig14",
            "three to five senders of a kind on 1 Mbps, another each 10 s (the paper: Jain's index near 1, delay converges)",
            100,
            known(&["gcc", "camel"]),
            [3, 4, 5].map(of_a_kind).to_vec(),
        )
        .reading(&[Reading::Jain, Reading::JainBySecond, Reading::Share]),
        figure(
            "camel-fig15",
            "1 Mbps, datagrams at 400 kbps from 30 to 60 s (the paper: Camel yields to about 600 kbps, one-way delay flat)",
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
            "1 Mbps, a sender with GCC from 30 to 60 s (the paper: neither starves)",
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
            "1 Mbps beside TCP Cubic behind 500 KB and 100 KB (the paper: Camel at its minimum in the first, an even split in the \
             second)",
            90,
            known(&ALL),
            [500, 100].map(cubic).to_vec(),
        )
        .reading(&[Reading::Share, Reading::Jain, Reading::JainBySecond]),
        figure(
            "camel-fig18",
            "1 Mbps, jitter of up to 100 ms: the same for the packets of a burst, before the queue, or of each packet alone, behind \
             the link, order kept (the paper does not say which: Camel up to 94.9 % more bitrate than GCC; BBR, SQP and Pudica \
             stall, Copa too, at more bitrate)",
            90,
            known(&ALL),
            jittery(),
        ),
        figure(
            "camel-fig19",
            "1 Mbps, up to half of all packets lost at random before the queue, and behind the link in the last row (the paper does \
             not say where); everybody repairs as Camel does and has per-packet feedback",
            90,
            alike_but_for_the_controller(&["camel", "gcc", "copa", "bbr", "sqp", "pudica"]),
            lossy(),
        )
        .published([
            printed("50 %", "sqp", "stall_gain", 0.0453),
            printed("50 %", "pudica", "stall_gain", 0.0262),
        ]),
    ]
}

/// Queues of Figures 12 and 13, in KB.
const SHALLOW: [u64; 6] = [1, 2, 4, 6, 8, 10];

/// What Figures 12 and 20 compare.
const SHALLOW_QUEUES: [&str; 7] = ["gcc", "copa", "bbr", "sqp", "pudica", "camel:paper", "camel"];

/// Figure 13.
fn fixed_bursts(name: &'static str, about: &'static str) -> Figure {
    let queues = SHALLOW.map(|kilobytes| megabit(format!("{kilobytes} KB")).queue(Bytes::new(kilobytes * KILOBYTE)));
    let schemes = known(&["camel:fixed-burst", "camel", "camel:careful", "camel:burst-sizes"]);
    figure(name, about, 90, schemes, queues.to_vec())
        .published([
            printed("2 KB", "camel", "video_bitrate_ratio", 1.79),
            printed("2 KB", "camel", "stall_times", 0.33),
        ])
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

/// Schemes with the max encoder rate of Table 1. Salsify has no rate-targeted encoder, so only its frame sizes limit
/// its rate.
fn bounded(names: &[&str]) -> Vec<Scheme> {
    let bound = |mut scheme: Scheme| {
        if let FramesConfig::RateTargeted(frames) = &mut scheme.frames {
            frames.encoder.max = TABLE_1_MAX;
            frames.encoder.demand = Some(TABLE_1_DEMAND);
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

/// Table 1 over its links: kbps, ms (not for Salsify), percent of the time in stalls.
type Table1Row = (&'static str, [f64; 4], Option<[f64; 4]>, [f64; 4]);
const TABLE_1: [Table1Row; 7] = [
    ("camel", [1606.61, 2010.09, 2030.23, 1981.05], Some([1014.57, 183.69, 135.34, 546.51]), [6.35, 0.30, 1.42, 4.99]),
    ("copa", [1697.66, 2035.74, 2042.70, 2052.34], Some([997.89, 268.16, 185.39, 652.03]), [6.78, 0.00, 1.36, 5.05]),
    ("bbr", [1668.18, 2014.49, 2028.53, 2042.48], Some([1167.29, 195.75, 213.41, 687.53]), [10.92, 0.29, 1.34, 4.84]),
    ("gcc", [1054.97, 1624.72, 2037.92, 1958.70], Some([704.40, 139.36, 153.65, 606.71]), [6.05, 1.02, 1.41, 5.40]),
    ("sqp", [1419.80, 1954.26, 1979.38, 1860.21], Some([914.53, 188.76, 187.53, 634.29]), [9.72, 2.41, 2.67, 8.61]),
    ("pudica", [1535.89, 1930.93, 1946.38, 1884.94], Some([1037.90, 275.97, 231.36, 603.07]), [7.73, 1.20, 3.65, 9.03]),
    ("salsify-2c", [1504.33, 2041.93, 2059.46, 2025.78], None, [12.69, 2.03, 1.56, 9.59]),
];

fn recorded_links() -> Figure {
    let about = "four recorded links by the second, an encoder of at most 2.1 Mbps; the links are Lumos5G's files of these numbers where \
                 they are here (5G 109 is of a car there, of a walk in the paper), otherwise synthetic";
    let link =
        |(name, file, instead)| Link::new(name, Origin::File { folder: Folder::Lumos5g, file, instead }).queue(QUEUE);
    let schemes = bounded(&["gcc", "copa", "bbr", "sqp", "pudica", "salsify-2c", "camel"]);
    let mut figure = figure("camel-table1", about, 250, schemes, TABLE_1_LINKS.map(link).to_vec());
    for (scheme, kbps, delay_ms, stalls_percent) in TABLE_1 {
        for (index, (link, ..)) in TABLE_1_LINKS.into_iter().enumerate() {
            figure = figure
                .published([
                    printed(link, scheme, "video_bitrate_bps", kbps[index] * 1e3),
                    printed(link, scheme, "stall_ratio", stalls_percent[index] / 100.0),
                ])
                .published(delay_ms.map(|ms| printed(link, scheme, "latency_mean_ms", ms[index])));
        }
    }
    if let Experiment::Runs { readings, .. } = &mut figure.experiment {
        // Estimates do not exceed what the encoder could use, and these links have far more.
        readings.retain(|reading| !matches!(reading, Reading::EstimateAccuracy | Reading::EstimateBias));
    }
    figure
}
