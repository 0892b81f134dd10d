//! Two figures of each combination of schemes and parameters, and the front of those that none beats in both.

use std::fmt::Write;

use super::{Plot, label, mean};
use crate::metrics::{Better, Column};
use crate::report::colours::style;
use crate::report::html::escape;
use crate::statistics::{Estimate, distinct};
use crate::sweep::Row;

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 460.0;
/// The margins of the plot: to the left, to the right, above and below.
const MARGINS: [f64; 4] = [64.0, 190.0, 12.0, 48.0];

/// A combination of all axes but links and seeds.
struct Point {
    scheme: String,
    label: String,
    at: [Estimate; 2],
}

impl Point {
    /// Returns true if it is no worse than another in both figures, and better in one.
    fn beats(&self, other: &Point, figures: [&Column; 2]) -> bool {
        let ahead = |place: usize| {
            let difference = self.at[place].mean - other.at[place].mean;
            if figures[place].better() == Some(Better::Lower) { -difference } else { difference }
        };
        ahead(0) >= 0.0 && ahead(1) >= 0.0 && ahead(0) + ahead(1) > 0.0
    }
}

fn points(plot: &Plot, rows: &[Row]) -> Vec<Point> {
    let combination = |row: &Row| (row.scheme.clone(), format!("{:?}", row.axes));
    let several = |place: usize| distinct(rows.iter().map(|row| row.axes[place].1.to_string())).len() > 1;
    let point = |wanted| {
        let here: Vec<&Row> = rows.iter().filter(|row| combination(row) == wanted).collect();
        let axes = here.first()?.axes.iter().enumerate().filter(|(place, _)| several(*place));
        let axes: Vec<String> = axes.map(|(_, (name, cell))| format!("{name} {cell}")).collect();
        let scheme = here.first()?.scheme.clone();
        let label = [vec![scheme.clone()], axes].concat().join(", ");
        Some(Point { scheme, label, at: [mean(&here, plot.front[0])?, mean(&here, plot.front[1])?] })
    };
    distinct(rows.iter().map(combination)).into_iter().filter_map(point).collect()
}

pub(super) fn draw(page: &mut String, plot: &Plot, rows: &[Row]) {
    let points = points(plot, rows);
    let [across, up] = plot.front;
    let words = |column: &Column| match column.better() {
        Some(Better::Lower) => "lower is better",
        _ => "higher is better",
    };
    // Writing to a string cannot fail.
    let _ = write!(
        page,
        "<h2>{} over {}</h2><p class=\"quiet\">Of the first, {}; of the second, {}. The line joins what nothing beats in \
         both.</p>",
        escape(&label(up)),
        escape(&label(across)),
        words(up),
        words(across)
    );
    if points.is_empty() {
        page.push_str("<p>No run has both figures.</p>");
        return;
    }
    legend(page, &points);
    let scales = [0, 1].map(|place| Scale::of(points.iter().map(|point| &point.at[place])));
    let [left, right, above, below] = MARGINS;
    let x = |value: f64| left + scales[0].share(value) * (WIDTH - left - right);
    let y = |value: f64| HEIGHT - below - scales[1].share(value) * (HEIGHT - above - below);
    let _ = write!(page, "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" role=\"img\" aria-label=\"Front\">");
    for tick in scales[0].ticks() {
        let at = x(tick);
        let _ = write!(
            page,
            "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{above}\" y2=\"{}\" stroke=\"var(--grid)\"/><text class=\"quiet\" \
             x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            HEIGHT - below,
            HEIGHT - below + 18.0,
            across.text(tick)
        );
    }
    for tick in scales[1].ticks() {
        let at = y(tick);
        let _ = write!(
            page,
            "<line x1=\"{left}\" x2=\"{}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"var(--grid)\"/><text class=\"quiet\" x=\"{}\" \
             y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - right,
            left - 8.0,
            at + 4.0,
            up.text(tick)
        );
    }
    let _ = write!(
        page,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text><text transform=\"translate(14 {}) rotate(-90)\" \
         text-anchor=\"middle\">{}</text>",
        (left + WIDTH - right) / 2.0,
        HEIGHT - 8.0,
        escape(&label(across)),
        (above + HEIGHT - below) / 2.0,
        escape(&label(up))
    );
    let mut front: Vec<&Point> =
        points.iter().filter(|point| !points.iter().any(|other| other.beats(point, plot.front))).collect();
    front.sort_by(|one, other| one.at[0].mean.total_cmp(&other.at[0].mean));
    let line: Vec<String> =
        front.iter().map(|point| format!("{:.1},{:.1}", x(point.at[0].mean), y(point.at[1].mean))).collect();
    let _ = write!(
        page,
        "<polyline class=\"front\" points=\"{}\" fill=\"none\" stroke=\"var(--quiet)\" stroke-dasharray=\"5 4\"/>",
        line.join(" ")
    );
    for point in &points {
        let (colour, fill) = colours(&point.scheme);
        let (at_x, at_y) = (x(point.at[0].mean), y(point.at[1].mean));
        let [(low, high), (bottom, top)] = point.at.map(|at| at.interval.unwrap_or((at.mean, at.mean)));
        let _ = write!(
            page,
            "<g stroke=\"{colour}\" stroke-opacity=\".55\"><line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{at_y:.1}\" y2=\"{at_y:.1}\"/>\
             <line x1=\"{at_x:.1}\" x2=\"{at_x:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/></g><circle cx=\"{at_x:.1}\" cy=\"{at_y:.1}\" \
             r=\"4\" fill=\"{fill}\" stroke=\"{colour}\" stroke-width=\"1.5\"><title>{}: {}, {}</title></circle>",
            x(low),
            x(high),
            y(bottom),
            y(top),
            escape(&point.label),
            across.text(point.at[0].mean),
            up.text(point.at[1].mean)
        );
    }
    names(page, &front, |point| (x(point.at[0].mean), y(point.at[1].mean)));
    page.push_str("</svg>");
}

