//! The figures of Vidaptive (Karimi et al., arXiv 2309.16869), with its numbers and its statistics: ratios and
//! differences are taken link by link and averaged, percentiles pool the frames of all links (its section 5.2).
//!
//! Figure 4 is a drawing of the design, Figure 5 a worked example (tests of `sender/src/frames/headroom.rs`). Table 1
//! lists the authors' videos: docs/papers/vidaptive.md has ours beside them.

use thalweg_netsim::Rates;
use thalweg_sender::frames::{rate_targeted, resolution};
use thalweg_sender::scheme::FramesConfig;
use thalweg_sender::{FeedbackStyle, Scheme};
use thalweg_units::{Bytes, Rate, Seed, Size, Span};

use super::Distribution::{Height, Latency, Psnr as PsnrOf, QueueDelay, Utilization as UtilizationOf};
use super::Reading::*;
use super::figure::known;
use super::{Distribution, Encoder, EncoderStep, Experiment, Figure, Link, Links, Origin, Reading, Setup};
use super::{Order, Seconds, Windowed};
use thalweg_lab::playout;

/// Baseline of Vidaptive's authors: WebRTC of 2023.
const BASE: &str = "gcc:2023";
/// The paper's own scheme.
const OURS: &str = "vidaptive";

/// The authors' set-up (section 5.1): two minutes, 25 ms one way, 1080p30, a receiver with WebRTC's jitter buffer. The
/// encoder is a model, because a figure is hundreds of runs.
const SETUP: Setup = Setup {
    size: Some(Size::FULL_HD),
    encoder: Encoder::Model,
    playout: Some(playout::Config { render_delay: Span::from_millis(10), min: Span::ZERO, max: Span::from_secs(10) }),
    ..Setup::USUAL
};

/// Every recorded cellular link: 14 of the authors' 16, Verizon-LTE-driving being absent.
const RECORDED: Links = Links::Recorded("");

const QUALITY: [Reading; 8] =
    [VideoBitrate, PaddingBitrate, Utilization, Psnr, LatencyMedian, LatencyP95, LatencyMean, FrameRate];
/// Quantities of the boxes for each link (Fig. 20 to 27).
const OF_FRAMES: [Distribution; 2] = [PsnrOf, Latency];
const OF_NETWORK: [Distribution; 2] = [UtilizationOf, QueueDelay];

const OVERALL: [&str; 4] = [BASE, "vidaptive", "vidaptive:rocc", "gcc"];
const ABLATIONS: [&str; 5] = [BASE, "copa", "copa+dummy", "copa+dummy+latency", "vidaptive"];

/// A rate-targeted scheme with another name and a changed frame policy.
pub(super) fn variant(of: &str, name: &str, change: impl Fn(&mut rate_targeted::Config)) -> Scheme {
    let mut scheme = Scheme { name: name.into(), ..known(&[of]).remove(0) };
    if let FramesConfig::RateTargeted(frames) = &mut scheme.frames {
        change(frames);
    }
    scheme
}

/// Vidaptive with this lambda.
fn with_lambda(lambda: f64) -> Scheme {
    variant("vidaptive", &format!("lambda {lambda}"), |frames| {
        if let Some(headroom) = &mut frames.headroom {
            headroom.lambda = lambda;
        }
    })
}

/// The base and Vidaptive with each lambda.
fn lambdas() -> Vec<Scheme> {
    [known(&[BASE]), [0.2, 0.5, 0.7, 0.99].map(with_lambda).to_vec()].concat()
}

/// The base and Vidaptive with each pause threshold: of the encoder and of the frame rate's score (Eq. 1).
fn taus() -> Vec<Scheme> {
    let with = |ms: i64| {
        variant("vidaptive", &format!("tau {ms} ms"), |frames| {
            frames.safeguards.pause = Some(Span::from_millis(ms));
            if let Some(headroom) = &mut frames.headroom {
                headroom.pause_threshold = Span::from_millis(ms);
            }
        })
    };
    [known(&[BASE]), [33, 500, 1000].map(with).to_vec()].concat()
}

