//! A hunt's result: the kinds of failure that were found, each in its smallest scenario.

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};
use serde_json::json;
use thalweg_lab::hunt::{Evaluation, Search, Why, why};

use super::hunter::Hunter;
use crate::grid::Grid;
use crate::progress;

/// A kind of failure.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Failure {
    /// Its folder in that of the hunt.
    pub(super) folder: PathBuf,
    /// Term, state and cause.
    pub(super) kind: String,
    /// The evaluation that found it first.
    pub(super) found_at: usize,
    /// How much worse the sender is at the worst of this kind.
    pub(super) worse: f64,
    /// Scenarios tried to make it smaller.
    pub(super) tried: usize,
    /// The smallest scenario in words.
    pub(super) scenario: String,
    pub(super) why: Why,
    /// The smallest scenario, and how it was judged.
    pub(super) smallest: Evaluation,
}

impl Failure {
    pub(super) fn new(
        hunter: &Hunter<'_>,
        kind: &str,
        (found_at, worse): (usize, f64),
        smallest: Evaluation,
        tried: usize,
    ) -> anyhow::Result<Failure> {
        let verdict = smallest.verdict.as_ref().context("a failure is judged")?;
        let folder = PathBuf::from(format!("{found_at:03}-{verdict}"));
        // Played once more, with all events.
        let [tested, reference] = hunter.pair(&hunter.scenario(&smallest.genes, hunter.first_seed())?)?;
        let why = why(verdict.term(), &tested, &reference);
        let scenario = hunter.plan().words(&smallest.genes);
        Ok(Failure { folder, kind: kind.into(), found_at, worse, tried, scenario, why, smallest })
    }
}

pub(super) fn json(hunter: &Hunter<'_>, search: &Search<'_>, failures: &[Failure]) -> anyhow::Result<String> {
    let result = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "tested": hunter.name(),
        "against": hunter.plan().against,
        "evaluations": search.played().len(),
        "found": failures,
    });
    Ok(serde_json::to_string_pretty(&result)?)
}

pub(super) fn print(hunter: &Hunter<'_>, search: &Search<'_>, failures: &[Failure], out: &Path) {
    let (count, against) = (search.played().len(), hunter.plan().against.join(", "));
    if failures.is_empty() {
        outln!("{}: nothing found in {count} scenarios beside {against}", hunter.name());
        return;
    }
    outln!("{}: {} in {count} scenarios beside {against}\n", hunter.name(), kinds(failures.len()));
    let mut grid = Grid::new(&["kind", "smallest scenario"], ["worse", "found at", "tried"].map(String::from));
    for failure in failures {
        let numbers = [format!("{:.1}", failure.worse), failure.found_at.to_string(), failure.tried.to_string()];
        grid.row(&[&failure.kind, &failure.scenario], numbers);
    }
    outln!("{}", grid.text(progress::width_of_output(), false));
    print_each(failures, out);
}

/// So many kinds of failure.
pub(super) fn kinds(count: usize) -> String {
    format!("{count} {} of failure", if count == 1 { "kind" } else { "kinds" })
}

/// The folders, each with its sentence.
pub(super) fn print_each(failures: &[Failure], out: &Path) {
    for Failure { folder, scenario, why, .. } in failures {
        outln!("{}: {scenario}", out.join(folder).display());
        outln!("  {}", why.moment);
        outln!("    {}", why.tested);
    }
}
