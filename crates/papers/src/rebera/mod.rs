//! The tables and figures of Rebera (specs/rebera.md 8).
//!
//! The paper's traces Tr1 to Tr8 are not public. They are throughput measurements over 1000 intra-periods, replayed as
//! rates, so its tables III to VII are run over recorded links as rates per second with the paper's means ([`traces`]).
//! `rebera-recorded` uses the unmodified recordings, with every opportunity to send 1500 bytes at its millisecond.
//! Video is a model's.

mod forecasts;
mod selections;
mod target_forecast;
mod traces;

use thalweg_control::rebera;
use thalweg_netsim::{LossModel, Rates};
use thalweg_sender::Scheme;
use thalweg_sender::frames::selection::Aim;
use thalweg_sender::scheme::{ControllerConfig, FramesConfig};
use thalweg_units::{Rate, Span};

use self::traces::{FORTH, TR1, TR2, TR5, TR7};
use super::figure::known;
use super::{Encoder, Figure, Link, Origin, Reading, Seconds, Setup};

/// 1000 intra-periods.
const DURATION: Span = Span::from_nanos(1_066_666_666_667);

const SETUP: Setup = Setup { duration: DURATION, encoder: Encoder::Model, ..Setup::USUAL };

/// The schemes compared here; FaceTime, which the paper compares with, is not available.
fn compared() -> Vec<Scheme> {
    let mut schemes = known(&["rebera", "rebera:absolute"]);
    schemes.push(aimed("rebera:absolute", Aim::Budget(1.15), "1.15"));
    schemes.extend(known(&["rebera:unspent", "rebera:sender", "rebera:paper", "rebera:precoded"]));
    schemes.push(precoded());
    schemes.extend(known(&["gcc", "vidaptive", "salsify"]));
    schemes
}

/// The scheme with another target of its encoder.
fn aimed(name: &str, aim: Aim, suffix: &str) -> Scheme {
    let mut scheme = Scheme { name: format!("{name}:{suffix}"), ..known(&[name]).remove(0) };
    if let FramesConfig::Selection(frames) = &mut scheme.frames {
        frames.aim = aim;
    }
    scheme
}

/// The paper's sender with video of 700 kbps. Its clip has 415 kbps, but it uses up to 68 % of 937 kbps in tables IV and
/// V: of 415, 700, 1000 and 1500 kbps, 700 comes nearest to the delays of table V (docs/papers/rebera.md).
fn precoded() -> Scheme {
    aimed("rebera:precoded", Aim::Fixed(Rate::from_kbps(700)), "700kbps")
}

/// The four slowest recordings, unmodified, as forward paths.
const RECORDED: [&str; 4] =
    ["ATT-LTE-driving.up", "TMobile-UMTS-driving.up", "TMobile-UMTS-driving.down", "Verizon-LTE-short.down"];
/// Their reverse paths: one slow, one faster.
const BACK: [(&str, &str); 2] = [("slow", "TMobile-UMTS-driving.up"), ("faster", "ATT-LTE-driving.up")];

/// Why the paper's utilisation is not reached (docs/papers/rebera.md, what the rest of the utilisation is).
const BECAUSE: &str = "the traces are not public and ours vary more, which the quantile of forecast errors pays with \
                       utilisation; and a video of one rate cannot fill a good second";

const READINGS: [Reading; 9] = {
    use Reading::*;
    [
        Utilization,
        QueueDelayP95,
        LatencyP95,
        FrameRate,
        FrameDistance,
        FrameDistanceDeviation,
        VideoBitrate,
        PacketLoss,
        EstimateAccuracy,
    ]
};

fn over(forth: Seconds, back: Seconds) -> Origin {
    Origin::BySecond { forth: vec![forth], back: Some(back) }
}

fn ways_forth(back: Seconds) -> Vec<Link> {
    FORTH.map(|(name, forth)| Link::new(name, over(forth, back))).to_vec()
}

fn figure(name: &'static str, about: &'static str, schemes: Vec<Scheme>, links: Vec<Link>) -> Figure {
    Figure::of_runs(name, about, schemes, links, &READINGS).setup(SETUP)
}

