//! As tables.

use thalweg_lab::Outcome;
use thalweg_lab::reproduce::{Figure, Published, beaten, compare, mean};

use super::super::theirs;
use super::Shown;

pub(super) fn runs(shown: &Shown) {
    let Shown { figure, schemes, readings, played, outcomes, .. } = *shown;
    outln!("{}: {}\n", figure.name, figure.about);
    played.iter().for_each(|played| outln!("{}: {}", played.scenario.name, played.from));
    let width = width(shown);
    out!("\n{:26} {:width$}", "link", "scheme");
    readings.iter().for_each(|reading| out!(" {:>12}", wrap(&head(reading.key()))));
    outln!("");
    let row = |link: &str, scheme: &str, values: Vec<Option<f64>>| {
        out!("{link:26} {scheme:width$}");
        readings.iter().zip(values).for_each(|(reading, value)| out!(" {:>12}", text(reading.key(), value)));
        outln!("");
    };
    for outcome in outcomes {
        let values = readings.iter().map(|reading| reading.of(outcome)).collect();
        row(&outcome.summary.trace, &outcome.summary.scheme, values);
    }
    if outcomes.len() > schemes.len() {
        for scheme in schemes {
            row("mean", &scheme.name, readings.iter().map(|reading| mean(&shown.of(scheme), reading)).collect());
        }
    }
    against(shown);
    if figure.scattered {
        let beaten = beaten(outcomes);
        outln!("\nbeaten on both P95 latency and SSIM: {}", if beaten.is_empty() { "nothing" } else { "" });
        beaten.iter().for_each(|(link, scheme, by)| outln!("  {scheme:width$} {link:26} by {by}"));
    }
    theirs::print(shown.theirs, outcomes);
    if figure.theirs.is_empty() && !figure.scattered {
        published(&figure.published, |published| shown.answer(published.scheme, published.key));
    }
}

/// How wide the column of schemes is.
fn width(shown: &Shown) -> usize {
    shown.schemes.iter().map(|scheme| scheme.name.len()).max().unwrap_or(0).max(20)
}

/// Every scheme against the first, over each link and of the means.
fn against(shown: &Shown) {
    let [first, others @ ..] = shown.schemes else { return };
    if others.is_empty() {
        return;
    }
    let width = width(shown);
    let row = |scheme: &str, link: &str, ours: &[&Outcome], base: &[&Outcome]| {
        let compared = compare(ours, base);
        let known = compared.iter().filter(|(_, value)| value.is_some());
        let parts: Vec<String> = known.map(|(key, value)| format!("{} {}", head(key), text(key, *value))).collect();
        outln!("  {scheme:width$} {link:26} {}", parts.join(", "));
    };
    outln!("\nagainst {}", first.name);
    for scheme in others {
        let (ours, base) = (shown.of(scheme), shown.base());
        for link in shown.played.iter().map(|played| &played.scenario.name) {
            let over = |outcome: &&&Outcome| outcome.summary.trace == *link;
            let ours: Vec<&Outcome> = ours.iter().filter(over).copied().collect();
            let base: Vec<&Outcome> = base.iter().filter(over).copied().collect();
            row(&scheme.name, link, &ours, &base);
        }
        if shown.played.len() > 1 {
            row(&scheme.name, "of the means", &ours, &base);
        }
    }
}

/// A figure for a table: rates in Mbps, shares in percent.
fn text(key: &str, value: Option<f64>) -> String {
    let Some(value) = value else { return "-".into() };
    match key {
        _ if key.ends_with("_bps") => format!("{:.2}", value / 1e6),
        _ if key.starts_with("utilization_") && !key.ends_with("ratio")
            || key == "utilization"
            || key == "stall_ratio" =>
        {
            format!("{:.1}%", value * 100.0)
        }
        _ if key.ends_with("_ms") => format!("{value:.0}"),
        _ => format!("{value:.2}"),
    }
}

/// A key as the head of a column.
fn head(key: &str) -> String {
    key.replace("_bps", " Mbps").replace("utilization", "used").replace('_', " ")
}

/// A head no wider than its column.
fn wrap(head: &str) -> String {
    head.replace("latency ", "")
        .replace("video ", "")
        .replace("frame rate ", "")
        .replace(" after first", "")
        .chars()
        .take(12)
        .collect()
}

fn published(published: &[Published], ours: impl Fn(&Published) -> Option<f64>) {
    if published.is_empty() {
        outln!("\nThe paper's own numbers for this figure were not at hand.");
        return;
    }
    outln!("\n{:20} {:24} {:>10} {:>10}  read in", "scheme", "", "paper", "ours");
    for published in published {
        let Published { scheme, key, value, source } = published;
        let (paper, ours) = (text(key, Some(*value)), text(key, ours(published)));
        outln!("{scheme:20} {:24} {paper:>10} {ours:>10}  {source}", head(key));
    }
}

/// How an encoder followed its target.
pub(super) fn step(figure: &Figure, values: &[(&str, Option<f64>)]) {
    outln!("{}: {}", figure.name, figure.about);
    published(&figure.published, |published| values.iter().find(|(key, _)| *key == published.key)?.1);
}
