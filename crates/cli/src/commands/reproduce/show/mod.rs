//! The results of a figure: as tables for the terminal, as JSON, and as a page of Markdown.

mod json;
mod published;
mod table;
mod text;

use serde_json::Value;
use thalweg_lab::Outcome;
use thalweg_papers::{Answer, Bounded, Figure, Published, Reading, Row, Sample, Spread, StepResponse, spread};
use thalweg_sender::Scheme;

use super::scenarios::Played;
use crate::play::Interrupted;
use table::Page;

/// Results of a figure.
pub(super) struct Results {
    page: Page,
    json: Value,
}

impl Results {
    /// Results of runs.
    pub(super) fn of(shown: &Shown) -> anyhow::Result<Results> {
        Ok(Results { page: table::runs(shown), json: json::runs(shown)? })
    }

    /// Results of an encoder that follows a step of its target.
    pub(super) fn of_step(figure: &Figure, response: &StepResponse) -> Results {
        let values: Vec<(&str, Option<f64>)> = StepResponse::KEYS.into_iter().zip(response.values()).collect();
        Results { page: table::step(figure, &values), json: json::step(figure, &values) }
    }

    /// Results of calculated numbers.
    pub(super) fn of_rows(figure: &Figure, keys: &[&str], rows: &[Row]) -> Results {
        Results { page: table::rows(figure, keys, rows), json: json::rows(figure, keys, rows) }
    }

    /// Results of runs with bounds; the answers are in the order of the lines and of their questions.
    pub(super) fn of_bounded(figure: &Figure, lines: &Bounded, answers: &[Vec<Answer>]) -> Results {
        Results { page: table::bounded(lines, answers), json: json::bounded(figure, lines, answers) }
    }

    /// Prints them.
    pub(super) fn print(&self, figure: &Figure, as_json: bool) -> anyhow::Result<()> {
        match as_json {
            true => outln!("{}", serde_json::to_string_pretty(&self.json)?),
            false => out!("{}", self.page.text(figure)),
        }
        Ok(())
    }

    /// The verdict, in a line.
    pub(super) fn verdict(&self) -> String {
        self.page.verdict()
    }

    /// The verdict, and the runs that it and the numbers are of.
    pub(super) fn summary(&self) -> String {
        self.page.summary()
    }

    /// The paper's numbers beside ours, in rows below a row of headings; empty if it has none.
    pub(super) fn published(&self) -> Vec<Vec<String>> {
        self.page.published()
    }

    /// A section of a page of Markdown; `setup` is a sentence on what was played.
    pub(super) fn markdown(&self, figure: &Figure, setup: &str) -> String {
        self.page.markdown(figure, setup)
    }
}

/// A figure with its results.
pub(super) struct Shown<'a> {
    pub(super) figure: &'a Figure,
    pub(super) schemes: &'a [Scheme],
    pub(super) readings: &'a [Reading],
    pub(super) played: &'a [Played],
    pub(super) samples: &'a [Sample],
    /// The outcomes of the first seed.
    pub(super) first: &'a [Outcome],
    /// Why these are not all.
    pub(super) interrupted: Option<&'a Interrupted>,
}

impl Shown<'_> {
    /// Prints which runs are beaten by another.
    pub(super) fn print_beyond(&self) {
        table::beyond(self);
    }

    /// The runs of a scheme over all links.
    fn of(&self, scheme: &Scheme) -> Vec<&Sample> {
        self.samples.iter().filter(|sample| sample.summary.scheme == scheme.name).collect()
    }

    /// The runs of a scheme over one link.
    fn over(&self, scheme: &Scheme, link: &str) -> Vec<&Sample> {
        self.of(scheme).into_iter().filter(|sample| sample.summary.trace == link).collect()
    }

    /// Returns true if there are several seeds.
    fn repeats(&self) -> bool {
        self.samples.len() > self.schemes.len() * self.played.len()
    }

    /// Our value for a published number of a scheme, over its link or of the means.
    fn answer(&self, published: &Published) -> Option<Spread> {
        let of = |scheme: &Scheme| published.link.map_or_else(|| self.of(scheme), |link| self.over(scheme, link));
        let ours = of(self.schemes.iter().find(|known| known.name == published.scheme)?);
        if self.readings.iter().any(|reading| reading.key() == published.key) {
            return spread(&ours, published.key);
        }
        let base = self.schemes.first().map(of).unwrap_or_default();
        let (_, value) =
            self.figure.statistic.compare(&ours, &base).into_iter().find(|(known, _)| *known == published.key)?;
        value.map(|mean| Spread { mean, sigma: None, runs: ours.len() })
    }
}
