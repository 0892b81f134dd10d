//! The authors' own points next to ours.

use std::path::Path;

use serde_json::{Value, json};
use thalweg_lab::Outcome;
use thalweg_lab::reproduce::{Point, Theirs};

/// The points that were read.
#[derive(Default)]
pub(super) struct Read {
    pub(super) points: Vec<Point>,
    /// Why other points were not.
    pub(super) missing: Option<String>,
}

/// Reads the points that are present.
pub(super) fn read(wanted: &[Theirs], results: &Path) -> Read {
    if wanted.is_empty() {
        return Read::default();
    }
    if !results.is_dir() {
        let fix = "`thalweg data fetch salsify-results` gets them, or give their folder with --salsify-results";
        return Read { points: Vec::new(), missing: Some(format!("{} is not here: {fix}", results.display())) };
    }
    let (mut points, mut missing) = (Vec::new(), Vec::new());
    for theirs in wanted {
        match theirs.read(results) {
            Ok(point) => points.push(point),
            Err(error) => missing.push(error),
        }
    }
    Read { points, missing: (!missing.is_empty()).then(|| missing.join("; ")) }
}

/// Our run that corresponds to a point.
fn answer<'a>(point: &Point, outcomes: &'a [Outcome]) -> Option<&'a Outcome> {
    let same = |outcome: &&Outcome| {
        outcome.summary.trace == point.of.link && Some(outcome.summary.scheme.as_str()) == point.of.ours
    };
    outcomes.iter().find(same)
}

/// The table "theirs, ours" for each link.
pub(super) fn print(read: &Read, outcomes: &[Outcome]) {
    if !read.points.is_empty() {
        outln!(
            "\nThe authors' own runs beside ours (another video, encoder and machine: order and shape compare, absolute values do not)"
        );
        outln!(
            "{:22} {:24} {:>8} {:>8} {:>8} {:>8} {:>7} {:>7}  {:40} read in",
            "link",
            "their scheme",
            "mean ms",
            "ours",
            "p95 ms",
            "ours",
            "SSIM dB",
            "ours",
            "our scheme"
        );
    }
    for point in &read.points {
        let run = answer(point, outcomes).map(|outcome| &outcome.summary);
        let cell = |value: Option<f64>, digits: usize| value.map_or("-".into(), |value| format!("{value:.digits$}"));
        outln!(
            "{:22} {:24} {:>8.0} {:>8} {:>8.0} {:>8} {:>7.1} {:>7}  {:40} {}",
            point.of.link,
            point.of.scheme,
            point.delay_mean_ms,
            cell(run.and_then(|run| run.latency_mean_ms), 0),
            point.delay_p95_ms,
            cell(run.and_then(|run| run.latency_p95_ms), 0),
            point.ssim_db,
            cell(run.and_then(|run| run.ssim_db), 1),
            run.map_or("-", |run| run.scheme.as_str()),
            point.source
        );
    }
    if let Some(missing) = &read.missing {
        outln!("\nNot all of the authors' own results were at hand: {missing}");
    }
}

/// The same as JSON.
pub(super) fn json(read: &Read, outcomes: &[Outcome]) -> Value {
    let each = read.points.iter().map(|point| {
        let run = answer(point, outcomes).map(|outcome| &outcome.summary);
        json!({
            "link": point.of.link,
            "their_scheme": point.of.scheme,
            "scheme": point.of.ours,
            "theirs": {
                "latency_mean_ms": point.delay_mean_ms,
                "latency_p95_ms": point.delay_p95_ms,
                "ssim_db": point.ssim_db,
                "ssim_p5_db": point.ssim_range_db.0,
                "ssim_p95_db": point.ssim_range_db.1,
            },
            "ours": run.map(|run| json!({
                "latency_mean_ms": run.latency_mean_ms,
                "latency_p95_ms": run.latency_p95_ms,
                "ssim_db": run.ssim_db,
            })),
            "source": point.source,
        })
    });
    Value::Array(each.collect())
}
