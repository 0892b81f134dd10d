//! The worst moments of each scheme, with what was to be seen.

use std::cmp::Ordering;
use std::fmt::Write;

use super::groups::{Group, Page};
use super::html::{escape, key};
use crate::metrics::latency;
use crate::outcome::{BEGINNING_S, Outcome, Worst};

/// Seconds shown before and after a moment.
const AROUND: f64 = 2.0;

/// A bad moment of a run: when it began, how long it lasted, in seconds, and in words.
struct Moment<'a> {
    run: &'a Outcome,
    at: f64,
    lasted: f64,
    text: String,
}

/// The section as HTML; empty if nothing was shown.
pub(super) fn worst(page: &Page<'_>) -> String {
    let mut rows = String::new();
    for (place, cell) in page.cells.iter().enumerate() {
        for group in &cell.groups {
            let entry = &page.entries[group.entry];
            let link = if page.cells.len() > 1 { format!(" over {}", escape(cell.link)) } else { String::new() };
            for (what, moment) in [(Worst::Latency, latest(group)), (Worst::Quality, poorest(group))] {
                let Some(Moment { run, at, lasted, text }) = moment else { continue };
                let seed = if group.runs.len() > 1 { format!(", seed {}", run.summary.seed) } else { String::new() };
                // Writing to a string cannot fail.
                let _ = write!(
                    rows,
                    "<div class=\"moment\" data-entry=\"{}\"><p>{}<b>{}</b>{link}: {text}{seed}. \
                     <button class=\"go\" data-cell=\"{place}\" data-from=\"{:.2}\" data-until=\"{:.2}\">Show in the \
                     charts</button></p>",
                    group.entry,
                    key(entry),
                    escape(&entry.name),
                    (at - AROUND).max(0.0),
                    at + lasted + AROUND,
                );
                for still in run.stills.iter().filter(|still| still.worst == what) {
                    let _ = write!(
                        rows,
                        "<div class=\"stills\"><figure><img src=\"{}\" alt=\"the camera's picture\"><figcaption>Camera, \
                         captured at {:.2} s</figcaption></figure><figure><img src=\"{}\" alt=\"the viewer's picture\">\
                         <figcaption>Viewer at {:.2} s, captured at {:.2} s</figcaption></figure></div>",
                        still.source, still.source_captured_s, still.shown, still.at_s, still.shown_captured_s
                    );
                }
                rows.push_str("</div>");
            }
        }
    }
    if rows.is_empty() {
        rows
    } else {
        format!("<h2 id=\"worst\">Worst moments</h2><div class=\"moments\">{rows}</div>")
    }
}

/// Puts moments of the beginning before all others.
fn later(one: f64, other: f64) -> Ordering {
    (one >= BEGINNING_S).cmp(&(other >= BEGINNING_S))
}

/// The frame that was shown latest.
fn latest<'a>(group: &Group<'a>) -> Option<Moment<'a>> {
    let each = group.runs.iter().flat_map(|run| {
        let late = latency(&run.frames).map(|latency| latency.each_ms).unwrap_or_default();
        run.frames.iter().zip(late).map(move |(frame, late)| (*run, frame.captured_s, late)).collect::<Vec<_>>()
    });
    let (run, at, late) = each.max_by(|a, b| later(a.1, b.1).then(a.2.total_cmp(&b.2)))?;
    let text = format!("what the camera saw at {at:.2} s came {late:.0} ms late, its worst latency");
    Some(Moment { run, at, lasted: late / 1e3, text })
}

/// The shown frame of the lowest PSNR.
fn poorest<'a>(group: &Group<'a>) -> Option<Moment<'a>> {
    let each = group.runs.iter().flat_map(|run| {
        run.frames
            .iter()
            .filter_map(|frame| Some((*run, frame.captured_s, frame.psnr_db.filter(|_| frame.displayed_s.is_some())?)))
    });
    let (run, at, psnr) = each.max_by(|a, b| later(a.1, b.1).then(b.2.total_cmp(&a.2)))?;
    Some(Moment { run, at, lasted: 0.0, text: format!("{psnr:.1} dB at {at:.2} s, its lowest PSNR") })
}
