//! Every controller on the same scenario, as charts: docs/papers/trajectories.svg.
//!
//! A change of behaviour shows as a change of the chart. `THALWEG_DRAW=1 cargo test -p thalweg-control --test
//! trajectories charts` redraws it.

use std::fmt::Write;
use std::path::Path;

use thalweg_units::{Bytes, Rate, Time};

use crate::support::subjects::{self, Feed};
use crate::support::*;

const SECONDS: usize = 90;
/// The max rate shown.
const MAX: Rate = Rate::from_kbps(8000);
/// A panel's size, the margin around it, and how many are side by side.
const WIDTH: usize = 300;
const HEIGHT: usize = 120;
const SPACE: usize = 24;
const COLUMNS: usize = 3;
/// The max queueing time shown, in a quarter of the panel.
const MAX_QUEUE_MS: f64 = 1000.0;
/// Tenths of a second per point.
const POINT: usize = 5;

#[test]
fn every_controller_takes_the_course_as_it_is_drawn_in_the_docs() {
    let rates = [(0, 3000), (20, 1000), (35, 6000), (55, 0), (60, 3000)];
    let capacity = Schedule::steps(&rates.map(|(second, kbps)| (second, Rate::from_kbps(kbps))));
    let mut panels = Vec::new();
    for subject in subjects::ALL.iter().filter(|subject| subject.feed != Feed::Nothing) {
        let scenario = Scenario::new(Rate::ZERO, 60, SECONDS as i64);
        let scenario = if subject.feed.is_frames() { scenario.encoded(1.0, Rate::from_kbps(12_000)) } else { scenario };
        let record = Scenario {
            capacity: capacity.clone(),
            queue: Bytes::new(150_000),
            silence: Some((75, 80)),
            style: Style::Rfc8888,
            ..scenario
        }
        .run((subject.build)());
        panels.push(panel(subject.name, &capacity, &record));
    }
    let (file, drawn) =
        (Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/papers/trajectories.svg"), svg(&panels));
    if std::env::var_os("THALWEG_DRAW").is_some() {
        std::fs::write(&file, &drawn).expect("docs/papers can be written");
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == drawn, "a controller behaves otherwise than in {}: see charts.rs to draw it anew", file.display());
}

/// The panels as SVG; the same bytes for the same runs.
fn svg(panels: &[String]) -> String {
    let (columns, rows) = (COLUMNS, panels.len().div_ceil(COLUMNS));
    let (width, height) = (columns * (WIDTH + SPACE) + SPACE, rows * (HEIGHT + SPACE) + SPACE);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" \
         font-size=\"11\" fill=\"none\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    for (index, panel) in panels.iter().enumerate() {
        let (x, y) = (SPACE + index % columns * (WIDTH + SPACE), SPACE + index / columns * (HEIGHT + SPACE));
        let _ = writeln!(svg, "<g transform=\"translate({x} {y})\">\n{panel}</g>");
    }
    let _ = writeln!(
        svg,
        "<text x=\"{SPACE}\" y=\"{}\" fill=\"black\">{SECONDS} s from left to right, {MAX} from bottom to top. Grey: \
         capacity. Blue: sent. Green: the encoder's target. Red: longest time in the queue, {MAX_QUEUE_MS} ms a quarter \
         of the height.</text>",
        height - 6
    );
    svg + "</svg>\n"
}

/// The capacity, the sent rate, the controller's estimate, and the queue.
fn panel(title: &str, capacity: &Schedule, record: &Record) -> String {
    let points = SECONDS * 10 / POINT;
    let span = |point: usize| ((point * POINT) as f64 / 10.0, ((point + 1) * POINT) as f64 / 10.0);
    let rate = |rate: Rate| 1.0 - rate.as_bps_f64() / MAX.as_bps_f64();
    let passable = |point: usize| {
        let (from, to) = span(point);
        let (from, to) = (Time::from_millis((from * 1e3) as u64), Time::from_millis((to * 1e3) as u64));
        rate(capacity.between(from, to).per(to - from))
    };
    let line = |of: &dyn Fn(usize) -> f64| -> String {
        let place = |point: usize| {
            let (x, y) = ((point * WIDTH) as f64 / points as f64, of(point).clamp(0.0, 1.0) * HEIGHT as f64);
            format!("{x:.0} {y:.0}")
        };
        (0..points).map(place).collect::<Vec<String>>().join(" ")
    };
    let sent = line(&|point| rate(record.sent(span(point).0, span(point).1)));
    let target = line(&|point| rate(record.target(span(point).0)));
    let queue = line(&|point| {
        let worst = record.worst_queueing(span(point).0, span(point).1).as_millis_f64();
        1.0 - worst.min(MAX_QUEUE_MS) / MAX_QUEUE_MS / 4.0
    });
    format!(
        "<path d=\"M0 {HEIGHT} L{} L{WIDTH} {HEIGHT}\" fill=\"#e4e8ee\"/>\n\
         <path d=\"M0 {HEIGHT} L{queue} L{WIDTH} {HEIGHT}\" fill=\"#c03020\" fill-opacity=\"0.6\"/>\n\
         <path d=\"M{target}\" stroke=\"#208040\" stroke-dasharray=\"3 2\"/>\n\
         <path d=\"M{sent}\" stroke=\"#1050b0\"/>\n\
         <text y=\"-5\" fill=\"black\">{title}</text>\n",
        line(&passable)
    )
}
