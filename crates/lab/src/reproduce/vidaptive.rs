//! The figures of Vidaptive (Karimi et al., arXiv 2309.16869).
//!
//! The text of the paper was not available when this was written, only its abstracts (of the first version and of a
//! later one, whose evaluation differs), figures quoted by a public re-implementation's documentation, and this
//! project's specification. So the question that a figure's number answers is this project's reading, and numbers
//! appear only if one of those sources has them.

use thalweg_sender::frames::rate_targeted;
use thalweg_sender::scheme::FramesConfig;
use thalweg_sender::{FeedbackStyle, Scheme};
use thalweg_units::{Bytes, Rate, Span};

use super::{EncoderStep, Experiment, Figure, Link, Links, Published, Reading, Setup};

const FIRST: &str = "abstract of arXiv 2309.16869v1";
const LATER: &str = "later version, as quoted on docs.rs/vidaptive";
const SPEC: &str = "specs/measured.md 6";

/// The link of Fig. 1: 2 Mbps and 500 kbps, 40 s each, behind a drop-tail queue of 1.5 MB.
fn square_wave() -> Links {
    Links::Listed(vec![Link::named("2Mbps/500kbps@40s", "2Mbps/500kbps@40s").queue(Bytes::new(1_500_000))])
}

/// Readings of a run on the link of Fig. 1, which drops at 40 s and rises at 80 s.
fn step_readings() -> Vec<Reading> {
    vec![
        Reading::WireReaches(80.0, 1.8),
        Reading::VideoReaches(80.0, 0.9, 120.0),
        Reading::WorstLatency(40.0),
        Reading::Recovery(40.0),
        Reading::Utilization,
        Reading::LatencyP95,
    ]
}

fn quality_readings() -> Vec<Reading> {
    use Reading::*;
    vec![VideoBitrate, Utilization, Psnr, Ssim, LatencyMedian, LatencyP95, LatencyMean, FrameRate]
}

/// Schemes by name.
pub(super) fn known(names: &[&str]) -> Vec<Scheme> {
    let find = |name: &&str| name.parse().unwrap_or_else(|error| panic!("{error}"));
    names.iter().map(find).collect()
}

/// A rate-targeted scheme with another name and a changed frame policy.
pub(super) fn variant(of: &str, name: &str, change: impl Fn(&mut rate_targeted::Config)) -> Scheme {
    let mut scheme = Scheme { name: name.into(), ..known(&[of]).remove(0) };
    if let FramesConfig::RateTargeted(frames) = &mut scheme.frames {
        change(frames);
    }
    scheme
}

fn with_feedback(name: &str, feedback: FeedbackStyle) -> Scheme {
    Scheme { name: name.into(), feedback, ..known(&["vidaptive"]).remove(0) }
}

fn recorded(schemes: Vec<Scheme>, readings: Vec<Reading>) -> Experiment {
    Experiment::Runs { schemes, links: Links::Recorded(""), readings }
}

const fn paper(scheme: &'static str, key: &'static str, value: f64, source: &'static str) -> Published {
    Published { link: None, scheme, key, value, sigma: None, source }
}

const ABLATIONS: [&str; 5] = ["gcc", "copa", "copa+dummy", "copa+dummy+latency", "vidaptive"];

