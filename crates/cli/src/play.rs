//! Playing runs and showing their results, for `compare`, `run` and `reproduce`.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use anyhow::Context;
use thalweg_lab::report::{self, About, Scatter};
use thalweg_lab::{Outcome, Scenario, run_folder, simulate};
use thalweg_sender::{Registry, SenderFactory};

use crate::progress::Progress;
use crate::standard_input::Spooled;
use crate::{link, table};

/// A run to play.
pub(crate) struct Job {
    pub(crate) scenario: Scenario,
    pub(crate) scheme: Arc<dyn SenderFactory>,
    /// The folder for its output files.
    pub(crate) folder: PathBuf,
    /// Whether its files are written: of many runs that differ only in their seeds, only those of the first are.
    pub(crate) is_written: bool,
}

/// Schemes by their names.
pub(crate) fn schemes(names: &[String]) -> anyhow::Result<Vec<Arc<dyn SenderFactory>>> {
    let registry = Registry::new();
    names.iter().map(|name| Ok(registry.find(name)?)).collect()
}

/// A run of each scheme, each with a folder in `out`.
pub(crate) fn each(scenario: &Scenario, schemes: &[Arc<dyn SenderFactory>], out: &Path) -> Vec<Job> {
    let job = |scheme: &Arc<dyn SenderFactory>| Job {
        scenario: scenario.clone(),
        scheme: scheme.clone(),
        folder: out.join(folder_name(scheme.name())),
        is_written: true,
    };
    schemes.iter().map(job).collect()
}

/// A name made fit for a folder.
pub(crate) fn folder_name(name: &str) -> String {
    name.replace([':', '+', ' ', '/'], "-")
}

/// Plays the jobs, as many at once as there are cores; outcomes in the order of the jobs.
pub(crate) fn all(jobs: &[Job]) -> anyhow::Result<Vec<Outcome>> {
    all_seen(jobs, &|_, outcome| outcome)
}

/// The same, but keeps only the result of `see` for each run: the complete outcomes of many runs would not fit into
/// memory.
pub(crate) fn all_seen<T: Send>(jobs: &[Job], see: &(impl Fn(&Job, Outcome) -> T + Sync)) -> anyhow::Result<Vec<T>> {
    let spooled = Spooled::of(jobs.iter().map(|job| &job.scenario))?;
    let progress = Progress::new(jobs.iter().map(|job| job.scenario.duration));
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get()).min(jobs.len());
    let next = Mutex::new(0..jobs.len());
    let mut done: Vec<(usize, anyhow::Result<T>)> = std::thread::scope(|scope| {
        let work = || {
            let mut done = Vec::new();
            while let Some(index) = next.lock().ok().and_then(|mut next| next.next()) {
                let outcome = one(&jobs[index], &spooled, &progress).map(|outcome| see(&jobs[index], outcome));
                if outcome.is_err() {
                    // The remaining runs would only delay the error message.
                    next.lock().into_iter().for_each(|mut next| *next = 0..0);
                }
                done.push((index, outcome));
            }
            done
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, outcome)| outcome).collect()
}

fn one(job: &Job, spooled: &Spooled, progress: &Progress) -> anyhow::Result<Outcome> {
    let Job { scenario, scheme, folder, is_written } = job;
    let seed = if *is_written { String::new() } else { format!(", seed {}", scenario.seed.get()) };
    let label = format!("{} over {}{seed}", scheme.name(), scenario.name);
    let mut find =
        |name: &str| link::find(name, scenario.duration, scenario.seed).map_err(|error| format!("{error:#}"));
    let progress = progress.begin(label.clone(), scenario.duration);
    let mut say = |now| {
        progress.report(now);
        ControlFlow::Continue(())
    };
    let mut run = simulate(&spooled.scenario(scenario), &**scheme, &mut find, &mut say).with_context(|| label)?;
    run.outcome.summary.speed_x = Some(progress.finish());
    run.outcome.summary.video = scenario.video.label();
    if *is_written {
        run_folder::write(folder, scenario, &**scheme, &run)?;
    }
    Ok(run.outcome)
}

/// Prints the table or the JSON, and writes the report.
pub(crate) fn show(outcomes: &[Outcome], json: bool, out: &Path) -> anyhow::Result<()> {
    let summaries: Vec<_> = outcomes.iter().map(|outcome| outcome.summary.clone()).collect();
    if json {
        outln!("{}", serde_json::to_string_pretty(&serde_json::json!({ "runs": summaries }))?);
    } else {
        table::print(&summaries);
    }
    let title = match outcomes.first() {
        Some(first) => format!("{} schemes over {}", outcomes.len(), first.summary.trace),
        None => "No runs".into(),
    };
    write_report(outcomes, title, Vec::new(), &out.join("report.html"))?;
    if cfg!(not(feature = "parquet")) {
        eprintln!(
            "no events.parquet: this build lacks the feature `parquet` (cargo build --release -p thalweg-cli has it)"
        );
    }
    Ok(())
}

/// Writes the report of these runs, with these charts of latency against quality.
pub(crate) fn write_report(
    outcomes: &[Outcome],
    title: String,
    scatters: Vec<Scatter>,
    path: &Path,
) -> anyhow::Result<()> {
    let command = std::env::args().collect::<Vec<_>>().join(" ");
    let html = report::html(&About { title, command, scatters }, outcomes);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    std::fs::write(path, html).with_context(|| path.display().to_string())?;
    eprintln!("report: {}", path.display());
    Ok(())
}