/// The base and Vidaptive with each interval T: of alpha's samples and of the resolution.
fn intervals() -> Vec<Scheme> {
    let with = |ms: i64| {
        variant("vidaptive", &format!("T {ms} ms"), |frames| {
            if let Some(headroom) = &mut frames.headroom {
                headroom.window = Span::from_millis(ms);
            }
            if let resolution::Config::Ladder(ladder) = &mut frames.resolution {
                ladder.window = Span::from_millis(ms);
            }
        })
    };
    [known(&[BASE]), [100, 1000, 10_000].map(with).to_vec()].concat()
}

/// Copa that always has something to send: dummies around the least video an encoder can be asked for.
fn backlogged() -> Scheme {
    variant("copa+dummy", "copa, backlogged", |frames| {
        // The controller may look for all that a video could use, although none is sent.
        frames.encoder.demand = Some(frames.encoder.max);
        frames.encoder.max = frames.encoder.min;
    })
}

fn with_feedback((name, feedback): (&str, FeedbackStyle)) -> Scheme {
    Scheme { name: name.into(), feedback, ..known(&["vidaptive"]).remove(0) }
}

/// Every scheme over all recorded links, compared link by link with the first.
fn over_links(name: &'static str, about: &'static str, schemes: Vec<Scheme>, of: &[Distribution]) -> Figure {
    Figure::of_runs(name, about, schemes, RECORDED, &QUALITY).setup(SETUP).per_link(of)
}

/// The link of Fig. 1 and 3: 2 Mbps and 500 kbps, 40 s each, behind a queue that drops nothing.
fn square_wave() -> Vec<Link> {
    vec![Link::named("2Mbps/500kbps@40s", "2Mbps/500kbps@40s").queue(Bytes::new(1_500_000))]
}

/// 1.5 Mbps; between 10 and 20 s rates from 0.3 to 2.7 Mbps, drawn every 100 ms.
fn noisy() -> Vec<Link> {
    let mut random = Seed::new(6).child("noise of Fig. 6a").random();
    let mut rate = |tenth: u32| match tenth {
        100..200 => Rate::from_kbps(300 + (2400.0 * random.unit()) as u64),
        _ => Rate::from_kbps(1500),
    };
    let rates = (0..400).map(&mut rate).collect();
    vec![Link::of_rate("1.5 Mbps with noise", in_turn(rates, Span::from_millis(100)))]
}

fn in_turn(rates: Vec<Rate>, each: Span) -> Rates {
    Rates::in_turn(rates, each).unwrap_or_else(|error| panic!("{error}"))
}

/// Vidaptive with what might make it pause less often.
fn with_fewer_pauses() -> Vec<Scheme> {
    let pausing = |name: &str, after_ms: i64| {
        variant("vidaptive", name, |frames| {
            frames.safeguards.pause = Some(Span::from_millis(after_ms));
            frames.safeguards.resume_window = 1.0;
        })
    };
    vec![
        with_lambda(0.99),
        variant("vidaptive", "at most 1.5 Mbps", |frames| frames.encoder.max = Rate::from_kbps(1500)),
        pausing("resume within 33 ms", 33),
        pausing("pause after 100 ms, resume within 33", 100),
    ]
}

/// The recorded links without what happens within a second.
fn by_second() -> Vec<Link> {
    const RECORDINGS: [&str; 14] = [
        "ATT-LTE-driving-2016.down",
        "ATT-LTE-driving-2016.up",
        "ATT-LTE-driving.down",
        "ATT-LTE-driving.up",
        "TMobile-LTE-driving.down",
        "TMobile-LTE-driving.up",
        "TMobile-LTE-short.down",
        "TMobile-LTE-short.up",
        "TMobile-UMTS-driving.down",
        "TMobile-UMTS-driving.up",
        "Verizon-EVDO-driving.down",
        "Verizon-EVDO-driving.up",
        "Verizon-LTE-short.down",
        "Verizon-LTE-short.up",
    ];
    RECORDINGS
        .map(|recording| {
            Link::new(recording, Origin::BySecond { forth: vec![Seconds { recording, mean: None }], back: None })
        })
        .to_vec()
}

