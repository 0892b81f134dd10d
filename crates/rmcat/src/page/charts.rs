//! The two charts of a cell: rates, and delay with losses below it. Series are in seconds and in units of the plot's
//! height, which a transformation makes pixels.

use std::fmt::Write;

use thalweg_units::percentile;

use super::axes::{Axes, DRAWN, UNITS, curves, events, is_back, shown_links};
use super::line::{band, levels, line};
use super::number;
use crate::junit::escaped;
use crate::network::Phase;
use crate::outcome::{Outcome, Trajectory};

/// In units of the drawing, which are pixels on a screen of moderate width.
const WIDTH: f64 = 260.0;
const LEFT: f64 = 30.0;
const PLOT: f64 = WIDTH - LEFT - 10.0;
const TOP: f64 = 12.0;
const RATES: f64 = 100.0;
const DELAYS: f64 = 70.0;
/// Where losses are, and where the times stand.
const LOSSES: f64 = 11.0;
const TIMES: f64 = 12.0;
/// As many colours as the style sheet has.
const COLOURS: usize = 8;
/// How many points a pale line has at most: it is there to show how far runs differ.
const PALE_POINTS: f64 = 125.0;

/// The class of a flow's lines.
pub(super) fn class(flow: usize) -> String {
    format!("f{}", flow % COLOURS)
}

/// Draws the received rate and the attainable share of each flow, and the capacity of the link.
pub(super) fn rates(page: &mut String, outcome: &Outcome, axes: &Axes) {
    let height = TOP + RATES + 4.0;
    let network = outcome.network.as_ref();
    let what = if network.is_some() { "rates received" } else { "the controller's target" };
    open(page, outcome, what, &described(outcome), height);
    vertical(page, "Mbps", RATES, axes.rates().into_iter().map(|rate| (rate, axes.rate(rate))));
    plot(page, axes, RATES);
    let place = |mbps: f64| axes.rate(mbps).round() as i64;
    for (link, back) in network.map_or_else(Vec::new, |network| shown_links(network, axes.seconds)) {
        let pieces = capacity(outcome, link, axes.seconds);
        let sign = if back { -1.0 } else { 1.0 };
        path(page, "c", &levels(pieces.into_iter().map(|(from, until, mbps)| (from, until, place(sign * mbps)))));
    }
    if let Some(first) = outcome.trajectories.first().filter(|first| first.cross.iter().any(|rate| *rate > 0.0)) {
        let ends: Vec<Option<(i64, i64)>> = first.cross.iter().map(|rate| Some((place(0.0), place(*rate)))).collect();
        path(page, "t", &band(0.5, &ends));
    }
    // Flows that could have the same are one line: dots over dots would not be dots.
    let mut known = Vec::new();
    let mut attainable = String::new();
    for (flow, phases) in outcome.phases.iter().enumerate() {
        let value = |phase: &Phase| place(sign(outcome, flow) * phase.attainable_bps / 1e6);
        let mut pieces: Vec<_> = phases.iter().map(|phase| (phase.from_s, phase.until_s, value(phase))).collect();
        pieces.retain(|piece| !known.contains(piece));
        known.extend_from_slice(&pieces);
        attainable.push_str(&levels(pieces.into_iter()));
    }
    path(page, "a", &attainable);
    path(page, "z", &format!("M0 {}H{}", place(0.0), axes.seconds));
    let drawn = |trajectory: &Trajectory, flow: usize, step: usize| {
        let (_, rates) = curves(trajectory, network).swap_remove(flow);
        let (from, until) = times(outcome, flow);
        let rates = rates.get(from..until.min(rates.len())).unwrap_or_default();
        let points = rates.chunks(step).map(|chunk| {
            let mean = chunk.iter().sum::<f64>() / chunk.len() as f64;
            mean.is_finite().then(|| place(sign(outcome, flow) * mean))
        });
        line(from as f64 + step as f64 / 2.0, step, points)
    };
    let flows = outcome.trajectories.first().map_or(0, |first| curves(first, network).len());
    for flow in 0..flows {
        let pale = outcome.trajectories.iter().take(DRAWN).skip(1);
        let pale: String = pale.map(|trajectory| drawn(trajectory, flow, pale_step(axes))).collect();
        path(page, &format!("p {}", class(flow)), &pale);
    }
    for flow in 0..flows {
        let line = drawn(&outcome.trajectories[0], flow, 1);
        if !line.is_empty() {
            let _ = write!(page, "<path class=\"f {}\" data-flow=\"{flow}\" d=\"{line}\"/>", class(flow));
        }
    }
    page.push_str("</g>");
    let ticks: String = events(&outcome.phases)
        .into_iter()
        .map(|at| format!("M{} {}v4", number(LEFT + at / axes.seconds * PLOT), TOP + RATES))
        .collect();
    path(page, "e", &ticks);
    page.push_str("</svg>\n");
}

