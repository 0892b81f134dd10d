//! Files about a failure: a case that judges it again, and why it is one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thalweg_units::Span;

use super::measure::timeline;
use super::objective::{Played, Term, Verdict};
use crate::Scenario;
use crate::behaviour::made_by;
use crate::explain::{Worst, capacity};
use crate::metrics::{Due, interval, mean};
use crate::simulate::Run;

/// A quarter more or less is the same failure.
const ALIKE: f64 = 0.25;

/// The text of a case file: a scenario and the bars of a figure, of which `reported` is what was found in these runs, and
/// `must` what the best of the references has, or nearly so. `source` says who found it: a table's content. The last change of
/// the scenario ends at `settled_s` seconds.
///
/// # Errors
/// When the scenario has no form in TOML.
pub fn case(
    id: &str,
    source: &str,
    scenario: &Scenario,
    settled_s: f64,
    runs: &[Played],
    verdict: &Verdict,
) -> Result<String, toml::ser::Error> {
    let term = verdict.term();
    let over_seeds = |of: &dyn Fn(&Played) -> f64| mean(runs.iter().map(of)).unwrap_or_default();
    let best = |run: &Played| {
        let each = run.references.iter().map(term.value);
        if term.is_high_good { each.fold(0.0, f64::max) } else { each.fold(f64::INFINITY, f64::min) }
    };
    let (ours, theirs) = (over_seeds(&|run| (term.value)(&run.tested)), over_seeds(&best));
    let round = |value: f64| (value * 1e3).round() / 1e3;
    let reported = [1.0 - ALIKE, 1.0 + ALIKE].map(|share| round(ours * share));
    let from = match term.name {
        "rate" => scenario.duration.scale(2.0 / 3.0),
        "recovery" => Span::from_secs_f64(settled_s),
        _ => Span::ZERO,
    };
    let window = [Span::from_millis(from.as_millis()), scenario.duration].map(|at| at.to_string());
    let seeds: Vec<u64> = runs.iter().map(|run| run.seed).collect();
    Ok(format!(
        "id = {id:?}\ntitle = {:?}\nsource = {{ made_by = {:?}, {source} }}\nseeds = {seeds:?}\nneeds = [\"packets\"]\n\n\
         [[bars]]\nfigure = {:?}\nwindow = {window:?}\nreported = {reported:?}\nmust = {:?}\n\n{}",
        format!("{verdict}: {}", scenario.name),
        format!("hunt, {}", made_by()),
        term.figure,
        (term.must)(theirs).map(round),
        toml::to_string_pretty(&BTreeMap::from([("scenario", scenario)]))?
    ))
}

/// Why a sender failed, in sentences of [`explain`](crate::explain).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Why {
    /// When, and what is bad about that moment.
    pub moment: String,
    /// Why the sender's rate was what it was.
    pub tested: String,
    /// Why the reference's was.
    pub reference: String,
}

/// Worst moments of a kind that are looked at: those of the whole run, of which some are in its last third.
const MOMENTS: usize = 40;

/// Why `tested` was worse than `reference` in respect of `term`, at its worst moment.
pub fn why(term: &Term, tested: &Run, reference: &Run) -> Why {
    let (ours, outcome) = (timeline(tested), &tested.outcome);
    let (series, duration) = (&outcome.series, outcome.summary.duration_s);
    let interval = interval(outcome.frames.iter().map(|frame| frame.captured_s));
    let due = Due { begin: 0.0, end: duration, interval, off: &series.camera_off };
    let kinds = ours.worst(series, &due, MOMENTS);
    // A rate is judged by the last third.
    let from = if term.name == "rate" { duration * 2.0 / 3.0 } else { 0.0 };
    let of = |what: &&str| kinds.iter().find(|worst| worst.what == *what);
    let first = |Worst { moments, .. }: &'_ Worst| moments.iter().find(|moment| moment.at >= from).cloned();
    let found = term.moments.iter().filter_map(of).find_map(first);
    let at = found.as_ref().map_or(duration * 5.0 / 6.0, |moment| moment.at);
    let reference = timeline(reference).why(at, capacity(&reference.outcome.series, at));
    match found {
        Some(moment) => Why { moment: format!("At {at:.1} s: {}.", moment.text), tested: moment.why, reference },
        None => Why { moment: format!("At {at:.1} s."), tested: ours.why(at, capacity(series, at)), reference },
    }
}
