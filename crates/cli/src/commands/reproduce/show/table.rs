//! As tables.

use thalweg_lab::Outcome;
use thalweg_lab::reproduce::{Figure, Signals, beaten, compare, mean};
use thalweg_units::Span;

use super::super::theirs;
use super::text::{head, text, wrap};
use super::{Shown, published};

pub(super) fn runs(shown: &Shown) {
    let Shown { figure, schemes, readings, played, outcomes, .. } = *shown;
    outln!("{}: {}\n", figure.name, figure.about);
    played.iter().for_each(|played| outln!("{}: {}", played.name(), played.from));
    let width = width(shown);
    out!("\n{:26} {:width$}", "link", "scheme");
    readings.iter().for_each(|reading| out!(" {:>14}", wrap(&head(reading.key()))));
    outln!("");
    let row = |link: &str, scheme: &str, values: Vec<Option<f64>>| {
        out!("{link:26} {scheme:width$}");
        readings.iter().zip(values).for_each(|(reading, value)| out!(" {:>14}", text(reading.key(), value)));
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
        published::print(&figure.published, |published| shown.answer(published));
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
        for link in shown.played.iter().map(|played| played.name()) {
            let over = |outcome: &&&Outcome| outcome.summary.trace == link;
            let ours: Vec<&Outcome> = ours.iter().filter(over).copied().collect();
            let base: Vec<&Outcome> = base.iter().filter(over).copied().collect();
            row(&scheme.name, link, &ours, &base);
        }
        if shown.played.len() > 1 {
            row(&scheme.name, "of the means", &ours, &base);
        }
    }
}

/// How an encoder followed its target.
pub(super) fn step(figure: &Figure, values: &[(&str, Option<f64>)]) {
    outln!("{}: {}", figure.name, figure.about);
    published::print(&figure.published, |published| values.iter().find(|(key, _)| *key == published.key)?.1);
}

/// How often each signal of congestion was right.
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