/// The first flow's one-way delay, and all flows' losses.
pub(super) fn delays(page: &mut String, outcome: &Outcome, axes: &Axes) {
    let height = TOP + DELAYS + LOSSES + TIMES;
    let first = outcome.trajectories.first();
    let medians: Vec<f64> = first.map_or_else(Vec::new, |first| first.delays.iter().map(|at| at[1]).collect());
    let known: Vec<f64> = medians.into_iter().filter(|ms| ms.is_finite()).collect();
    let median = percentile(&known, 0.5).map_or_else(|| "no packet arrived".into(), |ms| format!("median {ms:.0} ms"));
    let drops: u32 = first.map_or(0, |first| first.drops.iter().sum());
    let described = format!("First seed: {median}; packets dropped: {drops}.");
    open(page, outcome, "one-way delay of flow 0, and losses", &described, height);
    vertical(page, "ms", DELAYS, axes.delays().into_iter().map(|ms| (ms, axes.late(ms))));
    plot(page, axes, DELAYS);
    let place = |ms: f64| axes.late(ms).round() as i64;
    if let Some((base, full)) = axes.lines {
        path(page, "q", &levels([base, full].into_iter().map(|ms| (0.0, axes.seconds, place(ms)))));
    }
    let step = pale_step(axes);
    let median = |trajectory: &Trajectory, step: usize| {
        let points = trajectory.delays.chunks(step).map(|chunk| {
            let known: Vec<f64> = chunk.iter().map(|at| at[1]).filter(|ms| ms.is_finite()).collect();
            percentile(&known, 0.5).map(place)
        });
        line(step as f64 / 2.0, step, points)
    };
    let pale: String = outcome.trajectories.iter().take(DRAWN).skip(1).map(|of| median(of, step)).collect();
    if let Some(first) = first {
        let ends: Vec<Option<(i64, i64)>> = first
            .delays
            .iter()
            .map(|[low, _, high]| (low.is_finite() && high.is_finite()).then(|| (place(*low), place(*high))))
            .collect();
        path(page, "b", &band(0.5, &ends));
        path(page, "p", &pale);
        path(page, "m", &median(first, 1));
    }
    page.push_str("</g>");
    let dropped = first.map_or(&[][..], |first| &first.drops).iter().enumerate().filter(|(_, count)| **count > 0);
    let ticks: String = dropped
        .map(|(second, count)| {
            let x = LEFT + (second as f64 + 0.5) / axes.seconds * PLOT;
            // More than ten packets in a second look alike.
            format!("M{x:.1} {}v-{}", TOP + DELAYS + LOSSES - 1.0, 3 + (count / 2).min(6))
        })
        .collect();
    path(page, "k", &ticks);
    let bottom = TOP + DELAYS + LOSSES + TIMES - 2.0;
    for at in axes.times() {
        let x = number(LEFT + at / axes.seconds * PLOT);
        let unit = if at == 0.0 { " s" } else { "" };
        let _ = write!(page, "<text x=\"{x}\" y=\"{bottom}\" class=\"x\">{}{unit}</text>", number(at));
    }
    page.push_str("</svg>\n");
}