pub(super) fn figures() -> Vec<Figure> {
    vec![
        Figure {
            setup: Setup::default(),
            theirs: vec![],
            scattered: false,
            name: "vidaptive-fig1",
            about: "GCC on a link that goes from 2 Mbps to 500 kbps and back each 40 s: how slowly it climbs, how late frames get",
            experiment: Experiment::Runs { schemes: known(&["gcc"]), links: square_wave(), readings: step_readings() },
            published: vec![],
        },
        Figure {
            setup: Setup::default(),
            theirs: vec![],
            scattered: false,
            name: "vidaptive-fig2",
            about: "the encoder alone, its target stepping from 500 kbps to 2 Mbps and back: how long its output lags",
            experiment: Experiment::EncoderStep(EncoderStep {
                low: Rate::from_kbps(500),
                high: Rate::from_kbps(2000),
                each: Span::from_secs(10),
            }),
            published: vec![
                paper("encoder", "lag_up_s", 2.0, SPEC),
                paper("encoder", "lag_down_s", 0.7, SPEC),
                paper("encoder", "queue_ms", 550.0, SPEC),
            ],
        },
        Figure {
            setup: Setup::default(),
            theirs: vec![],
            scattered: false,
            name: "vidaptive-fig6",
            about: "Vidaptive beside GCC on the link of Fig. 1",
            experiment: Experiment::Runs {
                schemes: known(&["gcc", "vidaptive", "vidaptive:rocc"]),
                links: square_wave(),
                readings: step_readings(),
            },
            published: vec![],
        },
        Figure {
            setup: Setup::default(),
            theirs: vec![],
            scattered: false,
            name: "vidaptive-fig7",
            about: "bitrate, quality and latency of GCC and Vidaptive over the recorded cellular links",
            experiment: recorded(known(&["gcc", "vidaptive"]), quality_readings()),
            published: vec![
                paper("vidaptive", "video_bitrate_ratio", 2.0, FIRST),
                paper("vidaptive", "psnr_gain_db", 1.6, FIRST),
                paper("vidaptive", "latency_p95_gain_ms", -2700.0, FIRST),
                paper("vidaptive", "video_bitrate_ratio", 1.5, LATER),
                paper("vidaptive", "psnr_gain_db", 1.3, LATER),
                paper("vidaptive", "ssim_gain_db", 1.4, LATER),
                paper("gcc", "latency_p95_ms", 3940.0, LATER),
                paper("vidaptive", "latency_p95_ms", 1700.0, LATER),
                paper("gcc", "latency_p50_ms", 48.0, LATER),
                paper("vidaptive", "latency_p50_ms", 65.0, LATER),
                paper("gcc", "latency_mean_ms", 734.0, LATER),
                paper("vidaptive", "latency_mean_ms", 383.0, LATER),
            ],
        },
        Figure {
            setup: Setup::default(),
            theirs: vec![],
            scattered: false,
            name: "vidaptive-fig9",
            about: "how much of the link is used in each half second, over the recorded links",
            experiment: recorded(
                known(&["gcc", "vidaptive"]),
                vec![
                    Reading::Utilization,
                    Reading::InstantaneousUtilization(0.25),
                    Reading::InstantaneousUtilization(0.5),
                    Reading::InstantaneousUtilization(0.75),
                    Reading::QueueDelayP95,
                ],
            ),
            published: vec![],
        },
        Figure {
            setup: Setup::default(),
            theirs: vec![],
            scattered: false,
            name: "vidaptive-fig10",
            about: "one recorded link in time: what is sent, frame latency, pauses and resets (the report has the charts)",
            experiment: Experiment::Runs {
                schemes: known(&["gcc", "vidaptive"]),
                links: Links::Recorded("Verizon-LTE-short.down"),
                readings: vec![
                    Reading::VideoBitrate,
                    Reading::Utilization,
                    Reading::LatencyP95,
                    Reading::Pauses,
                    Reading::Resets,
                ],
            },
            published: vec![],
        },
        Figure {
            setup: Setup::default(),
            theirs: vec![],
            scattered: false,
            name: "vidaptive-fig11",
            about: "Vidaptive's parts added one after another, over the recorded links",
            experiment: recorded(known(&ABLATIONS), quality_readings()),
            published: vec![],
        },
        Figure {
            setup: Setup::default(),
            theirs: vec![],
            scattered: false,
            name: "vidaptive-fig12",
            about: "resolution over time on a recorded link with outages (the report has the charts)",
            experiment: Experiment::Runs {
                schemes: known(&["gcc", "vidaptive"]),
                links: Links::Recorded("TMobile-UMTS-driving.down"),
                readings: vec![Reading::MeanLines, Reading::SizeChanges, Reading::FrameRate, Reading::LatencyP95],
            },
            published: vec![],
        },
        Figure {
            setup: Setup::default(),
            theirs: vec![],
            scattered: false,
            name: "vidaptive-fig13",
            about: "frame rate and stalls as Vidaptive's parts are added, over the recorded links",
            experiment: recorded(
                known(&ABLATIONS),
                vec![Reading::FrameRate, Reading::Stalls, Reading::PaddingBitrate, Reading::Pauses, Reading::Resets],
            ),
            published: vec![],
        },
        Figure {
            setup: Setup::default(),
            theirs: vec![],
            scattered: false,
            name: "vidaptive-fig15",
            about: "Vidaptive over Copa and over RoCC, over the recorded links",
            experiment: recorded(known(&["gcc", "vidaptive", "vidaptive:rocc"]), quality_readings()),
            published: vec![],
        },
        Figure {
            setup: Setup::default(),
            theirs: vec![],
            scattered: false,
            name: "vidaptive-fig16",
            about: "lambda: frame rate against bitrate, over the recorded links",
            experiment: recorded(
                [0.2, 0.5, 0.7, 0.9]
                    .map(|lambda| {
                        variant("vidaptive", &format!("lambda {lambda}"), |frames| {
                            if let Some(headroom) = &mut frames.headroom {
                                headroom.lambda = lambda;
                            }
                        })
                    })
                    .into(),
                quality_readings(),
            ),
            published: vec![],
        },
        Figure {
            setup: Setup::default(),
            theirs: vec![],
            scattered: false,
            name: "vidaptive-fig17",
            about: "how often the receiver reports: each packet, each burst on request, every 31 ms, every 62 ms, over the recorded links",
            experiment: recorded(
                vec![
                    with_feedback("each packet", FeedbackStyle::PerPacket),
                    with_feedback("twcc on request", FeedbackStyle::TwccOnRequest),
                    with_feedback("rfc 8888", FeedbackStyle::Ccfb),
                    with_feedback("twcc", FeedbackStyle::Twcc),
                ],
                quality_readings(),
            ),
            published: vec![],
        },
    ]
}
