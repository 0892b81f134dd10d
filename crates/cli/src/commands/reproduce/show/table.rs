//! The results as tables.

use thalweg_lab::reproduce::{Figure, Row, Sample, Signals, Spread, beaten, compare, mean, spread};
use thalweg_units::Span;

use super::super::theirs;
use super::text::{head, text, with_sigma, wrap};
use super::{Shown, published};

pub(super) fn runs(shown: &Shown) {
    let Shown { figure, schemes, readings, played, samples, first, .. } = *shown;
    outln!("{}: {}\n", figure.name, figure.about);
    played.iter().for_each(|played| outln!("{}: {}", played.name(), played.from));
    let width = width(shown);
    out!("\n{:26} {:width$}", "link", "scheme");
    let cells = if shown.repeats() { 16 } else { 14 };
    readings.iter().for_each(|reading| out!(" {:>cells$}", wrap(&head(reading.key()))));
    outln!("");
    let row = |link: &str, scheme: &str, cell: &dyn Fn(&'static str) -> String| {
        out!("{link:26} {scheme:width$}");
        readings.iter().for_each(|reading| out!(" {:>cells$}", cell(reading.key())));
        outln!("");
    };
    if shown.repeats() {
        for (played, scheme) in played.iter().flat_map(|played| schemes.iter().map(move |scheme| (played, scheme))) {
            let runs = shown.over(scheme, played.name());
            row(played.name(), &scheme.name, &|key| with_sigma(key, spread(&runs, key)));
        }
        outln!("mean and standard deviation of {} runs", samples.len() / (schemes.len() * played.len()).max(1));
    } else {
        for sample in samples {
            row(&sample.summary.trace, &sample.summary.scheme, &|key| text(key, sample.value(key)));
        }
    }
    if played.len() > 1 {
        for scheme in schemes {
            row("mean", &scheme.name, &|key| text(key, mean(&shown.of(scheme), key)));
        }
    }
    against(shown);
    if figure.scattered {
        let beaten = beaten(first);
        outln!("\nbeaten on both P95 latency and SSIM: {}", if beaten.is_empty() { "nothing" } else { "" });
        beaten.iter().for_each(|(link, scheme, by)| outln!("  {scheme:width$} {link:26} by {by}"));
    }
    theirs::print(shown.theirs, first);
    if figure.theirs.is_empty() && !figure.scattered {
        published::print(&figure.published, |published| shown.answer(published));
    }
}

/// Width of the column of schemes.
fn width(shown: &Shown) -> usize {
    shown.schemes.iter().map(|scheme| scheme.name.len()).max().unwrap_or(0).max(20)
}

/// Every scheme compared with the first, over each link and for the means.
fn against(shown: &Shown) {
    let [first, others @ ..] = shown.schemes else { return };
    if others.is_empty() {
        return;
    }
    let width = width(shown);
    let row = |scheme: &str, link: &str, ours: &[&Sample], base: &[&Sample]| {
        let compared = compare(ours, base);
        let known = compared.iter().filter(|(_, value)| value.is_some());
        let parts: Vec<String> = known.map(|(key, value)| format!("{} {}", head(key), text(key, *value))).collect();
        outln!("  {scheme:width$} {link:26} {}", parts.join(", "));
    };
    outln!("\nagainst {}", first.name);
    for scheme in others {
        for link in shown.played.iter().map(|played| played.name()) {
            row(&scheme.name, link, &shown.over(scheme, link), &shown.over(first, link));
        }
        if shown.played.len() > 1 {
            row(&scheme.name, "of the means", &shown.of(scheme), &shown.of(first));
        }
    }
}

/// How an encoder followed a step of its target.
pub(super) fn step(figure: &Figure, values: &[(&str, Option<f64>)]) {
    outln!("{}: {}", figure.name, figure.about);
    published::print(&figure.published, |published| {
        Some(Spread { mean: values.iter().find(|(key, _)| *key == published.key)?.1?, sigma: None, runs: 1 })
    });
}

/// How often each congestion signal was right.
pub(super) fn signals(figure: &Figure, rows: &[(Span, [f64; 3])]) {
    outln!("{}: {}\n", figure.name, figure.about);
    out!("{:12}", "jitter up to");
    Signals::KEYS.iter().for_each(|key| out!(" {:>18}", head(key)));
    outln!("");
    for (jitter, accuracies) in rows {
        out!("{:12}", jitter.to_string());
        accuracies.iter().for_each(|accuracy| out!(" {:>17.1}%", accuracy * 100.0));
        outln!("");
    }
}

/// Calculated numbers.
pub(super) fn rows(figure: &Figure, keys: &[&str], rows: &[Row]) {
    outln!("{}: {}\n", figure.name, figure.about);
    out!("{:26} {:8}", "link", "scheme");
    keys.iter().for_each(|key| out!(" {:>18}", head(key)));
    outln!("");
    for row in rows {
        out!("{:26} {:8}", row.link, row.scheme);
        keys.iter().zip(&row.values).for_each(|(key, value)| out!(" {:>18}", text(key, *value)));
        outln!("");
    }
    published::print(&figure.published, |published| super::json::mean_of(keys, rows, published));
}
