//! The results as tables, for the terminal and as Markdown.

use std::fmt::Write;

use thalweg_lab::reproduce::{Figure, Row, Sample, Signals, Spread, beaten, compare, mean, spread};
use thalweg_units::Span;

use super::super::pages::VERDICT;
use super::super::theirs;
use super::Shown;
use super::published::Compared;
use super::text::{head, text, with_sigma};
use crate::grid::Grid;

/// A figure's results in words and tables.
pub(super) struct Page {
    /// What was played.
    played: Vec<String>,
    /// The readings.
    readings: Grid,
    /// What the readings are.
    note: String,
    /// Each scheme against the first, over each link (terminal) and of the means (both).
    against: Vec<String>,
    means: Option<(String, Grid)>,
    /// The paper's numbers.
    compared: Compared,
}

impl Page {
    pub(super) fn text(&self, figure: &Figure) -> String {
        let mut text = format!("{}: {}\n\n", figure.name, figure.about);
        self.played.iter().for_each(|played| text += &format!("{played}\n"));
        if !self.readings.is_empty() {
            let _ = write!(text, "\n{}", self.readings.text(usize::MAX));
        }
        if !self.note.is_empty() {
            let _ = writeln!(text, "{}", self.note);
        }
        self.against.iter().for_each(|line| text += &format!("{line}\n"));
        text + &self.compared.text()
    }

    pub(super) fn markdown(&self, figure: &Figure, setup: &str) -> String {
        let verdict = self.compared.verdict();
        let mut about = figure.about.chars();
        let about = about.next().into_iter().flat_map(char::to_uppercase).chain(about).collect::<String>();
        let mut text = format!("# {}\n\n{about}.\n\n{setup}\n\n{VERDICT}{verdict}\n", figure.name);
        text += &self.compared.markdown();
        if !self.readings.is_empty() {
            let note = if self.note.is_empty() { String::new() } else { format!("{}.\n\n", self.note) };
            let _ = write!(text, "\n## Readings\n\n{note}{}", self.readings.markdown());
        }
        if let Some((first, means)) = &self.means {
            let _ = write!(text, "\n## Against {first}, of the means over links\n\n{}", means.markdown());
        }
        text
    }
}

pub(super) fn runs(shown: &Shown) -> Page {
    let Shown { figure, schemes, readings, played, samples, .. } = *shown;
    let keys = || readings.iter().map(|reading| reading.key());
    let mut grid = Grid::new(&["link", "scheme"], keys().map(head));
    let mut note = String::new();
    if shown.repeats() {
        for (played, scheme) in played.iter().flat_map(|played| schemes.iter().map(move |scheme| (played, scheme))) {
            let runs = shown.over(scheme, played.name());
            grid.row(&[played.name(), &scheme.name], keys().map(|key| with_sigma(key, spread(&runs, key))));
        }
        let runs = samples.len() / (schemes.len() * played.len()).max(1);
        note = format!("Mean and standard deviation of {runs} runs");
    } else {
        for sample in samples {
            let summary = &sample.summary;
            grid.row(&[&summary.trace, &summary.scheme], keys().map(|key| text(key, sample.value(key))));
        }
    }
    if played.len() > 1 {
        for scheme in schemes {
            let all = shown.of(scheme);
            grid.row(&["mean", &scheme.name], keys().map(|key| text(key, mean(&all, key))));
        }
    }
    let compared = Compared::of(&figure.published, figure.because, |published| shown.answer(published));
    let played = played.iter().map(|played| format!("{}: {}", played.name(), played.from)).collect();
    Page { played, readings: grid, note, against: against(shown), means: means(shown), compared }
}

/// What is printed of runs beyond their tables.
pub(super) fn beyond(shown: &Shown) {
    if shown.figure.scattered {
        let beaten = beaten(shown.first);
        outln!("\nbeaten on both P95 latency and SSIM: {}", if beaten.is_empty() { "nothing" } else { "" });
        beaten.iter().for_each(|(link, scheme, by)| outln!("  {scheme:20} {link:26} by {by}"));
    }
    theirs::print(shown.theirs, shown.first);
}