/// Some of the recorded links.
fn recorded(names: &[&str]) -> Vec<Link> {
    let link = |name: &&str| {
        let (path, direction) = name.rsplit_once('.').unwrap_or((name, ""));
        let back = format!("{path}.{}", if direction == "up" { "down" } else { "up" });
        Link::new(*name, Origin::Recorded { forth: (*name).into(), back })
    };
    names.iter().map(link).collect()
}

const fn within(key: &'static str, of: Windowed, from: f64, until: f64) -> Reading {
    Within { key, of, from, until }
}

pub(super) fn figures() -> Vec<Figure> {
    let mut figures = motivation();
    figures.extend(overall());
    figures.extend(parts());
    figures.extend(parameters());
    figures.extend(not_in_the_paper());
    figures
}

/// Figures 1 to 6.
fn motivation() -> Vec<Figure> {
    let alpha = |name, about, link, encoder| {
        Figure::of_runs(name, about, known(&["vidaptive"]), link, &[])
            .setup(Setup { size: Some(Size::HD), encoder, ..SETUP })
            .seconds(40)
            .reading(&[
                within("alpha_5_10", Windowed::Alpha, 5.0, 10.0),
                within("alpha_10_20", Windowed::Alpha, 10.0, 20.0),
                within("alpha_30_40", Windowed::Alpha, 30.0, 40.0),
                within("frame_rate_5_10_fps", Windowed::FrameRate, 5.0, 10.0),
                within("frame_rate_10_20_fps", Windowed::FrameRate, 10.0, 20.0),
                within("frame_rate_30_40_fps", Windowed::FrameRate, 30.0, 40.0),
            ])
    };
    vec![
        Figure::of_runs(
            "vidaptive-fig1",
            "GCC, backlogged Copa and Vidaptive on a link that goes from 2 Mbps to 500 kbps at 40 s and back at 80 s",
            [known(&[BASE, "gcc", "vidaptive", "vidaptive:rocc"]), vec![backlogged()]].concat(),
            square_wave(),
            &[WireReaches(80.0, 1.8), VideoReaches(80.0, 0.9, 120.0), WorstLatency(40.0), Recovery(40.0), Utilization],
        )
        .reading(&[within("delivered_105_120_bps", Windowed::Delivered, 105.0, 120.0), LatencyP95, Psnr])
        .setup(SETUP),
        Figure::new(
            "vidaptive-fig2",
            "the encoder alone, its target stepping between 500 kbps and 2 Mbps every 5 s: how long its output lags",
            Experiment::EncoderStep(EncoderStep {
                low: Rate::from_kbps(500),
                high: Rate::from_kbps(2000),
                each: Span::from_secs(5),
            }),
        ),
        Figure::of_runs(
            "vidaptive-fig3",
            "padding of GCC's probes on the link of Fig. 1: sent after the drop at 40 s, of no use for the rise at 80 s",
            known(&[BASE, "gcc"]),
            square_wave(),
            &[
                within("padding_40_80_bps", Windowed::Padding, 40.0, 80.0),
                within("padding_80_90_bps", Windowed::Padding, 80.0, 90.0),
                WireReaches(80.0, 1.8),
            ],
        )
        .setup(SETUP),
        alpha(
            "vidaptive-fig6a",
            "alpha on 1.5 Mbps with ten seconds of noise from 10 s on, all frames as large as asked for",
            noisy(),
            Encoder::EqualFrames,
        ),
        alpha(
            "vidaptive-fig6b",
            "alpha on a constant 1.5 Mbps with a moving video, whose frames vary",
            vec![Link::named("1.5Mbps", "1.5Mbps")],
            Encoder::Model,
        ),
    ]
}

