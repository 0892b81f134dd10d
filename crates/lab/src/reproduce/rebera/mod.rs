//! The tables and figures of Rebera (rebera.md section 8).
//!
//! The paper's traces Tr1 to Tr8 are not public. Its tables are played over recorded links of like means here: Tr1 (176 kbps) and Tr7
//! (1055 kbps) as ways back over TMobile-UMTS-driving.up and ATT-LTE-driving.up, and the ways forth, whose means are 388 to 937 kbps, over the
//! four slowest recordings. Video is a model's; the text of the paper was not at hand, so its numbers are those of the specification.

mod forecasts;
mod foresight;
mod selections;

use thalweg_control::rebera;
use thalweg_link::{HopConfig, LossModel, QueueConfig, Rates};
use thalweg_sender::Scheme;
use thalweg_sender::scheme::ControllerConfig;
use thalweg_units::{Rate, Span};

use super::vidaptive::known;
use super::{Encoder, Experiment, Figure, Link, Links, Origin, Published, Reading, Setup};

const SOURCE: &str = "Rebera, as rebera.md section 8 has it";

/// 1000 intra-periods.
const DURATION: Span = Span::from_nanos(1_066_666_666_667);

const SETUP: Setup = Setup { duration: DURATION, encoder: Encoder::Model, ..Setup::USUAL };

/// What the paper's sender is compared with here: FaceTime is not to be had.
const COMPARED: [&str; 6] = ["rebera", "rebera:sender", "rebera:paper", "gcc", "vidaptive", "salsify"];

/// Recorded links in the paper's order of means, and what stands for which of its traces.
const FORTH: [(&str, &str); 4] = [
    ("Tr2", "ATT-LTE-driving.up"),
    ("Tr4", "TMobile-UMTS-driving.up"),
    ("Tr5", "TMobile-UMTS-driving.down"),
    ("Tr6", "Verizon-LTE-short.down"),
];
const TR1: &str = "TMobile-UMTS-driving.up";
const TR7: &str = "ATT-LTE-driving.up";

fn readings() -> Vec<Reading> {
    use Reading::*;
    vec![Utilization, QueueDelayP95, LatencyP95, FrameRate, VideoBitrate, PacketLoss, EstimateAccuracy]
}

fn link(name: &str, forth: &str, back: &str) -> Link {
    Link::new(format!("{name} {forth}"), Origin::Recorded { forth: forth.into(), back: back.into() })
}

/// The paper's utilisation (in percent) and 95th percentile of packets' queueing delay (in ms).
fn cell(link: &'static str, scheme: &'static str, percent: f64, delay_ms: f64) -> [Published; 2] {
    let of = |key, value| Published { link: Some(link), scheme, key, value, sigma: None, source: SOURCE };
    [of("utilization", percent / 100.0), of("queue_delay_p95_ms", delay_ms)]
}

fn figure(
    name: &'static str,
    about: &'static str,
    schemes: Vec<Scheme>,
    links: Vec<Link>,
    published: Vec<Published>,
) -> Figure {
    let experiment = Experiment::Runs { schemes, links: Links::Listed(links), readings: readings() };
    Figure { name, about, experiment, setup: SETUP, published, theirs: vec![], scattered: false }
}

pub(super) fn figures() -> Vec<Figure> {
    vec![
        forecasts::table2(),
        two_hops(),
        slow_way_back(),
        fast_way_back(),
        margins(),
        losses(),
        selections::figure4(),
        staircase(),
        foresight::figure(),
    ]
}

fn two_hops() -> Figure {
    let second =
        HopConfig::Bottleneck { trace: "TMobile-UMTS-driving.down".into(), queue: QueueConfig::Infinite, once: false };
    let mut both = Link::new("Tr2+Tr7", Origin::Recorded { forth: "ATT-LTE-driving.up".into(), back: String::new() });
    both.behind.push(second);
    let both = both.apart(Span::from_millis(40));
    let about = "two cellular hops one behind the other, an unlimited way back: used of the first";
    figure("rebera-table3", about, known(&COMPARED), vec![both], cell("Tr2+Tr7", "rebera", 56.44, 387.0).to_vec())
}

