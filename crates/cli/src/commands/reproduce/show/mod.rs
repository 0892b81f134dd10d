//! What a figure's runs came to: as tables, as JSON, and as the page's charts.

mod json;
mod published;
mod table;
mod text;

use thalweg_lab::Outcome;
use thalweg_lab::reproduce::{Figure, Published, Reading, StepResponse, compare, mean};
use thalweg_sender::Scheme;
use thalweg_units::Span;

use super::scenarios::Played;
use super::theirs::Read;

/// A figure with what came of it.
pub(super) struct Shown<'a> {
    pub(super) figure: &'a Figure,
    pub(super) schemes: &'a [Scheme],
    pub(super) readings: &'a [Reading],
    pub(super) played: &'a [Played],
    pub(super) outcomes: &'a [Outcome],
    pub(super) theirs: &'a Read,
}

impl Shown<'_> {
    /// Prints it.
    pub(super) fn print(&self, as_json: bool) -> anyhow::Result<()> {
        if as_json {
            return json::print(&json::runs(self)?);
        }
        table::runs(self);
        Ok(())
    }

    /// A scheme's runs, over every link.
    fn of(&self, scheme: &Scheme) -> Vec<&Outcome> {
        self.outcomes.iter().filter(|outcome| outcome.summary.scheme == scheme.name).collect()
    }

    /// The runs of the scheme that the others are compared with.
    fn base(&self) -> Vec<&Outcome> {
        self.schemes.first().map(|scheme| self.of(scheme)).unwrap_or_default()
    }

    /// What ours comes to of what a paper says of a scheme, over its link or of the means.
    fn answer(&self, published: &Published) -> Option<f64> {
        let over = |outcome: &&Outcome| published.link.is_none_or(|link| outcome.summary.trace == link);
        let of = |scheme: &Scheme| -> Vec<&Outcome> { self.of(scheme).into_iter().filter(over).collect() };
        let ours = of(self.schemes.iter().find(|known| known.name == published.scheme)?);
        let base = self.schemes.first().map(of).unwrap_or_default();
        let reading = self.readings.iter().find(|reading| reading.key() == published.key);
        let compared = || compare(&ours, &base).into_iter().find(|(known, _)| *known == published.key)?.1;
        reading.map_or_else(compared, |reading| mean(&ours, reading))
    }
}

/// Prints how an encoder followed its target.
pub(super) fn step(figure: &Figure, response: &StepResponse, as_json: bool) -> anyhow::Result<()> {
    let values: Vec<(&str, Option<f64>)> = StepResponse::KEYS.into_iter().zip(response.values()).collect();
    if as_json {
        return json::print(&json::step(figure, &values));
    }
    table::step(figure, &values);
    Ok(())
}

/// Prints how often each signal of congestion was right, by jitter.
pub(super) fn signals(figure: &Figure, rows: &[(Span, [f64; 3])], as_json: bool) -> anyhow::Result<()> {
    if as_json {
        return json::print(&json::signals(figure, rows));
    }
    table::signals(figure, rows);
    Ok(())
}