/// Why frame rate and latency of Figures 8 and 9 are missed.
const GAPS: &str =
    "Vidaptive pauses where a link stands still within a second; by whole seconds (vidaptive-by-second) most come out.";

/// Figures 7 to 9, 12 to 14 and 19 to 21: Vidaptive against GCC.
fn overall() -> Vec<Figure> {
    let mut figures = vec![
        over_links(
            "vidaptive-fig7",
            "Vidaptive against GCC link by link: PSNR and P95 latency (and Fig. 19a: video bitrate)",
            known(&OVERALL),
            &[],
        )
        .because("Latency falls less than in the paper, whose GCC is later than ours of that year."),
        over_links("vidaptive-fig8", "CDFs of PSNR and latency over all frames of all links", known(&OVERALL), &OF_FRAMES)
            .because(GAPS),
        over_links(
            "vidaptive-fig9",
            "boxes over links of Vidaptive's utilisation, bitrate, P95 latency and frame rate over GCC's",
            known(&OVERALL),
            &[],
        )
        .because(GAPS),
        over_links(
            "vidaptive-fig12",
            "CDF of resolutions over all links, and the share of pictures that Vidaptive sends with more lines than GCC",
            known(&OVERALL),
            &[Height],
        )
        .reading(&[MeanLines, SizeChanges]),
        over_links("vidaptive-fig13", "Vidaptive over RoCC against GCC (and Fig. 19b: video bitrate)", known(&OVERALL), &[]),
    ];
    figures.push(
        over_links(
            "vidaptive-fig14",
            "another video on all links: a talking head (the built-in scene is in Fig. 7; and Fig. 19c: video bitrate)",
            known(&[BASE, OURS]),
            &[],
        )
        .setup(Setup { encoder: Encoder::TalkingHead, ..SETUP }),
    );
    let clips = [
        ("vidaptive-vp8-fig14-scene", "the built-in scene", None),
        ("vidaptive-vp8-fig14-head", "a talking head", Some("talking-head-720p30.mp4")),
        ("vidaptive-vp8-fig14-flower", "a flower", Some("flower-720p30.264")),
        ("vidaptive-vp8-fig14-bunny", "an animated film", Some("bigbuckbunny-720p25.mp4")),
        ("vidaptive-vp8-fig14-foreman", "a foreman in 352x288", Some("foreman-cif30.mp4")),
    ];
    for (name, about, video) in clips {
        let links = recorded(&["TMobile-LTE-short.down", "Verizon-LTE-short.up", "ATT-LTE-driving.up"]);
        let setup = Setup { size: None, encoder: Encoder::Real, video, ..SETUP };
        let figure = Figure::of_runs(name, about, known(&[BASE, OURS]), links, &QUALITY);
        figures.push(figure.setup(setup).seconds(40).per_link(&[]));
    }
    figures.extend([
        over_links(
            "vidaptive-fig19",
            "gain of video bitrate against gain of P95 latency: (a) over Copa, (b) over RoCC",
            known(&OVERALL),
            &[],
        ),
        over_links(
            "vidaptive-fig20",
            "PSNR, latency and frame rate of each link as boxes",
            known(&OVERALL),
            &OF_FRAMES,
        ),
        over_links(
            "vidaptive-fig21",
            "video and dummies of each link; instantaneous utilisation and queueing delay as boxes",
            known(&OVERALL),
            &OF_NETWORK,
        )
        .reading(&[QueueDelayP95]),
        Figure::of_runs(
            "vidaptive-vp8-fig7",
            "Fig. 7 to 9 with the real VP8 on four of the links, a minute each",
            known(&[BASE, OURS]),
            recorded(&[
                "TMobile-LTE-short.down",
                "Verizon-LTE-short.down",
                "ATT-LTE-driving.up",
                "TMobile-UMTS-driving.down",
            ]),
            &QUALITY,
        )
        .setup(Setup { encoder: Encoder::Real, ..SETUP })
        .seconds(60)
        .per_link(&OF_FRAMES),
    ]);
    figures
}

