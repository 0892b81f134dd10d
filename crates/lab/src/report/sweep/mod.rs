//! A sweep as one page of SVG: a figure over two axes, and what is better than all else in two figures.

mod front;
mod heat;

use std::fmt::Write;

use crate::metrics::{Column, every_column};
use crate::report::html::escape;
use crate::statistics::{Estimate, distinct, estimate};
use crate::sweep::{Cell, Row, Status};

const STYLE: &str = include_str!("../web/style.css");

/// Plot of a sweep.
#[derive(Debug, Clone)]
pub struct Plot {
    /// The axes of the heat map: across and down.
    axes: [String; 2],
    /// The figure of the heat map.
    figure: &'static Column,
    /// The figures of the front: across and up.
    front: [&'static Column; 2],
}

impl Plot {
    /// A plot of rows over two of their axes, across and down: by names of columns, `scheme` and `trace` among them.
    /// `figure` and `front` are keys of figures.
    ///
    /// # Errors
    /// When there is no such axis or figure, or a figure of the front is neither better high nor low.
    pub fn new(rows: &[Row], axes: [&str; 2], figure: &str, front: [&str; 2]) -> Result<Plot, String> {
        let known = axes_of(rows);
        if let Some(axis) = axes.iter().find(|axis| known.iter().all(|known| known != *axis)) {
            return Err(format!("unknown axis '{axis}': expected one of {}", known.join(", ")));
        }
        if axes[0] == axes[1] {
            return Err(format!("axis {} both across and down: name two of {}", axes[0], known.join(", ")));
        }
        let column = |key: &str| {
            let found = every_column().find(|column| column.key == key || column.name == key);
            found.ok_or_else(|| {
                let keys: Vec<&str> = every_column().map(|column| column.key).collect();
                format!("unknown figure '{key}': expected one of {}", keys.join(", "))
            })
        };
        let front = [column(front[0])?, column(front[1])?];
        if let Some(either) = front.iter().find(|column| column.better().is_none()) {
            return Err(format!("{}: neither high nor low is better, so it has no front: name another", either.key));
        }
        Ok(Plot { axes: axes.map(String::from), figure: column(figure)?, front })
    }

    /// The axes that are drawn where none are named: the last two that are neither schemes nor seeds and have several
    /// values, else schemes down.
    pub fn default_axes(rows: &[Row]) -> [String; 2] {
        let own = rows.first().into_iter().flat_map(|row| row.axes.iter().map(|(name, _)| name.clone()));
        let names = ["trace".to_string()].into_iter().chain(own);
        let mut names: Vec<String> = names.filter(|name| values(rows, name).len() > 1).collect();
        let across = names.pop().unwrap_or_else(|| "trace".into());
        let down = names.pop().unwrap_or_else(|| "scheme".into());
        [across, down]
    }

