//! The curves as a picture: an SVG that stands alone.

use std::fmt::Write;

use super::contenders::Aim;
use super::curve::Point;
use super::{Measured, RANGE};

/// Paper, in pixels: a row for each video, a panel for each question.
const WIDTH: f64 = 1080.0;
/// Right of the panels, for half of the last number.
const MARGIN: f64 = 12.0;
const HEAD: f64 = 56.0;
const ROW: f64 = 278.0;
/// Around a panel's axes.
const LEFT: f64 = 44.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 42.0;
const BOTTOM: f64 = 36.0;

/// What is asked of the curves: a title, whose curves, and the value over the rate.
struct Panel {
    title: &'static str,
    aim: Aim,
    value: fn(&Point) -> f64,
    /// Values that are times begin at nothing.
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

/// How an encoder is drawn. Colours that differ for most of the colour-blind (Okabe and Ito 2008); libvpx is dark.
fn stroke(encoder: &str) -> (&'static str, &'static str) {
    match encoder {
        "fast" => ("#56b4e9", ""),
        "standard" => ("#0072b2", ""),
        "slow" => ("#009e73", ""),
        "libvpx -8" => ("#24292f", ""),
        _ => ("#24292f", "5 3"),
    }
}

/// All videos, one below the other.
pub(crate) fn svg(videos: &[Measured]) -> String {
    let (width, height) = (WIDTH + MARGIN, HEAD + ROW * videos.len() as f64);
    // Writing to a string cannot fail.
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         font-family=\"system-ui,sans-serif\" font-size=\"12\" fill=\"#57606a\">\n\
         <rect width=\"{width:.0}\" height=\"{height:.0}\" fill=\"#fff\"/>\n"
    );
    legend(&mut svg, videos);
    let width = WIDTH / PANELS.len() as f64;
    for (row, video) in videos.iter().enumerate() {
        let top = HEAD + ROW * row as f64;
        let title = format!("{}, {}, {} pictures", video.video, video.size, video.pictures);
        text(&mut svg, (LEFT, top + 8.0), "start", "font-weight=\"600\" font-size=\"13\" fill=\"#1b1f24\"", &title);
        for (column, panel) in PANELS.iter().enumerate() {
            draw(&mut svg, panel, video, (width * column as f64, top), width);
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
        let (colour, dashes) = stroke(encoder);
        let _ = writeln!(
            svg,
            "<path d=\"M{x} 20h28\" stroke=\"{colour}\" stroke-width=\"2.5\" stroke-dasharray=\"{dashes}\"/>"
        );
        let label = if encoder.starts_with("libvpx") { encoder.into() } else { format!("ours, {encoder}") };
        text(svg, (x + 34.0, 24.0), "start", "fill=\"#1b1f24\"", &label);
        x += 34.0 + 7.5 * label.len() as f64 + 22.0;
    }
    text(svg, (WIDTH - RIGHT, 24.0), "end", "", "over kbit/s, 400 to 4000");
}

fn draw(svg: &mut String, panel: &Panel, video: &Measured, (left, top): (f64, f64), width: f64) {
    let lines: Vec<_> = video
        .curves
        .iter()
        .filter(|curve| curve.aim == panel.aim)
        .map(|curve| (stroke(&curve.encoder), curve.within(RANGE, &panel.value)))
        .collect();
    let values = || lines.iter().flat_map(|(_, points)| points).map(|&(_, value)| value);
    let (least, most) = values().fold((f64::INFINITY, 0.0), |(least, most), value| (value.min(least), value.max(most)));
    let least = if panel.from_zero { 0.0 } else { least };
    text(svg, (left + LEFT, top + 28.0), "start", "", panel.title);
    if least >= most {
        text(svg, (left + LEFT, top + 60.0), "start", "", "no curve in this range");
        return;
    }
    let step = if most - least > 12.0 {
        4.0
    } else if most - least > 5.0 {
        2.0
    } else {
        1.0
    };
    let (from, to) = ((least / step).floor() * step, (most / step).ceil() * step);
    let (start, end, bottom) = (left + LEFT, left + width - RIGHT, top + ROW - BOTTOM);
    let x = |kbps: f64| start + (kbps / RANGE.0).ln() / (RANGE.1 / RANGE.0).ln() * (end - start);
    let y = |value: f64| bottom - (value - from) / (to - from) * (bottom - top - TOP);
    for index in 0..=((to - from) / step).round() as i32 {
        let tick = from + step * f64::from(index);
        let at = y(tick);
        let _ = writeln!(svg, "<path d=\"M{start:.1} {at:.1}H{end:.1}\" stroke=\"#eef1f4\"/>");
        text(svg, (start - 6.0, at + 4.0), "end", "", &format!("{tick:.0}"));
    }
    for tick in [400.0, 700.0, 1200.0, 2000.0, 4000.0] {
        let at = x(tick);
        let _ = writeln!(svg, "<path d=\"M{at:.1} {:.1}V{bottom:.1}\" stroke=\"#eef1f4\"/>", top + TOP);
        text(svg, (at, bottom + 16.0), "middle", "", &format!("{tick:.0}"));
    }
    for ((colour, dashes), points) in lines {
        let path: Vec<_> = points.iter().map(|&(kbps, value)| format!("{:.1} {:.1}", x(kbps), y(value))).collect();
        let _ = writeln!(
            svg,
            "<path d=\"M{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\" stroke-dasharray=\"{dashes}\" \
             stroke-linejoin=\"round\"/>",
            path.join("L")
        );
    }
}

fn text(svg: &mut String, (x, y): (f64, f64), anchor: &str, style: &str, text: &str) {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" {style}>{text}</text>");
}