/// Figures 10, 11, 24 and 25: what each part does.
fn parts() -> Vec<Figure> {
    const DUMMY: &str = "copa+dummy";
    const LATENCY: &str = "copa+dummy+latency";
    vec![
        Figure::of_runs(
            "vidaptive-fig10",
            "Copa with and without dummies on 5 Mbps, 2 Mbps from 40 s and 5 Mbps from 80 s: how soon the link is used",
            known(&["copa", DUMMY]),
            vec![Link::of_rate(
                "5/2/5 Mbps",
                in_turn([5000, 2000, 5000].map(Rate::from_kbps).into(), Span::from_secs(40)),
            )],
            &[
                WireReaches(80.0, 4.5),
                VideoReaches(80.0, 0.9, 120.0),
                within("padding_0_10_bps", Windowed::Padding, 0.0, 10.0),
                within("padding_20_80_bps", Windowed::Padding, 20.0, 80.0),
                within("padding_80_90_bps", Windowed::Padding, 80.0, 90.0),
                within("padding_100_120_bps", Windowed::Padding, 100.0, 120.0),
                LatencyMedian,
            ],
        )
        .setup(SETUP)
        .because("Copa alone has a queue of its own to send from, so dummies have nothing to do at the rise."),
        over_links("vidaptive-fig11", "Vidaptive's parts added one after another, against GCC", known(&ABLATIONS), &[])
            .orders([
                Order { key: "frame_rate_ratio", falling: &["copa", LATENCY] },
                Order { key: "frame_rate_ratio", falling: &["vidaptive", LATENCY] },
                Order { key: "video_bitrate_ratio", falling: &[DUMMY, LATENCY, "vidaptive"] },
                Order { key: "latency_p95_gain_ms", falling: &[DUMMY, LATENCY, "vidaptive"] },
            ]),
        over_links(
            "vidaptive-fig24",
            "PSNR, latency and frame rate of each link as boxes while the parts are added",
            known(&ABLATIONS),
            &OF_FRAMES,
        )
        .orders([Order { key: "psnr_gain_db", falling: &[DUMMY, LATENCY] }]),
        over_links(
            "vidaptive-fig25",
            "video and dummies, utilisation and queueing delay of each link while the parts are added",
            known(&ABLATIONS),
            &OF_NETWORK,
        )
        .orders([
            Order { key: "utilization_ratio", falling: &[DUMMY, "copa"] },
            Order { key: "video_bitrate_ratio", falling: &[DUMMY, "copa"] },
        ]),
    ]
}

