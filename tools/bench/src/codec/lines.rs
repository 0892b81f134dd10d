//! A line chart as SVG, with a logarithmic horizontal axis.

use std::fmt::Write;

use super::scale::Scale;

/// Margins around the axes, in pixels.
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 26.0;

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stroke {
    /// A solid line.
    Line,
    /// A dashed line.
    Dashes,
}

/// A series of points in one colour.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// A CSS colour such as `#0072b2`.
    pub(super) colour: &'static str,
    /// Drawing style.
    pub(super) stroke: Stroke,
    /// The points, from left to right.
    pub(super) points: Vec<(f64, f64)>,
}

/// A chart before it is drawn.
#[derive(Debug, Clone)]
pub(super) struct Chart {
    /// The unit of the horizontal axis.
    pub(super) x: &'static str,
    /// The range of the horizontal axis, above 0.
    pub(super) x_range: (f64, f64),
    /// The range of the vertical axis.
    pub(super) y_range: (f64, f64),
    /// Height in pixels.
    pub(super) height: f64,
    /// Width as a share of [`Chart::WIDTH`].
    pub(super) width_share: f64,
    /// The lines, drawn in order, the last on top.
    pub(super) lines: Vec<Line>,
}

impl Chart {
    /// The width of a whole page in pixels.
    pub(super) const WIDTH: f64 = 1080.0;

    /// The chart as an `svg` element with these attributes. The page must define styles for `text`,
    /// `.grid` and `.unit`.
    pub(super) fn svg(&self, attributes: &str) -> String {
        let width = Chart::WIDTH * self.width_share;
        let bottom = self.height - BOTTOM;
        let x = Scale::logarithmic(self.x_range, LEFT, width - RIGHT);
        let y = Scale::linear(self.y_range, bottom, TOP);
        let mut svg = format!("<svg viewBox=\"0 0 {width:.0} {:.0}\" {attributes}>", self.height);
        // Writing to a string cannot fail.
        for tick in y.ticks(5) {
            let at = y.place(tick);
            let _ = write!(svg, "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{:.1}\"/>", width - RIGHT);
            let _ = write!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 6.0,
                at + 4.0,
                number(tick)
            );
        }
        for tick in x.ticks((10.0 * self.width_share) as usize + 1) {
            let at = x.place(tick);
            let _ = write!(svg, "<path class=\"grid\" d=\"M{at:.1} {TOP}V{bottom:.1}\"/>");
            let _ = write!(
                svg,
                "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                bottom + 16.0,
                number(tick)
            );
        }
        let _ = write!(
            svg,
            "<text class=\"unit\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            width - RIGHT,
            bottom - 4.0,
            self.x
        );
        for line in &self.lines {
            draw(&mut svg, line, &x, &y);
        }
        svg.push_str("</svg>");
        svg
    }
}

fn draw(svg: &mut String, line: &Line, x: &Scale, y: &Scale) {
    let place = |(at, value): &(f64, f64)| format!("{:.1} {:.1}", x.place(*at), y.place(*value));
    let path = line.points.iter().map(place).collect::<Vec<_>>().join("L");
    let dashes = if line.stroke == Stroke::Dashes { " stroke-dasharray=\"5 3\"" } else { "" };
    let colour = line.colour;
    // Writing to a string cannot fail.
    let _ = write!(
        svg,
        "<path fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.6\" stroke-linejoin=\"round\"{dashes} d=\"M{path}\"/>"
    );
}

fn number(value: f64) -> String {
    if value.abs() >= 10.0 || value == value.round() {
        format!("{value:.0}")
    } else {
        format!("{value:.2}").trim_end_matches('0').to_string()
    }
}
