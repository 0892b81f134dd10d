//! Shares of the path by flow.

use std::fmt::Write;

use super::chart::{Chart, Line, Stroke};
use super::colour;
use super::html::{CAPACITY, escape, halves, key};
use crate::outcome::Outcome;

/// Data delivered for each flow of a run over time, with a legend; empty for a sender without competitors.
pub(super) fn shares(run: &Outcome) -> String {
    let series = &run.series;
    if series.others.is_empty() {
        return String::new();
    }
    let others = series.others.iter().map(|share| (share.name.as_str(), &share.delivered_mbps));
    let flows = std::iter::once((run.summary.scheme.as_str(), &series.delivered_mbps)).chain(others);
    let capacity = halves(&series.capacity_mbps, series.bin_s);
    let top = capacity.iter().map(|point| point.1).fold(0.1, f64::max);
    let mut lines = vec![Line { colour: CAPACITY, stroke: Stroke::Area, points: capacity }];
    let mut html = String::from("<p class=\"legend\">");
    for (index, (name, delivered)) in flows.enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(html, "<span>{}{}</span>", key(colour(index)), escape(name));
        lines.push(Line { colour: colour(index), stroke: Stroke::Steps, points: halves(delivered, series.bin_s) });
    }
    html.push_str("</p>");
    let chart = Chart {
        title: "Delivered to each flow, Mbps",
        x: "",
        x_range: (0.0, run.summary.duration_s.max(1.0)),
        y_range: (0.0, top),
        logarithmic_x: false,
        logarithmic_y: false,
        height: 200.0,
        width_share: 1.0,
        lines,
    };
    html.push_str(&chart.figure());
    html
}