/// Figures 15 to 18, 22, 23, 26 and 27: lambda, tau and T.
fn parameters() -> Vec<Figure> {
    const LAMBDAS: [&str; 4] = ["lambda 0.2", "lambda 0.5", "lambda 0.7", "lambda 0.99"];
    const RISING: [&str; 4] = ["lambda 0.99", "lambda 0.7", "lambda 0.5", "lambda 0.2"];
    const TAUS: [&str; 3] = ["tau 1000 ms", "tau 500 ms", "tau 33 ms"];
    let fewer = Order { key: "video_bitrate_ratio", falling: &LAMBDAS };
    let smoother = Order { key: "frame_rate_ratio", falling: &RISING };
    vec![
        over_links("vidaptive-fig15", "lambda: bitrate against frame rate", lambdas(), &[]).orders([fewer, smoother]),
        over_links("vidaptive-fig16", "tau: how long a packet may wait before encoding pauses", taus(), &[]).orders([
            Order { key: "video_bitrate_ratio", falling: &TAUS },
            Order { key: "latency_p95_gain_ms", falling: &TAUS },
            Order { key: "frame_rate_ratio", falling: &["tau 33 ms", "tau 500 ms"] },
            Order { key: "frame_rate_ratio", falling: &["tau 1000 ms", "tau 500 ms"] },
        ]),
        over_links("vidaptive-fig17", "T: over how long alpha and resolution look back", intervals(), &[]).orders([
            Order { key: "video_bitrate_ratio", falling: &["T 100 ms", "T 1000 ms", "T 10000 ms"] },
            Order { key: "frame_rate_ratio", falling: &["T 1000 ms", "T 100 ms"] },
            Order { key: "frame_rate_ratio", falling: &["T 1000 ms", "T 10000 ms"] },
            Order { key: "latency_p95_gain_ms", falling: &["T 10000 ms", "T 1000 ms"] },
            Order { key: "latency_p95_gain_ms", falling: &["T 100 ms", "T 1000 ms"] },
        ]),
        over_links("vidaptive-fig18", "CDF of resolutions for each lambda", lambdas(), &[Height])
            .reading(&[MeanLines])
            .orders([Order { key: "mean_lines", falling: &LAMBDAS }]),
        over_links(
            "vidaptive-fig22",
            "PSNR, latency and frame rate of each link for each lambda",
            lambdas(),
            &OF_FRAMES,
        )
        .orders([Order { key: "psnr_gain_db", falling: &LAMBDAS }, smoother]),
        over_links(
            "vidaptive-fig23",
            "video and dummies, utilisation and queueing delay of each link for each lambda",
            lambdas(),
            &OF_NETWORK,
        )
        .orders([fewer]),
        over_links("vidaptive-fig26", "PSNR, latency and frame rate of each link for each tau", taus(), &OF_FRAMES)
            .orders([Order { key: "psnr_gain_db", falling: &TAUS }]),
        over_links(
            "vidaptive-fig27",
            "video and dummies, utilisation and queueing delay of each link for each tau",
            taus(),
            &OF_NETWORK,
        )
        .orders([Order { key: "video_bitrate_ratio", falling: &TAUS }]),
    ]
}

/// Questions of this project's own.
fn not_in_the_paper() -> Vec<Figure> {
    let feedback = [
        ("each packet", FeedbackStyle::PerPacket),
        ("twcc on request", FeedbackStyle::TwccOnRequest),
        ("rfc 8888", FeedbackStyle::Ccfb),
        ("twcc", FeedbackStyle::Twcc),
    ];
    let variants = [BASE, "vidaptive", "vidaptive:resolution-by-quantizer", "vidaptive:gaps", "vidaptive:rocc"];
    vec![
        over_links(
            "vidaptive-today",
            "Fig. 7 to 9 against the GCC of today (no figure of the paper)",
            known(&["gcc", "vidaptive", "vidaptive:rocc", BASE]),
            &OF_FRAMES,
        ),
        over_links(
            "vidaptive-variants",
            "the resolution by quantiser too, and a standing window for links with gaps (no figure of the paper)",
            known(&variants),
            &OF_FRAMES,
        )
        .reading(&[Starved, MeanLines]),
        over_links(
            "vidaptive-frame-rate",
            "what costs frames: lambda, the pauses, the content (no figure of the paper)",
            [known(&[BASE, OURS]), with_fewer_pauses()].concat(),
            &[],
        ),
        Figure::of_runs(
            "vidaptive-by-second",
            "Fig. 7 to 9 and 13 over the links by whole seconds, without what happens within one, and an unlimited reverse path",
            [known(&OVERALL), with_fewer_pauses()].concat(),
            by_second(),
            &QUALITY,
        )
        .setup(SETUP)
        .per_link(&OF_FRAMES),
        over_links(
            "vidaptive-feedback",
            "how often the receiver reports: each packet, each burst on request, every 31 ms, every 62 ms (no figure of the paper)",
            feedback.map(with_feedback).to_vec(),
            &[],
        ),
    ]
}
