//! Playing runs and showing what came of them: what `compare` and `run` share.

use std::path::Path;

use anyhow::Context;
use thalweg_lab::report::{self, About};
use thalweg_lab::{Outcome, Scenario, run_folder, simulate};
use thalweg_sender::Scheme;

use crate::progress::Progress;
use crate::{link, table};

/// Schemes by their names.
pub(crate) fn schemes(names: &[String]) -> anyhow::Result<Vec<Scheme>> {
    names.iter().map(|name| name.parse::<Scheme>().map_err(anyhow::Error::from)).collect()
}

/// Plays every scheme; with `out`, each run gets a folder in it.
pub(crate) fn all(scenario: &Scenario, schemes: &[Scheme], out: Option<&Path>) -> anyhow::Result<Vec<Outcome>> {
    schemes.iter().map(|scheme| one(scenario, scheme, out)).collect()
}

fn one(scenario: &Scenario, scheme: &Scheme, out: Option<&Path>) -> anyhow::Result<Outcome> {
    let label = format!("{} over {}", scheme.name, scenario.name);
    let progress = Progress::new(label.clone(), scenario.duration);
    let mut find =
        |name: &str| link::find(name, scenario.duration, scenario.seed).map_err(|error| format!("{error:#}"));
    let mut run = simulate(scenario, scheme, &mut find, &mut |now| progress.tell(now)).with_context(|| label)?;
    run.outcome.summary.speed_x = Some(progress.finish());
    if let Some(out) = out {
        let folder = out.join(scheme.name.replace([':', '+'], "-"));
        run_folder::write(&folder, scenario, scheme, &run)?;
    }
    Ok(run.outcome)
}

/// Prints the table or the JSON, and writes the report.
pub(crate) fn show(outcomes: &[Outcome], json: bool, out: &Path) -> anyhow::Result<()> {
    let summaries: Vec<_> = outcomes.iter().map(|outcome| outcome.summary.clone()).collect();
    if json {
        println!("{}", serde_json::to_string_pretty(&serde_json::json!({ "runs": summaries }))?);
    } else {
        table::print(&summaries);
    }
    let title = match outcomes.first() {
        Some(first) => format!("{} schemes over {}", outcomes.len(), first.summary.trace),
        None => "No runs".into(),
    };
    write_report(outcomes, title, &out.join("report.html"))
}

/// Writes the report of these runs.
pub(crate) fn write_report(outcomes: &[Outcome], title: String, path: &Path) -> anyhow::Result<()> {
    let command = std::env::args().collect::<Vec<_>>().join(" ");
    let html = report::html(&About { title, command }, outcomes);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    std::fs::write(path, html).with_context(|| path.display().to_string())?;
    eprintln!("report: {}", path.display());
    Ok(())
}
