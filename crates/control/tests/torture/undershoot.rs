//! Capacity estimates while the encoder produces six tenths of its target, the Camel paper's question: the mean of the
//! capacity estimate over the capacity, with per-packet feedback and with feedback every 62 ms.

use thalweg_units::Rate;

use crate::support::subjects;
use crate::support::{Scenario, Style};

/// A subject, and bounds for both kinds of report.
type Row = (&'static str, (f64, f64), (f64, f64));

/// The Camel paper: GCC and Copa are too high, BBR is too low; SQP, Pudica and Camel are accurate. The page of each
/// explains its result.
const BELIEFS: &[Row] = &[
    ("copa", (0.5, 0.8), (1.3, 1.9)),
    ("copa-0.9", (0.5, 0.8), (1.3, 1.9)),
    ("rocc", (1.1, 1.45), (1.3, 1.7)),
    ("gcc", (0.85, 1.05), (0.85, 1.05)),
    ("gcc-2023", (0.85, 1.05), (0.85, 1.05)),
    ("bbr", (0.02, 0.08), (0.02, 0.08)),
    ("bbr-camel", (0.95, 1.05), (0.1, 0.5)),
    ("bbr-media", (0.9, 1.0), (0.9, 1.0)),
    ("sqp", (0.88, 0.92), (0.88, 0.92)),
    ("sqp-literal", (0.3, 0.36), (0.3, 0.36)),
    ("pudica", (1.2, 1.6), (1.2, 1.6)),
    ("pudica-literal", (0.3, 0.45), (0.3, 0.45)),
    ("scream", (0.05, 0.15), (1.4, 1.8)),
    ("nada", (0.09, 0.11), (0.09, 0.11)),
    ("camel", (0.97, 1.03), (0.97, 1.03)),
    ("salsify", (0.85, 1.05), (0.85, 1.05)),
    ("thalweg", (0.9, 1.1), (0.9, 1.1)),
];

#[test]
fn an_encoder_of_six_tenths_leaves_each_its_belief() {
    let rate = Rate::from_kbps(3000);
    for (name, each, batched) in BELIEFS {
        let subject = subjects::named(name);
        for (style, (low, high)) in [(Style::PerPacket, each), (Style::Twcc, batched)] {
            let scenario = Scenario { style, ..Scenario::new(rate, 60, 50).encoded(0.6, rate.scale(4.0)) };
            let record = scenario.run((subject.build)());
            let reported = record.mean_target(30.0, 50.0).as_bps_f64() / rate.as_bps_f64();
            println!("six tenths, {name} {style:?}: {reported:.3} of the capacity (expected {low} to {high})");
            assert!(
                (*low..=*high).contains(&reported),
                "{name} {style:?} believes {reported:.3}, expected {low} to {high}"
            );
        }
    }
}
