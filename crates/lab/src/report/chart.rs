//! A chart: lines over an axis, as SVG.

use std::fmt::Write;

use super::scale::Scale;

/// The paper, in pixels.
const WIDTH: f64 = 1080.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 26.0;

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stroke {
    /// From point to point.
    Line,
    /// Level until the next point.
    Steps,
    /// Down to the axis, filled.
    Area,
    /// A short tick at the top for each point.
    Marks,
}

/// Points of one colour.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) colour: &'static str,
    pub(super) stroke: Stroke,
    pub(super) points: Vec<(f64, f64)>,
}

/// A chart before it is drawn.
#[derive(Debug, Clone)]
pub(super) struct Chart {
    pub(super) title: &'static str,
    /// What is on the axes, with units.
    pub(super) x: &'static str,
    pub(super) x_range: (f64, f64),
    pub(super) y_range: (f64, f64),
    pub(super) logarithmic_x: bool,
    pub(super) logarithmic_y: bool,
    pub(super) height: f64,
    pub(super) width_share: f64,
    pub(super) lines: Vec<Line>,
}

impl Chart {
    /// The chart as a figure with its title.
    pub(super) fn svg(&self) -> String {
        let width = WIDTH * self.width_share;
        let bottom = self.height - BOTTOM;
        let scale = |logarithmic: bool, (from, to): (f64, f64), start, end| {
            if logarithmic { Scale::logarithmic(from, to, start, end) } else { Scale::linear(from, to, start, end) }
        };
        let x = scale(self.logarithmic_x, self.x_range, LEFT, width - RIGHT);
        let y = scale(self.logarithmic_y, self.y_range, bottom, TOP);
        let mut svg = String::new();
        let height = self.height;
        // Writing to a string cannot fail.
        let _ = write!(
            svg,
            "<figure style=\"width:{:.2}%\"><figcaption>{}</figcaption><svg viewBox=\"0 0 {width:.0} {height:.0}\" \
             role=\"img\" aria-label=\"{}\">",
            self.width_share * 100.0,
            self.title,
            self.title
        );
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
        svg.push_str("</svg></figure>");
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
            (Stroke::Line, Some(_)) => write!(path, "L{px:.1} {py:.1}"),
        };
        level = Some(py);
        if line.stroke == Stroke::Area && index + 1 == line.points.len() {
            let _ = write!(path, "V{bottom:.1}Z");
        }
    }
    let style = if line.stroke == Stroke::Area {
        format!("fill=\"{}\" stroke=\"none\"", line.colour)
    } else {
        format!("fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\" stroke-linejoin=\"round\"", line.colour)
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
