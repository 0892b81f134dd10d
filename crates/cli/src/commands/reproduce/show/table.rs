//! The results as tables, for the terminal and as Markdown.

use std::fmt::Write;

use thalweg_papers::pages::VERDICT;
use thalweg_papers::{
    Answer, Asked, Bound, Bounded, Figure, Line, Published, Quantiles, Row, Sample, Spread, Statistic, beaten, compare,
    each_link, mean, pooled, spread, values_over_links,
};

use super::super::pages::first_upper;
use super::Shown;
use super::published::Compared;
use super::text::{head, text, with_sigma};
use crate::grid::Grid;

/// A figure's results in words and tables.
pub(super) struct Page {
    /// Runs that were played.
    played: Vec<String>,
    /// The readings.
    readings: Grid,
    /// Meaning of the readings.
    note: String,
    /// Each scheme against the first over the only link (terminal).
    against: Option<(String, Grid)>,
    /// Further tables with their headings.
    tables: Vec<(String, Grid)>,
    ending: Ending,
}

/// Conclusion of a page.
enum Ending {
    /// A paper's numbers beside ours.
    Compared(Compared),
    /// How many bounds are met, and why others are not.
    Judged(String),
}

impl Ending {
    fn text(&self) -> String {
        match self {
            Ending::Compared(compared) => compared.text(),
            Ending::Judged(verdict) => format!("\n{verdict}\n"),
        }
    }

    fn markdown(&self) -> String {
        match self {
            Ending::Compared(compared) => compared.markdown(),
            Ending::Judged(_) => String::new(),
        }
    }

    fn verdict(&self) -> String {
        match self {
            Ending::Compared(compared) => compared.verdict(),
            Ending::Judged(verdict) => verdict.clone(),
        }
    }
}

impl Page {
    pub(super) fn text(&self, figure: &Figure) -> String {
        let mut text = format!("{}: {}\n\n", figure.name, figure.about);
        self.played.iter().for_each(|played| text += &format!("{played}\n"));
        if !self.readings.is_empty() {
            let _ = write!(text, "\n{}", self.readings.text(usize::MAX, false));
        }
        if !self.note.is_empty() {
            let _ = writeln!(text, "{}", self.note);
        }
        for (heading, table) in self.against.iter().chain(&self.tables) {
            let _ = write!(text, "\n{heading}\n{}", table.text(usize::MAX, false));
        }
        text + &self.ending.text()
    }

    pub(super) fn verdict(&self) -> String {
        self.ending.verdict()
    }

    pub(super) fn summary(&self) -> String {
        let runs =
            if self.note.is_empty() { String::new() } else { format!("{}; the charts show the first. ", self.note) };
        format!("{runs}Verdict: {}", self.verdict())
    }

    pub(super) fn published(&self) -> Vec<Vec<String>> {
        match &self.ending {
            Ending::Compared(compared) => compared.rows(),
            Ending::Judged(_) => Vec::new(),
        }
    }

