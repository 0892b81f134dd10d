//! Table 1: recorded links of 4G and 5G.

use thalweg_sender::Scheme;
use thalweg_sender::scheme::FramesConfig;
use thalweg_units::Rate;

use super::super::{Experiment, Figure, Folder, Link, Origin, Reading, figure::known};
use super::QUEUE;

/// Max bitrate of the paper's encoder: no bitrate of Table 1 exceeds 2060 kbps (specs/camel.md C5). Headers, repair and
/// headroom come on top, for which the controllers may use more.
const TABLE_1_MAX: Rate = Rate::from_kbps(2100);
const TABLE_1_DEMAND: Rate = Rate::from_kbps(2400);
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

pub(super) fn figure() -> Figure {
    let about = "four recorded links by the second, an encoder of at most 2.1 Mbps; the links are Lumos5G's files of these numbers where \
                 they are here (5G 109 is of a car there, of a walk in the paper), otherwise synthetic";
    let link =
        |(name, file, instead)| Link::new(name, Origin::File { folder: Folder::Lumos5g, file, instead }).queue(QUEUE);
    // Camel first: the paper compares the others with it.
    let schemes = bounded(&["camel", "gcc", "copa", "bbr", "sqp", "pudica", "salsify-2c"]);
    let mut figure = super::figure("camel-table1", about, 250, schemes, TABLE_1_LINKS.map(link).to_vec())
        .because(
            "The bitrates come out, the delays do not: the paper's are two to eight times ours over the same files, with any \
             queue from 100 KB to 2 MB, so its path is another; Salsify's encoder has no cap here",
        );
    if let Experiment::Runs { readings, .. } = &mut figure.experiment {
        // Estimates do not exceed what the encoder could use, and these links have far more.
        readings.retain(|reading| !matches!(reading, Reading::EstimateAccuracy | Reading::EstimateBias));
    }
    figure
}
