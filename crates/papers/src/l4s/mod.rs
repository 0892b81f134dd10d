//! L4S end to end in virtual time: the experiments of specs/l4s.md 6, each with its bounds.
//!
//! Not a paper's figures: senders that say ECT(1), queues that mark, and what the specification expects of them. A line is
//! judged by the worst of its seeds.

mod beside;
mod bleaching;
mod cellular;
mod classic;
mod fall;
mod latency;
mod libwebrtc;

use thalweg_codecs::Codec;
use thalweg_codecs::traffic::{self, Fixfps, TrafficModel};
use thalweg_netsim::queue::DualPi2Config;
use thalweg_netsim::{HopConfig, PathConfig, QueueConfig};
use thalweg_sender::Scheme;
use thalweg_sender::scheme::{ControllerConfig, RateLimits};
use thalweg_units::{Rate, Size, Span};

use super::{Asked, Bound, Bounded, Experiment, Figure, Line, Observed, Part, Setup, Window};
use thalweg_lab::scenario::{Scenario, Video};

/// All of them.
pub(super) fn figures() -> Vec<Figure> {
    let setup = Setup { runs: 5, delay: Span::from_millis(10), ..Setup::USUAL };
    let of = |name, about, lines, because| {
        Figure::new(name, about, Experiment::Bounded(Bounded { lines, because })).setup(setup)
    };
    vec![
        of(
            "l4s-latency",
            "one flow over a queue that marks: how short it keeps it (specs/l4s.md 6, a1 to a6)",
            latency::lines(),
            latency::BECAUSE,
        ),
        of("l4s-drop", "10, 3 and 10 Mbps, 15 s each, with marks and without (b)", fall::lines(), fall::BECAUSE),
        of("l4s-cubic", "beside Cubic, which has the classic queue (c)", beside::cubic(), beside::CUBIC_BECAUSE),
        of("l4s-prague", "beside Prague, in the queue for low latency (d)", beside::prague(), beside::PRAGUE_BECAUSE),
        of(
            "l4s-classic",
            "queues that drop, and one that takes ECT(1) for ECT(0) (e1 to e3)",
            classic::lines(),
            classic::BECAUSE,
        ),
        of(
            "l4s-cellular",
            "recorded links behind a ramp of 5 to 10 ms, and behind a marker that predicts (f)",
            cellular::lines(),
            cellular::BECAUSE,
        ),
        of(
            "l4s-bleaching",
            "paths that clear the ECN field, or drop packets for it (g)",
            bleaching::lines(),
            bleaching::BECAUSE,
        ),
        of(
            "l4s-libwebrtc",
            "libwebrtc's own L4S scenarios: the target at each whole second (h)",
            libwebrtc::lines(),
            libwebrtc::BECAUSE,
        ),
    ]
}

/// After this much of a run it is judged.
const WARM_S: f64 = 10.0;
/// The length of most runs, in seconds.
const LENGTH: i64 = 60;

/// Kind of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Frames {
    /// Each is its share of the target.
    Even,
    /// Those of the encoder model, whose sizes deviate by a fifth.
    Modelled,
}

/// 30 frames a second over a link of this rate, or of these rates in turn, and this round trip.
fn over(rates: &str, rtt_ms: i64, queue: QueueConfig, frames: Frames, seconds: i64) -> Scenario {
    let delay = || HopConfig::delay(Span::from_millis(rtt_ms) / 2);
    let narrow = HopConfig::Rate { rate: rates.parse().expect("rates are written by us"), queue };
    let codec = match frames {
        Frames::Even => Codec::Traffic(traffic::Config {
            min_rate: Rate::from_kbps(5),
            max_rate: Rate::from_kbps(200_000),
            model: TrafficModel::Fixfps(Fixfps { delay: Span::ZERO, ..Fixfps::default() }),
        }),
        Frames::Modelled => Codec::Model(Default::default()),
    };
    Scenario {
        duration: Span::from_secs(seconds),
        video: Video::scene(Size::HD, 30),
        codec,
        forward: PathConfig { hops: vec![narrow, delay()] },
        reverse: PathConfig { hops: vec![delay()] },
        measure_quality: false,
        ..Scenario::over(rates)
    }
}

/// DualPI2 as Linux has it, but for a threshold of at least so many packets.
fn dual(least_packets: u32) -> QueueConfig {
    QueueConfig::DualPi2(DualPi2Config { least_packets, ..DualPi2Config::default() })
}

/// The scheme of this name, whose encoder makes up to twice a link of so many Mbps.
fn named(name: &str, mbps: u64) -> Scheme {
    let max = Rate::from_kbps(2000 * mbps);
    let limits = RateLimits { min: Rate::from_kbps(100), start: Rate::from_kbps(300), max, wire: max.scale(1.1) };
    let scheme = name.parse::<Scheme>().unwrap_or_else(|error| panic!("{error}"));
    scheme.within(limits).unwrap_or_else(|error| panic!("{error}"))
}

/// The same, pacing at `factor` times the target while marks come; the controller is SCReAM.
fn paced(name: &str, mbps: u64, factor: f64) -> Scheme {
    let mut scheme = named(name, mbps);
    if let ControllerConfig::Scream(scream) = &mut scheme.controller {
        scream.l4s.get_or_insert_default().pacing = factor;
    }
    Scheme { name: format!("{name} paced at {factor}"), ..scheme }
}

fn part(scenario: Scenario, scheme: Scheme) -> Part {
    Part { scenario, scheme }
}

/// Rate sent over the link, in % of its capacity, after the warm-up.
fn used(mbps: f64, expected: &'static str, bound: Bound) -> Asked {
    Asked::new("use, %", expected, bound, move |runs| runs[0].mbps(0, warm(&runs[0])) / mbps * 100.0)
}

/// 99 % of packets waited no longer than this, once warm, in ms.
fn late(flow: usize, expected: &'static str, bound: Bound) -> Asked {
    let what = if flow == 0 { "P99 of waiting, ms" } else { "P99 of waiting of TCP, ms" };
    Asked::new(what, expected, bound, move |runs| runs[0].wait_ms(flow, warm(&runs[0]), 0.99))
}

fn warm(run: &Observed) -> Window {
    WARM_S..run.whole().end
}

/// Asks if the queue was ever taken for a classic one: 1 if so.
fn never_classic(expected: &'static str) -> Asked {
    let bound = Bound::at_most(0.0);
    Asked::new("taken for a classic queue", expected, bound, |runs| runs[0].greatest("classic_aqm", runs[0].whole()))
}

fn line(name: impl Into<String>, parts: Vec<Part>, asked: Vec<Asked>) -> Line {
    Line { name: name.into(), parts, asked }
}