/// The four forward paths with this reverse path.
fn one_reverse_path(name: &'static str, about: &'static str, back: Seconds) -> Figure {
    figure(name, about, compared(), ways_forth(back)).because(BECAUSE)
}

pub(super) fn figures() -> Vec<Figure> {
    let recorded = "the four slowest recordings as they are, two reverse paths";
    let unmodified = known(&["rebera", "rebera:absolute", "gcc", "vidaptive", "salsify"]);
    vec![
        forecasts::table2(),
        two_hops(),
        one_reverse_path("rebera-table4", "four forward paths, a slow reverse path (Tr1)", TR1),
        one_reverse_path("rebera-table5", "four forward paths, a faster reverse path (Tr7)", TR7),
        figure("rebera-recorded", recorded, unmodified, recordings()),
        margins(),
        losses(),
        selections::figure4(),
        staircase(),
        forecasts::figure7(),
        sending_rates(),
        target_forecast::figure(),
    ]
}

fn two_hops() -> Figure {
    let both = Link::new("Tr2+Tr7", Origin::BySecond { forth: vec![TR2, TR7], back: None });
    let about = "two cellular hops one behind the other, an unlimited reverse path: used of the first";
    figure("rebera-table3", about, compared(), vec![both.apart(Span::from_millis(40))]).because(BECAUSE)
}

fn recordings() -> Vec<Link> {
    let link = |(speed, back): (&str, &str), forth: &str| {
        Link::new(format!("{forth}, {speed} reverse path"), Origin::Recorded { forth: forth.into(), back: back.into() })
    };
    BACK.iter().flat_map(|back| RECORDED.iter().map(|forth| link(*back, forth))).collect()
}

/// The scheme with another share of periods in which capacity may be below the planned one.
fn with_delta(scheme: &Scheme, delta: f64) -> Scheme {
    let mut scheme = Scheme { name: format!("{}:{delta}", scheme.name), ..scheme.clone() };
    if let ControllerConfig::Rebera(rebera::Config { margin, .. }) = &mut scheme.controller {
        margin.delta = delta;
    }
    scheme
}

fn margins() -> Figure {
    let with = |scheme: Scheme| [0.05, 0.1, 0.2, 0.5].map(|delta| with_delta(&scheme, delta));
    let mut schemes = known(&["rebera", "rebera:absolute", "rebera:unspent"]);
    schemes.extend([aimed("rebera:absolute", Aim::Budget(1.15), "1.15"), precoded()]);
    let schemes = schemes.into_iter().flat_map(with).collect();
    let about = "how often the path may bear less than planned (delta)";
    figure("rebera-table6", about, schemes, ways_forth(TR7)).because(BECAUSE)
}

fn losses() -> Figure {
    let at = |percent: u32| {
        let link = Link::new(format!("{percent} %"), over(TR5, TR7));
        let probability = f64::from(percent) / 100.0;
        if percent == 0 { link } else { link.losing(LossModel::Random { probability }) }
    };
    let about = "packets lost at random before Tr5";
    let mut schemes = compared();
    schemes.splice(1..1, known(&["rebera+fec"]));
    figure("rebera-table7", about, schemes, [0, 5, 10].map(at).to_vec()).because(BECAUSE)
}

fn staircase() -> Figure {
    let rates = [300, 400, 500, 600].map(Rate::from_kbps).to_vec();
    let steps = Rates::in_turn(rates, Span::from_secs(100)).expect("rates and their time are above 0");
    let about = "300 to 600 kbps in steps of 100 kbps, 100 s each";
    figure("rebera-fig6", about, compared(), vec![Link::of_rate("staircase", steps)]).seconds(400)
}

fn sending_rates() -> Figure {
    let about = "sending rates over the run, Tr2 with Tr7 as the reverse path: in the report of --out";
    let mut schemes = vec![precoded()];
    schemes.extend(known(&["rebera:absolute", "gcc"]));
    let link = Link::new("Tr2", over(TR2, TR7));
    figure("rebera-fig8", about, schemes, vec![link]).reading(&[Reading::WireBitrate])
}