/// Every scheme compared with the first, over each link and for the means.
fn against(shown: &Shown) -> Vec<String> {
    let [first, others @ ..] = shown.schemes else { return Vec::new() };
    if others.is_empty() {
        return Vec::new();
    }
    let width = shown.schemes.iter().map(|scheme| scheme.name.len()).max().unwrap_or(0).max(20);
    let line = |scheme: &str, link: &str, ours: &[&Sample], base: &[&Sample]| {
        let compared = compare(ours, base);
        let known = compared.iter().filter(|(_, value)| value.is_some());
        let parts: Vec<String> = known.map(|(key, value)| format!("{} {}", head(key), text(key, *value))).collect();
        format!("  {scheme:width$} {link:26} {}", parts.join(", "))
    };
    let mut lines = vec![format!("\nagainst {}", first.name)];
    for scheme in others {
        let over = |link: &str| line(&scheme.name, link, &shown.over(scheme, link), &shown.over(first, link));
        lines.extend(shown.played.iter().map(|played| over(played.name())));
        if shown.played.len() > 1 {
            lines.push(line(&scheme.name, "of the means", &shown.of(scheme), &shown.of(first)));
        }
    }
    lines
}

/// Every scheme compared with the first, of the means.
fn means(shown: &Shown) -> Option<(String, Grid)> {
    let ([first, others @ ..], [_, _, ..]) = (shown.schemes, shown.played) else { return None };
    let compared: Vec<_> = others.iter().map(|scheme| (scheme, compare(&shown.of(scheme), &shown.of(first)))).collect();
    let keys: Vec<&str> =
        compared.first()?.1.iter().filter(|(_, value)| value.is_some()).map(|(key, _)| *key).collect();
    let mut grid = Grid::new(&["scheme"], keys.iter().map(|key| head(key)));
    for (scheme, values) in &compared {
        let value = |key: &&str| values.iter().find(|(known, _)| known == key).and_then(|(_, value)| *value);
        grid.row(&[&scheme.name], keys.iter().map(|key| text(key, value(key))));
    }
    Some((first.name.to_string(), grid))
}

/// How an encoder followed a step of its target.
pub(super) fn step(figure: &Figure, values: &[(&str, Option<f64>)]) -> Page {
    let compared = Compared::of(&figure.published, figure.because, |published| {
        Some(Spread { mean: values.iter().find(|(key, _)| *key == published.key)?.1?, sigma: None, runs: 1 })
    });
    let mut readings = Grid::new(&["scheme"], values.iter().map(|(key, _)| head(key)));
    readings.row(&["encoder"], values.iter().map(|(key, value)| text(key, *value)));
    Page::of(readings, compared)
}

/// How often each congestion signal was right.
pub(super) fn signals(figure: &Figure, rows: &[(Span, [f64; 3])]) -> Page {
    let mut readings = Grid::new(&["jitter up to"], Signals::KEYS.into_iter().map(head));
    for (jitter, accuracies) in rows {
        readings.row(&[&jitter.to_string()], accuracies.iter().map(|accuracy| format!("{:.1}%", accuracy * 100.0)));
    }
    Page::of(readings, Compared::of(&figure.published, figure.because, |_| None))
}

/// Calculated numbers.
pub(super) fn rows(figure: &Figure, keys: &[&str], rows: &[Row]) -> Page {
    let mut readings = Grid::new(&["link", "scheme"], keys.iter().map(|key| head(key)));
    for row in rows {
        let cells = keys.iter().zip(&row.values).map(|(key, value)| text(key, *value));
        readings.row(&[&row.link, &row.scheme], cells);
    }
    let ours = |published: &_| super::json::mean_of(keys, rows, published);
    Page::of(readings, Compared::of(&figure.published, figure.because, ours))
}

impl Page {
    fn of(readings: Grid, compared: Compared) -> Page {
        Page { played: Vec::new(), readings, note: String::new(), against: Vec::new(), means: None, compared }
    }
}
