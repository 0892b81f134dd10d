//! A figure over two axes, a map for each scheme where schemes are neither of them.

use std::fmt::Write;

use super::{Plot, at, label, mean, values};
use crate::metrics::Better;
use crate::report::html::escape;
use crate::statistics::Estimate;
use crate::sweep::Row;

/// The size of a cell.
const WIDE: f64 = 92.0;
const HIGH: f64 = 42.0;
/// The width of a letter of a label, about.
const LETTER: f64 = 7.2;
/// The opacity of the least and of the greatest value; darker, the text on it would not stand out.
const SHADES: (f64, f64) = (0.06, 0.55);

pub(super) fn draw(page: &mut String, plot: &Plot, rows: &[Row]) {
    let [across, down] = &plot.axes;
    let (columns, lines) = (values(rows, across), values(rows, down));
    let schemes = if plot.axes.iter().any(|axis| axis == "scheme") {
        vec![None]
    } else {
        values(rows, "scheme").into_iter().map(Some).collect()
    };
    let maps: Vec<_> = schemes
        .into_iter()
        .map(|scheme| {
            let in_map = |row: &&Row| scheme.as_ref().is_none_or(|scheme| row.scheme == *scheme);
            let cell = |column: &String, line: &String| {
                let here: Vec<&Row> = rows
                    .iter()
                    .filter(in_map)
                    .filter(|row| at(row, across) == *column && at(row, down) == *line)
                    .collect();
                mean(&here, plot.figure)
            };
            let cells: Vec<Vec<Option<Estimate>>> =
                lines.iter().map(|line| columns.iter().map(|column| cell(column, line)).collect()).collect();
            (scheme, cells)
        })
        .collect();
    // One scale for all maps, so that they compare.
    let all = || maps.iter().flat_map(|(_, cells)| cells.iter().flatten().flatten().map(|cell| cell.mean));
    let (least, most) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
    let better = match plot.figure.better() {
        Some(Better::Higher) => "; higher is better",
        Some(Better::Lower) => "; lower is better",
        None => "",
    };
    // Writing to a string cannot fail.
    let _ = write!(page, "<h2>{}{better}</h2>", escape(&label(plot.figure)));
    for (scheme, cells) in &maps {
        if let Some(scheme) = scheme {
            let _ = write!(page, "<p><b>{}</b></p>", escape(scheme));
        }
        let side =
            lines.iter().chain([down]).map(|text| text.chars().count()).max().unwrap_or(0) as f64 * LETTER + 16.0;
        let longest = columns.iter().map(|text| text.chars().count()).max().unwrap_or(0) as f64 * LETTER + 8.0;
        let wide = WIDE.max(longest);
        let (width, height) = (side + wide * columns.len() as f64, 40.0 + HIGH * lines.len() as f64);
        let _ = write!(
            page,
            "<svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" role=\"img\" aria-label=\"{}\">",
            escape(&label(plot.figure))
        );
        let middle = side + wide * columns.len() as f64 / 2.0;
        let _ = write!(
            page,
            "<text class=\"quiet\" x=\"{middle}\" y=\"12\" text-anchor=\"middle\">{}</text>",
            escape(across)
        );
        let _ = write!(page, "<text class=\"quiet\" x=\"0\" y=\"32\">{}</text>", escape(down));
        for (place, column) in columns.iter().enumerate() {
            let x = side + wide * (place as f64 + 0.5);
            let _ = write!(page, "<text x=\"{x}\" y=\"32\" text-anchor=\"middle\">{}</text>", escape(column));
        }
        for (number, (line, cells)) in lines.iter().zip(cells).enumerate() {
            let y = 40.0 + HIGH * number as f64;
            let _ = write!(page, "<text x=\"0\" y=\"{}\">{}</text>", y + HIGH / 2.0 + 4.0, escape(line));
            for (place, cell) in cells.iter().enumerate() {
                let Some(Estimate { mean, .. }) = cell else { continue };
                let share = if most > least { (mean - least) / (most - least) } else { 0.0 };
                let shade = SHADES.0 + share * (SHADES.1 - SHADES.0);
                let x = side + wide * place as f64;
                let middle = x + wide / 2.0;
                let _ = write!(
                    page,
                    "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"var(--link)\" fill-opacity=\"{shade:.3}\"/>\
                     <text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                    x + 1.0,
                    y + 1.0,
                    wide - 2.0,
                    HIGH - 2.0,
                    y + 19.0,
                    plot.figure.text(*mean)
                );
                if let Some(margin) = cell.and_then(|cell| cell.margin()) {
                    let _ = write!(
                        page,
                        "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">± {}</text>",
                        y + 34.0,
                        plot.figure.text(margin)
                    );
                }
            }
        }
        page.push_str("</svg>");
    }
}
