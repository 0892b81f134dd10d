//! A line chart as SVG.

use std::fmt::Write;

use super::scale::Scale;

/// Margins around the axes, in pixels.
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 26.0;

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stroke {
    /// A line from point to point.
    Line,
    /// A dashed line from point to point.
    Dashes,
    /// Steps: constant until the next point.
    Steps,
    /// An area filled down to the axis.
    Area,
    /// A short tick at the top for each point.
    Marks,
}

/// A series of points in one colour.
#[derive(Debug, Clone)]
pub struct Line {
    /// A CSS colour such as `#0072b2`.
    pub colour: &'static str,
    /// Drawing style.
    pub stroke: Stroke,
    /// The points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// A chart before it is drawn.
#[derive(Debug, Clone)]
pub struct Chart {
    /// The title.
    pub title: &'static str,
    /// The unit of the horizontal axis.
    pub x: &'static str,
    /// The range of the horizontal axis.
    pub x_range: (f64, f64),
    /// The range of the vertical axis.
    pub y_range: (f64, f64),
    /// Whether the horizontal axis is logarithmic; its range is then above 0.
    pub logarithmic_x: bool,
    /// Whether the vertical axis is logarithmic; its range is then above 0.
    pub logarithmic_y: bool,
    /// Height in pixels.
    pub height: f64,
    /// Width as a share of [`Chart::WIDTH`].
    pub width_share: f64,
    /// The lines, drawn in order, the last on top.
    pub lines: Vec<Line>,
}

impl Chart {
    /// The width of a whole page in pixels.
    pub const WIDTH: f64 = 1080.0;

    /// The chart as a figure with its title.
    pub(super) fn figure(&self) -> String {
        let (percent, title) = (self.width_share * 100.0, self.title);
        let svg = self.svg(&format!("role=\"img\" aria-label=\"{title}\""));
        format!("<figure style=\"width:{percent:.2}%\"><figcaption>{title}</figcaption>{svg}</figure>")
    }

    /// The chart without its title as an `svg` element with these attributes. The page must define styles for `text`,
    /// `.grid` and `.unit`.
    pub fn svg(&self, attributes: &str) -> String {
        let width = Chart::WIDTH * self.width_share;
        let bottom = self.height - BOTTOM;
        let scale = |logarithmic: bool, (from, to): (f64, f64), start, end| {
            if logarithmic { Scale::logarithmic(from, to, start, end) } else { Scale::linear(from, to, start, end) }
        };
        let x = scale(self.logarithmic_x, self.x_range, LEFT, width - RIGHT);
        let y = scale(self.logarithmic_y, self.y_range, bottom, TOP);
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
            draw(&mut svg, line, &x, &y, bottom);
        }
        svg.push_str("</svg>");
        svg
    }
}

fn draw(svg: &mut String, line: &Line, x: &Scale, y: &Scale, bottom: f64) {
    let mut path = String::new();
    let mut level: Option<f64> = None;
    for (index, (at, value)) in line.points.iter().enumerate() {
        let (px, py) = (x.place(*at), y.place(*value));
        let _ = match (line.stroke, level) {
            (Stroke::Marks, _) => write!(path, "M{px:.1} {TOP}v8"),
            (Stroke::Area, None) => write!(path, "M{px:.1} {bottom:.1}V{py:.1}"),
            (Stroke::Steps | Stroke::Area, Some(_)) => write!(path, "H{px:.1}V{py:.1}"),
            (_, None) => write!(path, "M{px:.1} {py:.1}"),
            (Stroke::Line | Stroke::Dashes, Some(_)) => write!(path, "L{px:.1} {py:.1}"),
        };
        level = Some(py);
        if line.stroke == Stroke::Area && index + 1 == line.points.len() {
            let _ = write!(path, "V{bottom:.1}Z");
        }
    }
    let dashes = if line.stroke == Stroke::Dashes { " stroke-dasharray=\"5 3\"" } else { "" };
    let style = if line.stroke == Stroke::Area {
        format!("fill=\"{}\" stroke=\"none\"", line.colour)
    } else {
        format!("fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\" stroke-linejoin=\"round\"{dashes}", line.colour)
    };
    let _ = write!(svg, "<path {style} d=\"{path}\"/>");
}

pub(super) fn number(value: f64) -> String {
    if value.abs() >= 10.0 || value == value.round() {
        format!("{value:.0}")
    } else {
        format!("{value:.2}").trim_end_matches('0').to_string()
    }
}
