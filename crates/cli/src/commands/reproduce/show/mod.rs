//! The results of a figure's runs: as tables, as JSON, and as the page's charts.

mod json;
mod published;
mod table;
mod text;

use thalweg_lab::Outcome;
use thalweg_lab::reproduce::{Figure, Published, Reading, Row, Sample, Spread, StepResponse, compare, spread};
use thalweg_sender::Scheme;
use thalweg_units::Span;

use super::scenarios::Played;
use super::theirs::Read;

/// A figure with its results.
pub(super) struct Shown<'a> {
    pub(super) figure: &'a Figure,
    pub(super) schemes: &'a [Scheme],
    pub(super) readings: &'a [Reading],
    pub(super) played: &'a [Played],
    pub(super) samples: &'a [Sample],
    /// The outcomes of the first seed.
    pub(super) first: &'a [Outcome],
    pub(super) theirs: &'a Read,
}

impl Shown<'_> {
    /// Prints the results.
    pub(super) fn print(&self, as_json: bool) -> anyhow::Result<()> {
        if as_json {
            return json::print(&json::runs(self)?);
        }
        table::runs(self);
        Ok(())
    }

    /// The runs of a scheme over all links.
    fn of(&self, scheme: &Scheme) -> Vec<&Sample> {
        self.samples.iter().filter(|sample| sample.summary.scheme == scheme.name).collect()
    }

    /// The runs of a scheme over one link.
    fn over(&self, scheme: &Scheme, link: &str) -> Vec<&Sample> {
        self.of(scheme).into_iter().filter(|sample| sample.summary.trace == link).collect()
    }

    /// Whether there are several seeds.
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
        let (_, value) = compare(&ours, &base).into_iter().find(|(known, _)| *known == published.key)?;
        value.map(|mean| Spread { mean, sigma: None, runs: ours.len() })
    }
}

/// Prints how an encoder followed a step of its target.
pub(super) fn step(figure: &Figure, response: &StepResponse, as_json: bool) -> anyhow::Result<()> {
    let values: Vec<(&str, Option<f64>)> = StepResponse::KEYS.into_iter().zip(response.values()).collect();
    if as_json {
        return json::print(&json::step(figure, &values));
    }
    table::step(figure, &values);
    Ok(())
}

/// Prints how often each congestion signal was right, by jitter.
pub(super) fn signals(figure: &Figure, rows: &[(Span, [f64; 3])], as_json: bool) -> anyhow::Result<()> {
    if as_json {
        return json::print(&json::signals(figure, rows));
    }
    table::signals(figure, rows);
    Ok(())
}

/// Prints calculated numbers.
pub(super) fn rows(figure: &Figure, keys: &[&str], rows: &[Row], as_json: bool) -> anyhow::Result<()> {
    if as_json {
        return json::print(&json::rows(figure, keys, rows));
    }
    table::rows(figure, keys, rows);
    Ok(())
}
