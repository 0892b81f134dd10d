//! The curves as a self-contained SVG.

use std::fmt::Write;

use super::contenders::Aim;
use super::curve::{Curve, Point};
use super::lines::{Chart, Line, Stroke};
use super::{Measured, RANGE};

/// Height above the rows, for the legend.
const HEAD: f64 = 56.0;
/// Height of a row, one for each video: its title, its panels' titles and the panels.
const ROW: f64 = 278.0;
const TITLES: f64 = 38.0;
/// Left position of the text in a row and in a panel.
const LEFT: f64 = 44.0;

/// A panel: its title, the curves it shows, and the value over the rate.
struct Panel {
    title: &'static str,
    aim: Aim,
    value: fn(&Point) -> f64,
    /// Begins the axis at zero, as for times.
    from_zero: bool,
}

const PANELS: [Panel; 3] = [
    Panel { title: "PSNR, dB: one quantiser", aim: Aim::Quantizer, value: |point| point.psnr_db, from_zero: false },
    Panel { title: "PSNR, dB: keeping a rate", aim: Aim::Rate, value: |point| point.psnr_db, from_zero: false },
    Panel {
        title: "CPU ms a picture: one quantiser",
        aim: Aim::Quantizer,
        value: |point| point.encode_ms,
        from_zero: true,
    },
];

/// The style of an encoder's curve. The colours are distinguishable for most colour-blind readers (Okabe and Ito 2008);
/// libvpx is dark.
fn stroke(encoder: &str) -> (&'static str, Stroke) {
    match encoder {
        "fast" => ("#56b4e9", Stroke::Line),
        "standard" => ("#0072b2", Stroke::Line),
        "slow" => ("#009e73", Stroke::Line),
        "libvpx -8" => ("#24292f", Stroke::Line),
        _ => ("#24292f", Stroke::Dashes),
    }
}

/// All videos, one below the other.
pub(crate) fn svg(videos: &[Measured]) -> String {
    let (width, height) = (Chart::WIDTH, HEAD + ROW * videos.len() as f64);
    // Writing to a string cannot fail.
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         font-family=\"system-ui,sans-serif\" font-size=\"12\" fill=\"#57606a\">\n\
         <style>.grid{{stroke:#eef1f4;fill:none}}.unit{{fill:#8c959f}}</style>\n\
         <rect width=\"{width:.0}\" height=\"{height:.0}\" fill=\"#fff\"/>\n"
    );
    legend(&mut svg, videos);
    let width = width / PANELS.len() as f64;
    for (row, video) in videos.iter().enumerate() {
        let top = HEAD + ROW * row as f64;
        let title = format!("{}, {}, {} pictures", video.video, video.size, video.pictures);
        text(&mut svg, (LEFT, top + 8.0), "font-weight=\"600\" font-size=\"13\" fill=\"#1b1f24\"", &title);
        for (column, panel) in PANELS.iter().enumerate() {
            draw(&mut svg, panel, &video.curves, (width * column as f64, top), width);
        }
    }
    svg.push_str("</svg>\n");
    svg
}

fn legend(svg: &mut String, videos: &[Measured]) {
    let mut encoders: Vec<&str> = Vec::new();
    for curve in videos.iter().flat_map(|video| &video.curves) {
        if !encoders.contains(&curve.encoder.as_str()) {
            encoders.push(&curve.encoder);
        }
    }
    let mut x = LEFT;
    for encoder in encoders {
        let (colour, stroke) = stroke(encoder);
        let dashes = if stroke == Stroke::Dashes { "5 3" } else { "" };
        let _ = writeln!(
            svg,
            "<path d=\"M{x} 20h28\" stroke=\"{colour}\" stroke-width=\"2.5\" stroke-dasharray=\"{dashes}\"/>"
        );
        let label = if encoder.starts_with("libvpx") { encoder.into() } else { format!("ours, {encoder}") };
        text(svg, (x + 34.0, 24.0), "fill=\"#1b1f24\"", &label);
        x += 34.0 + 7.5 * label.len() as f64 + 22.0;
    }
}

fn draw(svg: &mut String, panel: &Panel, curves: &[Curve], (left, top): (f64, f64), width: f64) {
    let curves = curves.iter().filter(|curve| curve.aim == panel.aim);
    let line = |curve: &Curve| {
        let (colour, stroke) = stroke(&curve.encoder);
        Line { colour, stroke, points: curve.within(RANGE, &panel.value) }
    };
    let lines: Vec<Line> = curves.map(line).collect();
    let values = || lines.iter().flat_map(|line| &line.points).map(|&(_, value)| value);
    let (min, max) = values().fold((f64::INFINITY, 0.0), |(min, max), value| (value.min(min), value.max(max)));
    let min = if panel.from_zero { 0.0 } else { min };
    text(svg, (left + LEFT, top + 28.0), "", panel.title);
    if min >= max {
        text(svg, (left + LEFT, top + 60.0), "", "no curve in this range");
        return;
    }
    let chart = Chart {
        x: "kbit/s",
        x_range: RANGE,
        y_range: (min.floor(), max.ceil()),
        height: ROW - TITLES,
        width_share: 1.0 / PANELS.len() as f64,
        lines,
    };
    let (top, height) = (top + TITLES, chart.height);
    svg.push_str(&chart.svg(&format!("x=\"{left:.0}\" y=\"{top:.0}\" width=\"{width:.0}\" height=\"{height:.0}\"")));
}

fn text(svg: &mut String, (x, y): (f64, f64), style: &str, text: &str) {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" {style}>{text}</text>");
}
