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

use super::Reading::*;
use super::figure::known;
use super::{EncoderStep, Experiment, Figure, Link, Links, Published, Reading};

const FIRST: &str = "abstract of arXiv 2309.16869v1";
const LATER: &str = "later version, as quoted on docs.rs/vidaptive";
const SPEC: &str = "specs/measured.md 6";

/// Every recorded cellular link.
const RECORDED: Links = Links::Recorded("");

/// The link of Fig. 1: 2 Mbps and 500 kbps, 40 s each, behind a drop-tail queue of 1.5 MB.
fn square_wave() -> Vec<Link> {
    vec![Link::named("2Mbps/500kbps@40s", "2Mbps/500kbps@40s").queue(Bytes::new(1_500_000))]
}

/// Readings of a run on the link of Fig. 1, which drops at 40 s and rises at 80 s.
const STEP: [Reading; 6] = [
    WireReaches(80.0, 1.8),
    VideoReaches(80.0, 0.9, 120.0),
    WorstLatency(40.0),
    Recovery(40.0),
    Utilization,
    LatencyP95,
];

const QUALITY: [Reading; 8] =
    [VideoBitrate, Utilization, Psnr, Ssim, LatencyMedian, LatencyP95, LatencyMean, FrameRate];

/// Both schemes of most figures.
const BOTH: [&str; 2] = ["gcc", "vidaptive"];
const ABLATIONS: [&str; 5] = ["gcc", "copa", "copa+dummy", "copa+dummy+latency", "vidaptive"];

/// A rate-targeted scheme with another name and a changed frame policy.
pub(super) fn variant(of: &str, name: &str, change: impl Fn(&mut rate_targeted::Config)) -> Scheme {
    let mut scheme = Scheme { name: name.into(), ..known(&[of]).remove(0) };
    if let FramesConfig::RateTargeted(frames) = &mut scheme.frames {
        change(frames);
    }
    scheme
}

fn with_lambda(lambda: f64) -> Scheme {
    variant("vidaptive", &format!("lambda {lambda}"), |frames| {
        if let Some(headroom) = &mut frames.headroom {
            headroom.lambda = lambda;
        }
    })
}

fn with_feedback((name, feedback): (&str, FeedbackStyle)) -> Scheme {
    Scheme { name: name.into(), feedback, ..known(&["vidaptive"]).remove(0) }
}

fn published<const N: usize>(numbers: [(&'static str, &'static str, f64, &'static str); N]) -> [Published; N] {
    numbers.map(|(scheme, key, value, source)| Published::new(None, scheme, key, value, source))
}

pub(super) fn figures() -> Vec<Figure> {
    let steps = EncoderStep { low: Rate::from_kbps(500), high: Rate::from_kbps(2000), each: Span::from_secs(10) };
    let feedback = [
        ("each packet", FeedbackStyle::PerPacket),
        ("twcc on request", FeedbackStyle::TwccOnRequest),
        ("rfc 8888", FeedbackStyle::Ccfb),
        ("twcc", FeedbackStyle::Twcc),
    ];
    vec![
        Figure::of_runs(
            "vidaptive-fig1",
            "GCC on a link that goes from 2 Mbps to 500 kbps and back each 40 s: how slowly it climbs, how late frames get",
            known(&["gcc"]),
            square_wave(),
            &STEP,
        ),
        Figure::new(
            "vidaptive-fig2",
            "the encoder alone, its target stepping from 500 kbps to 2 Mbps and back: how long its output lags",
            Experiment::EncoderStep(steps),
        )
        .published(published([
            ("encoder", "lag_up_s", 2.0, SPEC),
            ("encoder", "lag_down_s", 0.7, SPEC),
            ("encoder", "queue_ms", 550.0, SPEC),
        ])),
        Figure::of_runs(
            "vidaptive-fig6",
            "Vidaptive beside GCC on the link of Fig. 1",
            known(&["gcc", "vidaptive", "vidaptive:rocc"]),
            square_wave(),
            &STEP,
        ),
        Figure::of_runs(
            "vidaptive-fig7",
            "bitrate, quality and latency of GCC and Vidaptive over the recorded cellular links",
            known(&BOTH),
            RECORDED,
            &QUALITY,
        )
        .published(published([
            ("vidaptive", "video_bitrate_ratio", 2.0, FIRST),
            ("vidaptive", "psnr_gain_db", 1.6, FIRST),
            ("vidaptive", "latency_p95_gain_ms", -2700.0, FIRST),
            ("vidaptive", "video_bitrate_ratio", 1.5, LATER),
            ("vidaptive", "psnr_gain_db", 1.3, LATER),
            ("vidaptive", "ssim_gain_db", 1.4, LATER),
            ("gcc", "latency_p95_ms", 3940.0, LATER),
            ("vidaptive", "latency_p95_ms", 1700.0, LATER),
            ("gcc", "latency_p50_ms", 48.0, LATER),
            ("vidaptive", "latency_p50_ms", 65.0, LATER),
            ("gcc", "latency_mean_ms", 734.0, LATER),
            ("vidaptive", "latency_mean_ms", 383.0, LATER),
        ])),
        Figure::of_runs(
            "vidaptive-fig9",
            "how much of the link is used in each half second, over the recorded links",
            known(&BOTH),
            RECORDED,
            &[
                Utilization,
                InstantaneousUtilization(0.25),
                InstantaneousUtilization(0.5),
                InstantaneousUtilization(0.75),
            ],
        )
        .reading(&[QueueDelayP95]),
        Figure::of_runs(
            "vidaptive-fig10",
            "one recorded link in time: what is sent, frame latency, pauses and resets (the report has the charts)",
            known(&BOTH),
            Links::Recorded("Verizon-LTE-short.down"),
            &[VideoBitrate, Utilization, LatencyP95, Pauses, Resets],
        ),
        Figure::of_runs(
            "vidaptive-fig11",
            "Vidaptive's parts added one after another, over the recorded links",
            known(&ABLATIONS),
            RECORDED,
            &QUALITY,
        ),
        Figure::of_runs(
            "vidaptive-fig12",
            "resolution over time on a recorded link with outages (the report has the charts)",
            known(&BOTH),
            Links::Recorded("TMobile-UMTS-driving.down"),
            &[MeanLines, SizeChanges, FrameRate, LatencyP95],
        ),
        Figure::of_runs(
            "vidaptive-fig13",
            "frame rate and stalls as Vidaptive's parts are added, over the recorded links",
            known(&ABLATIONS),
            RECORDED,
            &[FrameRate, Stalls, PaddingBitrate, Pauses, Resets],
        ),
        Figure::of_runs(
            "vidaptive-fig15",
            "Vidaptive over Copa and over RoCC, over the recorded links",
            known(&["gcc", "vidaptive", "vidaptive:rocc"]),
            RECORDED,
            &QUALITY,
        ),
        Figure::of_runs(
            "vidaptive-fig16",
            "lambda: frame rate against bitrate, over the recorded links",
            [0.2, 0.5, 0.7, 0.9].map(with_lambda).to_vec(),
            RECORDED,
            &QUALITY,
        ),
        Figure::of_runs(
            "vidaptive-fig17",
            "how often the receiver reports: each packet, each burst on request, every 31 ms, every 62 ms, over the recorded links",
            feedback.map(with_feedback).to_vec(),
            RECORDED,
            &QUALITY,
        ),
    ]
}
