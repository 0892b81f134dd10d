//! `gcc` beside stock Chromium 156 on the links over which Chromium was recorded (data set chromium-gcc, folder
//! cellular; docs/papers/gcc.md): not a paper's figure, but the check of the baseline of all of them.

use thalweg_netsim::LossModel;
use thalweg_units::Bytes;

use super::figure::known;
use super::{Encoder, Figure, Link, Origin, Reading, Setup};
use thalweg_lab::Undershoot;

/// The links; what Chromium sent over each is in `published/gcc.csv`.
const RECORDED: [&str; 5] = [
    "ATT-LTE-driving.down",
    "TMobile-LTE-short.down",
    "Verizon-LTE-short.down",
    "Verizon-LTE-short.up",
    "ATT-LTE-driving-2016.down",
];
/// The same at 3 Mbps, and how the link differs.
const CONSTANT: [&str; 3] = ["3 Mbps, 1.5 MB", "3 Mbps, 30 kB", "3 Mbps, 2 % lost"];

/// Over its estimate, the encoder's target was 0.84 in Chromium at 3 Mbps (c3.csv, mean of target_kbps / bwe_kbps), in
/// ours 0.94: 0.9 of ours. Each link is played with both.
const SHARE: f64 = 0.9;

fn both(link: Link) -> [Link; 2] {
    let undershot = Link { name: lower(&link.name), ..link.clone() };
    [link, undershot.undershot(Undershoot::always(SHARE))]
}

fn lower(name: &str) -> String {
    format!("{name}, encoder at {SHARE}")
}

/// The recorded links, and the constant ones.
pub(super) fn figures() -> Vec<Figure> {
    let recorded = RECORDED.into_iter().flat_map(|forth| {
        let (link, way) = forth.rsplit_once('.').unwrap_or((forth, ""));
        let back = format!("{link}.{}", if way == "up" { "down" } else { "up" });
        both(Link::new(forth, Origin::Recorded { forth: forth.into(), back }))
    });
    let constant = CONSTANT.into_iter().flat_map(|name| {
        let link = Link::named(name, "3Mbps");
        both(match name {
            "3 Mbps, 30 kB" => link.queue(Bytes::new(30_000)),
            "3 Mbps, 2 % lost" => link.queue(Bytes::new(1_500_000)).losing(LossModel::Random { probability: 0.02 }),
            _ => link.queue(Bytes::new(1_500_000)),
        })
    });
    let setup = Setup { encoder: Encoder::Model, runs: 10, ..Setup::USUAL };
    vec![
        figure("gcc-chromium", recorded.collect(), setup).seconds(100).because(
            "Chromium's encoder gets 0.84 of the estimate and ours 0.94, and over ATT its reverse path carried more than \
             reports: docs/papers/gcc.md",
        ),
        figure("gcc-chromium-constant", constant.collect(), setup)
            .seconds(60)
            .because("Chromium's encoder gets 0.84 of the estimate and ours 0.94: docs/papers/gcc.md"),
    ]
}

fn figure(name: &'static str, links: Vec<Link>, setup: Setup) -> Figure {
    use Reading::*;
    let about = "our `gcc` and stock Chromium on the same links, wire rate over the run";
    let readings = [WireBitrate, VideoBitrate, Utilization, LatencyMedian, LatencyP95, FrameRate];
    Figure::of_runs(name, about, known(&["gcc"]), links, &readings).setup(setup)
}