    /// A section of a paper's page, without its heading.
    pub(super) fn markdown(&self, figure: &Figure, setup: &str) -> String {
        let (about, verdict) = (first_upper(figure.about), self.ending.verdict());
        let mut text = format!("{about}. {setup}\n\n{VERDICT}{verdict}\n{}", self.ending.markdown());
        if !self.readings.is_empty() {
            let note = if self.note.is_empty() { String::new() } else { format!(". {}", self.note) };
            let _ = write!(text, "\n**Readings**{note}\n\n{}", self.readings.markdown_by(1));
        }
        for (heading, table) in &self.tables {
            let _ = write!(text, "\n**{heading}**\n\n{}", table.markdown_by(table.names() - 1));
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
    let ending = match shown.interrupted {
        Some(interrupted) => Ending::Judged(format!("no verdict, {interrupted}")),
        None => Ending::Compared(Compared::of(figure, |published| shown.answer(published))),
    };
    let played = played.iter().map(|played| format!("{}: {}", played.name(), played.from)).collect();
    let tables = [overall(shown), boxes(shown), distributions(shown)].into_iter().flatten().collect();
    Page { played, readings: grid, note, against: against(shown), tables, ending }
}

/// Prints the results of runs beyond their tables.
pub(super) fn beyond(shown: &Shown) {
    if shown.figure.scattered {
        let beaten = beaten(shown.first);
        outln!("\nbeaten on both P95 latency and SSIM: {}", if beaten.is_empty() { "nothing" } else { "" });
        beaten.iter().for_each(|(link, scheme, by)| outln!("  {scheme:20} {link:26} by {by}"));
    }
}

/// Every scheme compared with the first, over the only link.
fn against(shown: &Shown) -> Option<(String, Grid)> {
    let ([first, _, ..], [_]) = (shown.schemes, shown.played) else { return None };
    Some((format!("against {}", first.name), compared(shown, compare)?))
}

/// Every scheme compared with the first, over all links.
fn overall(shown: &Shown) -> Option<(String, Grid)> {
    let ([first, _, ..], [_, _, ..]) = (shown.schemes, shown.played) else { return None };
    let statistic = shown.figure.statistic;
    let grid = compared(shown, |ours, base| statistic.compare(ours, base))?;
    Some((format!("Against {}, {}", first.name, statistic.name()), grid))
}

/// The numbers of every scheme against those of the first.
fn compared<'a>(
    shown: &'a Shown,
    compare: impl Fn(&[&'a Sample], &[&'a Sample]) -> Vec<(&'static str, Option<f64>)>,
) -> Option<Grid> {
    let [first, others @ ..] = shown.schemes else { return None };
    let compared: Vec<_> = others.iter().map(|scheme| compare(&shown.of(scheme), &shown.of(first))).collect();
    let keys: Vec<&str> = compared.first()?.iter().filter(|(_, value)| value.is_some()).map(|(key, _)| *key).collect();
    let mut grid = Grid::new(&["number"], others.iter().map(|scheme| scheme.name.to_string()));
    for key in keys {
        let value =
            |of: &Vec<(&str, Option<f64>)>| of.iter().find(|(known, _)| *known == key).and_then(|(_, value)| *value);
        grid.row(&[&head(key)], compared.iter().map(|of| text(key, value(of))));
    }
    Some(grid)
}

/// Readings drawn as boxes over links, each compared with the first scheme.
pub(super) const OVER_LINKS: [&str; 6] = [
    "utilization_ratio",
    "video_bitrate_ratio",
    "latency_p95_ratio",
    "latency_p95_gain_ms",
    "frame_rate_ratio",
    "psnr_gain_db",
];

const QUANTILES: [&str; 6] = ["P5", "P25", "P50", "P75", "P95", "mean"];

fn quantiles(key: &str, of: Option<Quantiles>) -> Vec<String> {
    let values = of.map(|of| of.at.into_iter().chain([of.mean]).map(Some).collect()).unwrap_or_else(|| vec![None; 6]);
    values.into_iter().map(|value| text(key, value)).collect()
}

/// Boxes over links of each scheme compared with the first, where the figure compares link by link.
fn boxes(shown: &Shown) -> Option<(String, Grid)> {
    let ([first, others @ ..], Statistic::PerLink) = (shown.schemes, shown.figure.statistic) else { return None };
    let mut grid = Grid::new(&["number", "scheme"], QUANTILES.map(str::to_string));
    let base = shown.of(first);
    let links: Vec<_> = others.iter().map(|scheme| (scheme, each_link(&shown.of(scheme), &base))).collect();
    for key in OVER_LINKS {
        for (scheme, links) in &links {
            grid.row(&[&head(key), &scheme.name], quantiles(key, Quantiles::of(values_over_links(links, key))));
        }
    }
    Some((format!("Boxes over links, each against {}", first.name), grid))
}

/// The figure's distributions over all frames of all links together; those of each link are in its JSON.
fn distributions(shown: &Shown) -> Option<(String, Grid)> {
    let mut grid = Grid::new(&["of", "scheme"], QUANTILES.map(str::to_string));
    for of in &shown.figure.distributions {
        for scheme in shown.schemes {
            grid.row(&[&head(of.name()), &scheme.name], quantiles(of.name(), pooled(&shown.of(scheme), *of)));
        }
    }
    (!grid.is_empty()).then(|| ("Distributions over all links".into(), grid))
}

/// How an encoder followed a step of its target.
pub(super) fn step(figure: &Figure, values: &[(&str, Option<f64>)]) -> Page {
    let compared = Compared::of(figure, |published| {
        Some(Spread { mean: values.iter().find(|(key, _)| *key == published.key)?.1?, sigma: None, runs: 1 })
    });
    let mut readings = Grid::new(&["scheme"], values.iter().map(|(key, _)| head(key)));
    readings.row(&["encoder"], values.iter().map(|(key, value)| text(key, *value)));
    Page::of(readings, compared)
}

/// Calculated numbers.
pub(super) fn rows(figure: &Figure, keys: &[&str], rows: &[Row]) -> Page {
    let mut readings = Grid::new(&["link", "scheme"], keys.iter().map(|key| head(key)));
    for row in rows {
        let cells = keys.iter().zip(&row.values).map(|(key, value)| text(key, *value));
        readings.row(&[&row.link, &row.scheme], cells);
    }
    let ours = |published: &_| mean_of(keys, rows, published);
    Page::of(readings, Compared::of(figure, ours))
}

/// Page of the questions to runs, with their bounds, and the answers of several seeds.
pub(super) fn bounded(bounded: &Bounded, answers: &[Vec<Answer>]) -> Page {
    let numbers = ["expected", "bound", "mean", "worst", "verdict"].map(str::to_string);
    let mut readings = Grid::new(&["experiment", "scheme", "figure"], numbers);
    let (mut met, mut judged) = (0, 0);
    for (line, answers) in bounded.lines.iter().zip(answers) {
        for (place, (Asked { what, expected, bound, .. }, answer)) in line.asked.iter().zip(answers).enumerate() {
            met += usize::from(answer.is_met == Some(true));
            judged += usize::from(answer.is_met.is_some());
            // What a line has in common is said once.
            let of = |text: &str| if place == 0 { text.to_string() } else { String::new() };
            let bound = if bound.is_none() { "-".into() } else { rounded(*bound) };
            let cells = [or_dash(expected), bound, figure(answer.mean), figure(answer.worst), verdict(answer).into()];
            let Line { name, .. } = line;
            readings.row(&[&of(name), &of(line.scheme()), what], cells);
        }
    }
    let because =
        if met < judged { bounded.because.iter().map(|why| format!("; {why}")).collect() } else { String::new() };
    let ending = Ending::Judged(format!("{met} of {judged} bounds met{because}"));
    Page { played: Vec::new(), readings, note: String::new(), against: None, tables: Vec::new(), ending }
}

fn or_dash(text: &str) -> String {
    if text.is_empty() { "-".into() } else { text.into() }
}

/// Three digits are more than chance leaves.
fn figure(value: f64) -> String {
    match value.abs() {
        _ if value.is_nan() => "-".into(),
        0.0 => "0".into(),
        ..1.0 => format!("{value:.3}"),
        ..10.0 => format!("{value:.2}"),
        ..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

fn rounded(bound: Bound) -> String {
    let round = |end: f64| (end * 1000.0).round() / 1000.0;
    Bound { least: round(bound.least), most: round(bound.most) }.to_string()
}

fn verdict(answer: &Answer) -> &'static str {
    match answer.is_met {
        Some(true) => "met",
        Some(false) => "missed",
        None => "-",
    }
}

impl Page {
    fn of(readings: Grid, compared: Compared) -> Page {
        let ending = Ending::Compared(compared);
        Page { played: Vec::new(), readings, note: String::new(), against: None, tables: Vec::new(), ending }
    }
}

/// Our value for a published number: that of its link's row, or the mean over rows.
pub(super) fn mean_of(keys: &[&str], rows: &[Row], known: &Published) -> Option<Spread> {
    let place = keys.iter().position(|key| *key == known.key)?;
    let is_its = |row: &&Row| row.scheme == known.scheme && known.link.is_none_or(|link| link == row.link);
    let of = rows.iter().filter(is_its);
    let values: Vec<f64> = of.filter_map(|row| row.values.get(place).copied().flatten()).collect();
    let mean = (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)?;
    Some(Spread { mean, sigma: None, runs: values.len() })
}