    /// The page as HTML.
    pub fn html(&self, title: &str, command: &str, rows: &[Row]) -> String {
        let failed = rows.iter().filter(|row| row.status == Status::Failed).count();
        let failed = if failed == 0 { String::new() } else { format!(" {failed} that failed are left out.") };
        let seeds = values(rows, "seed").len();
        let (title, command) = (escape(title), escape(command));
        let mut page = format!(
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
             content=\"width=device-width,initial-scale=1\"><title>{title}</title><style>{STYLE}{OWN_STYLE}</style></head>\
             <body><header><h1>{title}</h1></header><p class=\"quiet\">{} runs, {seeds} {}.{failed}</p>",
            rows.len(),
            if seeds == 1 { "seed" } else { "seeds" }
        );
        heat::draw(&mut page, self, rows);
        front::draw(&mut page, self, rows);
        // Writing to a string cannot fail.
        let _ = write!(
            page,
            "<footer><p class=\"quiet\">Means over links and seeds with their 95 % intervals (of one link Student's over \
             its seeds, of several a bootstrap over links and seeds).</p><p class=\"quiet\">Made by Thalweg {}: \
             <code>{command}</code></p></footer></body></html>",
            env!("CARGO_PKG_VERSION")
        );
        page
    }
}

const OWN_STYLE: &str = "svg { display: block; max-width: 100%; height: auto; margin: .4rem 0 1.2rem; } \
                         svg text { font: 12px system-ui, sans-serif; fill: var(--ink); font-variant-numeric: tabular-nums; } \
                         svg .quiet { fill: var(--quiet); } svg.mark { display: inline; margin: 0; }";

/// The names of the axes of rows.
fn axes_of(rows: &[Row]) -> Vec<String> {
    let own = rows.first().into_iter().flat_map(|row| row.axes.iter().map(|(name, _)| name.clone()));
    ["scheme", "seed", "trace"].map(String::from).into_iter().chain(own).collect()
}

/// Where a row is on an axis, as text.
fn at(row: &Row, axis: &str) -> String {
    match axis {
        "scheme" => row.scheme.clone(),
        "seed" => row.seed.to_string(),
        "trace" => row.trace.clone(),
        name => {
            row.axes.iter().find(|(known, _)| known == name).map(|(_, cell)| Cell::to_string(cell)).unwrap_or_default()
        }
    }
}

/// The values of an axis in the order of the jobs.
fn values(rows: &[Row], axis: &str) -> Vec<String> {
    distinct(rows.iter().map(|row| at(row, axis)))
}

/// The mean of a figure over rows, which differ in more than their seeds: each combination of the rest counts the same.
fn mean(rows: &[&Row], figure: &Column) -> Option<Estimate> {
    let place = |row: &&Row| (row.scheme.clone(), row.trace.clone(), format!("{:?}", row.axes));
    let of =
        |wanted| rows.iter().filter(|row| place(row) == wanted).filter_map(|row| row.figures.get(figure.key)).collect();
    estimate(&distinct(rows.iter().map(place)).into_iter().map(of).collect::<Vec<_>>())
}

/// A figure's name with its unit.
fn label(figure: &Column) -> String {
    let Column { name, unit, .. } = figure;
    if unit.is_empty() { (*name).into() } else { format!("{name}, {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Summary;
    use crate::sweep::Figures;

    fn row(job: u32, (scheme, queue, seed): (&str, f64, u64), latency: f64, rate: f64) -> Row {
        let mut run = Summary::empty(scheme, "lte", seed);
        (run.latency_p95_ms, run.video_bitrate_bps) = (Some(latency), rate);
        Row {
            job,
            key: "00000000000000000000000000000000".parse().unwrap(),
            scheme: scheme.into(),
            seed,
            trace: "lte".into(),
            axes: vec![("queue".into(), Cell::Number(queue))],
            fingerprint: String::new(),
            status: Status::Done,
            error: String::new(),
            figures: Figures::of(&run),
        }
    }

    fn rows() -> Vec<Row> {
        let each = [("gcc", 1.0, 1), ("gcc", 1.0, 2), ("gcc", 2.0, 1), ("copa", 1.0, 1), ("copa", 2.0, 1)];
        let figures = [(101.0, 1e6), (121.0, 1.2e6), (207.0, 2e6), (93.0, 0.5e6), (253.0, 1.5e6)];
        (0..).zip(each.into_iter().zip(figures)).map(|(job, (at, (late, rate)))| row(job, at, late, rate)).collect()
    }

    #[test]
    fn a_heat_map_has_the_mean_of_each_cell_and_a_front_what_nothing_beats() {
        let rows = rows();
        let front = ["latency_p95_ms", "video_bitrate_bps"];
        let plot = Plot::new(&rows, ["queue", "scheme"], "latency_p95_ms", front).unwrap();
        let page = plot.html("<queues>", "thalweg sweep plot out", &rows);
        assert!(page.contains("&lt;queues&gt;") && !page.contains("<queues>"));
        for text in [">111<", ">207<", ">93<", ">253<"] {
            assert_eq!(page.matches(text).count(), 1, "{text}: {page}");
        }
        let line = page.split("class=\"front\" points=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
        assert_eq!(line.split(' ').count(), 3, "copa at 2 is slower and has less than gcc at 2: {line}");
        for word in ["http://", "src=", "<script"] {
            assert!(!page.contains(word), "{word}");
        }
    }

    #[test]
    fn what_cannot_be_drawn_is_refused_with_what_there_is() {
        let rows = rows();
        let refused = |axes, figure, front| Plot::new(&rows, axes, figure, front).unwrap_err();
        let front = ["latency_p95_ms", "video_bitrate_bps"];
        assert!(refused(["quue", "scheme"], "latency_p95_ms", front).contains("scheme, seed, trace, queue"));
        assert!(refused(["queue", "queue"], "latency_p95_ms", front).contains("both across and down"));
        assert!(refused(["queue", "scheme"], "latency", front).contains("latency_p95_ms"));
        let either = refused(["queue", "scheme"], "latency_p95_ms", ["padding_bitrate_bps", "video_bitrate_bps"]);
        assert!(either.contains("neither high nor low"), "{either}");
        assert_eq!(Plot::default_axes(&rows), ["queue", "scheme"]);
    }
}
