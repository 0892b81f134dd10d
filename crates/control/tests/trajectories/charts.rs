//! Every controller on the same scenario, as charts: docs/papers/trajectories.svg.
//!
//! A change of behaviour shows as a change of the chart. `THALWEG_DRAW=1 cargo test -p thalweg-control --test
//! trajectories charts` redraws it.

use std::path::Path;

use thalweg_units::{Bytes, Rate};

use crate::support::chart::Chart;
use crate::support::subjects::{self, Feed};
use crate::support::*;

const SECONDS: u32 = 90;

#[test]
fn every_controller_takes_the_course_as_it_is_drawn_in_the_docs() {
    let rates = [(0, 3000), (20, 1000), (35, 6000), (55, 0), (60, 3000)];
    let capacity = Schedule::steps(&rates.map(|(second, kbps)| (second, Rate::from_kbps(kbps))));
    let mut chart = Chart::new(&capacity, SECONDS as usize, Rate::from_kbps(8000));
    for subject in subjects::ALL.iter().filter(|subject| subject.feed != Feed::Nothing) {
        let mut scenario = Scenario {
            capacity: capacity.clone(),
            queue: Bytes::new(150_000),
            silence: Some((75, 80)),
            style: Style::Rfc8888,
            ..Scenario::new(Rate::ZERO, 60, SECONDS.into())
        };
        if subject.feed.is_frames() {
            scenario.source = Source::Encoder { share: 1.0, max: Rate::from_kbps(12_000) };
        }
        chart.add(subject.name, scenario.run((subject.build)()));
    }
    let (file, drawn) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/papers/trajectories.svg"), chart.svg());
    if std::env::var_os("THALWEG_DRAW").is_some() {
        std::fs::write(&file, &drawn).expect("docs/papers can be written");
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == drawn, "a controller behaves otherwise than in {}: see charts.rs to draw it anew", file.display());
}