/// -1 for a flow of the way back, which is drawn below the axis.
fn sign(outcome: &Outcome, flow: usize) -> f64 {
    if outcome.network.as_ref().is_some_and(|network| is_back(network, flow)) { -1.0 } else { 1.0 }
}

/// A link's rates in Mbps, each from one time to another; the last stays.
fn capacity(outcome: &Outcome, link: usize, seconds: f64) -> Vec<(f64, f64, f64)> {
    let rates = outcome.network.as_ref().map_or(&[][..], |network| &network.links[link].rates);
    let (mut from, mut pieces) = (0.0, Vec::new());
    for (place, (rate, lasts)) in rates.iter().enumerate() {
        let until = if place + 1 == rates.len() { seconds } else { (from + lasts.as_secs_f64()).min(seconds) };
        if from < until {
            pieces.push((from, until, rate.as_bps_f64() / 1e6));
        }
        from = until;
    }
    pieces
}

/// The seconds between which a flow is drawn.
fn times(outcome: &Outcome, flow: usize) -> (usize, usize) {
    let flow = outcome.network.as_ref().and_then(|network| network.flows.get(flow));
    let (from, until) = flow.map_or((0.0, f64::INFINITY), |flow| flow.times);
    (from.max(0.0) as usize, until.min(outcome.duration_s).ceil() as usize)
}

fn pale_step(axes: &Axes) -> usize {
    ((axes.seconds / PALE_POINTS).ceil() as usize).max(1)
}

fn described(outcome: &Outcome) -> String {
    let Some(first) = outcome.trajectories.first() else { return "Not played.".into() };
    let network = outcome.network.as_ref();
    let flows = curves(first, network).into_iter().map(|(flow, rates)| {
        let (from, until) = times(outcome, flow);
        let known: Vec<f64> = rates.into_iter().take(until).skip(from).filter(|rate| rate.is_finite()).collect();
        let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
        format!("flow {flow} {} Mbps", number(mean))
    });
    format!("Means of the first seed: {}.", flows.collect::<Vec<_>>().join(", "))
}

fn open(page: &mut String, outcome: &Outcome, what: &str, described: &str, height: f64) {
    let (case, scheme) = (escaped(&outcome.case), escaped(&outcome.scheme));
    let _ = write!(
        page,
        "<svg class=\"chart\" role=\"img\" viewBox=\"0 0 {WIDTH} {height}\"><title>{case}, {scheme}: {what}</title>\
         <desc>{described}</desc>"
    );
}

/// Figures and lines of the vertical axis; its unit stands above.
fn vertical(page: &mut String, unit: &str, height: f64, ticks: impl Iterator<Item = (f64, f64)>) {
    let mut grid = String::new();
    for (value, place) in ticks {
        let y = number(TOP + place / UNITS * height);
        let _ = write!(grid, "M{LEFT} {y}h{PLOT}");
        // What goes the way back is no negative rate.
        let text = number(value.abs());
        let _ = write!(page, "<text x=\"{}\" y=\"{y}\" dy=\"3\" class=\"y\">{text}</text>", LEFT - 4.0);
    }
    path(page, "g", &grid);
    let _ = write!(page, "<text x=\"{LEFT}\" y=\"8\">{unit}</text>");
}

fn plot(page: &mut String, axes: &Axes, height: f64) {
    let _ = write!(
        page,
        "<g transform=\"translate({LEFT} {TOP}) scale({:.4} {:.3})\">",
        PLOT / axes.seconds,
        height / UNITS
    );
}

fn path(page: &mut String, class: &str, path: &str) {
    if !path.is_empty() {
        let _ = write!(page, "<path class=\"{class}\" d=\"{path}\"/>");
    }
}