fn slow_way_back() -> Figure {
    let published = [
        cell("Tr2 ATT-LTE-driving.up", "rebera", 63.44, 325.0),
        cell("Tr4 TMobile-UMTS-driving.up", "rebera", 59.67, 352.0),
        cell("Tr5 TMobile-UMTS-driving.down", "rebera", 65.11, 160.0),
        cell("Tr6 Verizon-LTE-short.down", "rebera", 61.85, 219.0),
    ];
    let links = FORTH.map(|(name, forth)| link(name, forth, TR1)).to_vec();
    figure("rebera-table4", "four ways forth, a slow way back (Tr1)", known(&COMPARED), links, published.concat())
}

fn fast_way_back() -> Figure {
    let published = [
        cell("Tr2 ATT-LTE-driving.up", "rebera", 67.18, 347.0),
        cell("Tr4 TMobile-UMTS-driving.up", "rebera", 64.89, 287.0),
        cell("Tr5 TMobile-UMTS-driving.down", "rebera", 70.97, 163.0),
        cell("Tr6 Verizon-LTE-short.down", "rebera", 68.08, 239.0),
    ];
    let links = FORTH.map(|(name, forth)| link(name, forth, TR7)).to_vec();
    figure("rebera-table5", "four ways forth, a faster way back (Tr7)", known(&COMPARED), links, published.concat())
}

/// Rebera with another share of periods in which the path may bear less than planned.
fn with_delta(name: &str, delta: f64) -> Scheme {
    let mut scheme = Scheme { name: name.into(), ..known(&["rebera"]).remove(0) };
    if let ControllerConfig::Rebera(rebera::Config { margin, .. }) = &mut scheme.controller {
        margin.delta = delta;
    }
    scheme
}

fn margins() -> Figure {
    let schemes = [("rebera:0.05", 0.05), ("rebera:0.1", 0.1), ("rebera:0.2", 0.2), ("rebera:0.5", 0.5)]
        .map(|(name, delta)| with_delta(name, delta));
    let name = "Tr2 ATT-LTE-driving.up";
    let published = [
        cell(name, "rebera:0.05", 67.18, 347.0),
        cell(name, "rebera:0.1", 69.63, 364.0),
        cell(name, "rebera:0.2", 74.18, 404.0),
        cell(name, "rebera:0.5", 79.77, 468.0),
    ];
    let links = FORTH.map(|(name, forth)| link(name, forth, TR7)).to_vec();
    let about = "how often the path may bear less than planned (delta)";
    figure("rebera-table6", about, schemes.to_vec(), links, published.concat())
}

fn losses() -> Figure {
    let (name, forth) = FORTH[2];
    let at = |percent: u32| {
        let lossless = link(name, forth, TR7);
        let named = Link { name: format!("{percent} %"), ..lossless };
        let probability = f64::from(percent) / 100.0;
        if percent == 0 { named } else { named.losing(LossModel::Random { probability }) }
    };
    let published =
        [cell("0 %", "rebera", 70.97, 163.0), cell("5 %", "rebera", 67.6, 141.0), cell("10 %", "rebera", 64.33, 129.0)];
    let about = "packets lost at random before the link";
    let mut compared = COMPARED.to_vec();
    compared.insert(1, "rebera+fec");
    figure("rebera-table7", about, known(&compared), [0, 5, 10].map(at).to_vec(), published.concat())
}

fn staircase() -> Figure {
    let rates = [300, 400, 500, 600, 500, 400, 300].map(Rate::from_kbps).to_vec();
    let steps = Rates::in_turn(rates, Span::from_secs(100)).expect("rates and their time are above 0");
    let links = vec![Link::of_rate("staircase", steps)];
    let of =
        |key, value| Published { link: Some("staircase"), scheme: "rebera", key, value, sigma: None, source: SOURCE };
    let published = vec![of("utilization", 0.8332)];
    let about = "300 to 600 kbps and back in steps of 100 kbps, 100 s each";
    let figure = figure("rebera-fig6", about, known(&COMPARED), links, published);
    Figure { setup: Setup { duration: Span::from_secs(700), ..SETUP }, ..figure }
}
