//! Charts of runs: one panel each, with the capacity, the sent rate, the controller's estimate, and the queue.

use std::fmt::Write;

use thalweg_units::{Rate, Time};

use super::{Record, Schedule};

/// A panel's size, the margin around it, and how many are side by side.
const WIDTH: usize = 300;
const HEIGHT: usize = 120;
const SPACE: usize = 24;
const COLUMNS: usize = 3;
/// The max queueing time shown, in a quarter of the panel.
const MAX_QUEUE_MS: f64 = 1000.0;
/// Tenths of a second per point.
const POINT: usize = 5;

/// The panels of a chart.
pub struct Chart<'a> {
    capacity: &'a Schedule,
    seconds: usize,
    max: Rate,
    panels: Vec<(String, Record)>,
}

impl<'a> Chart<'a> {
    /// A chart of runs of `seconds` seconds on one path; shows rates up to `max`.
    pub fn new(capacity: &'a Schedule, seconds: usize, max: Rate) -> Chart<'a> {
        Chart { capacity, seconds, max, panels: Vec::new() }
    }

    pub fn add(&mut self, title: &str, record: Record) {
        self.panels.push((title.to_owned(), record));
    }

    /// The chart as SVG; the same bytes for the same runs.
    pub fn svg(&self) -> String {
        let (columns, rows) = (COLUMNS, self.panels.len().div_ceil(COLUMNS));
        let (width, height) = (columns * (WIDTH + SPACE) + SPACE, rows * (HEIGHT + SPACE) + SPACE);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" \
             font-size=\"11\" fill=\"none\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
        );
        for (index, panel) in self.panels.iter().enumerate() {
            let (x, y) = (SPACE + index % columns * (WIDTH + SPACE), SPACE + index / columns * (HEIGHT + SPACE));
            let _ = writeln!(svg, "<g transform=\"translate({x} {y})\">\n{}</g>", self.panel(&panel.0, &panel.1));
        }
        let _ = writeln!(svg, "<text x=\"{SPACE}\" y=\"{}\" fill=\"black\">{}</text>", height - 6, self.legend());
        svg + "</svg>\n"
    }

    fn legend(&self) -> String {
        format!(
            "{} s from left to right, {} from bottom to top. Grey: capacity. Blue: sent. Green: the encoder's target. Red: \
             longest time in the queue, {} ms a quarter of the height.",
            self.seconds, self.max, MAX_QUEUE_MS
        )
    }

    fn panel(&self, title: &str, record: &Record) -> String {
        let points = self.seconds * 10 / POINT;
        let span = |point: usize| ((point * POINT) as f64 / 10.0, ((point + 1) * POINT) as f64 / 10.0);
        let rate = |rate: Rate| 1.0 - rate.as_bps_f64() / self.max.as_bps_f64();
        let capacity = |point: usize| {
            let (from, to) = span(point);
            let (from, to) = (Time::from_millis((from * 1e3) as u64), Time::from_millis((to * 1e3) as u64));
            rate(self.capacity.between(from, to).per(to - from))
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
            line(&capacity)
        )
    }
}