/// The colour of a scheme's points, and what fills them: schemes whose lines have dashes have hollow points.
fn colours(scheme: &str) -> (&'static str, &'static str) {
    let style = style(scheme, 0);
    (style.light, if style.dash.is_empty() { style.light } else { "var(--paper)" })
}

/// Which points are whose.
fn legend(page: &mut String, points: &[Point]) {
    page.push_str("<p>");
    for scheme in distinct(points.iter().map(|point| point.scheme.as_str())) {
        let (colour, fill) = colours(scheme);
        // Writing to a string cannot fail.
        let _ = write!(
            page,
            "<svg class=\"mark\" viewBox=\"0 0 12 12\" width=\"12\"><circle cx=\"6\" cy=\"6\" r=\"4\" fill=\"{fill}\" \
             stroke=\"{colour}\" stroke-width=\"1.5\"/></svg> {} &emsp;",
            escape(scheme)
        );
    }
    page.push_str("</p>");
}

/// The names of the points of the front to the right of the plot, from top to bottom, each with a line to its point.
fn names(page: &mut String, front: &[&Point], place: impl Fn(&Point) -> (f64, f64)) {
    let mut sorted = front.to_vec();
    sorted.sort_by(|one, other| place(one).1.total_cmp(&place(other).1));
    let [_, right, above, _] = MARGINS;
    let mut next = above + 10.0;
    for point in sorted {
        let (x, y) = place(point);
        let at = next.max(y);
        next = at + 16.0;
        let text = WIDTH - right + 14.0;
        let _ = write!(
            page,
            "<line x1=\"{:.1}\" y1=\"{y:.1}\" x2=\"{}\" y2=\"{at:.1}\" stroke=\"var(--line)\"/><text x=\"{text}\" y=\"{:.1}\" \
             style=\"fill:{}\">{}</text>",
            x + 6.0,
            text - 4.0,
            at + 4.0,
            style(&point.scheme, 0).light,
            escape(&point.label)
        );
    }
}

/// A linear scale.
struct Scale {
    low: f64,
    high: f64,
    tick: f64,
}

impl Scale {
    /// A scale that has all means and intervals, between two ticks.
    fn of<'a>(estimates: impl Iterator<Item = &'a Estimate>) -> Scale {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for estimate in estimates {
            let (bottom, top) = estimate.interval.unwrap_or((estimate.mean, estimate.mean));
            (low, high) = (low.min(bottom).min(estimate.mean), high.max(top).max(estimate.mean));
        }
        let span = if high > low { high - low } else { high.abs().max(1e-9) };
        let power = 10f64.powf((span / 5.0).log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
        let tick = steps.into_iter().find(|step| *step >= span / 5.0 * 0.999_999).unwrap_or(power);
        let (low, high) = ((low / tick).floor() * tick, (high / tick).ceil() * tick);
        Scale { low, high: if high > low { high } else { low + tick }, tick }
    }

    fn share(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }

    fn ticks(&self) -> Vec<f64> {
        let count = ((self.high - self.low) / self.tick).round() as i64;
        (0..=count).map(|place| self.low + place as f64 * self.tick).collect()
    }
}
