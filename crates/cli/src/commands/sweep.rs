//! `thalweg sweep`: a grid of runs, and one table.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use serde_json::json;
use thalweg_lab::bound::Curves;
use thalweg_lab::report::Plot;
use thalweg_lab::run_folder::Input;
use thalweg_lab::sweep::{
    self, Files, Grid, GridError, JobError, Known, MergeError, Part, Parts, Row, Shard, Status, Sweep,
};
use thalweg_lab::{Scenario, inputs};
use thalweg_netsim::Trace;
use thalweg_sender::Registry;

use crate::contestant::{self, Contestant};
use crate::play::{self, Effort, Interrupted};
use crate::progress::Progress;
use crate::{folder, interrupt, link};

#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:
  thalweg sweep examples/sweep.toml
  thalweg sweep examples/sweep.toml --workers 4 -o out/sweep
  thalweg sweep examples/sweep.toml --shard 0/4 -o out/sweep
  thalweg sweep merge out/sweep
  thalweg sweep plot out/sweep --axes queue,trace"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Grid file: a scenario and its varied fields (docs/sweeps.md)
    #[arg(required = true)]
    grid: Option<PathBuf>,
    /// The folder for the table and, while it is played, for its rows
    ///
    /// The same command continues from its contents: no run is played twice, also after the grid has grown.
    #[arg(long, short, default_value = "out", value_name = "FOLDER")]
    out: PathBuf,
    /// Play one of several shards, such as 0/4 to 3/4; `thalweg sweep merge` makes the table of them
    #[arg(long, value_name = "INDEX/NUMBER")]
    shard: Option<Shard>,
    /// Play failed runs again
    #[arg(long)]
    retry_failed: bool,
    /// External estimator as NAME=COMMAND, played as a scheme of this name; repeatable
    #[arg(long, value_name = "NAME=COMMAND")]
    contestant: Vec<Contestant>,
    #[command(flatten)]
    effort: Effort,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Make the table of shards
    Merge {
        /// The folders of the shards
        #[arg(required = true)]
        folders: Vec<PathBuf>,
        /// Folder for the table (default: the first of them)
        #[arg(long, short, value_name = "FOLDER")]
        out: Option<PathBuf>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Draw a heat map of a figure over two axes, and the Pareto front of two figures
    Plot {
        /// The folder of the table
        folder: PathBuf,
        /// Axes across and down, by their columns (default: the last two with several values)
        #[arg(long, value_delimiter = ',', value_name = "ACROSS,DOWN")]
        axes: Vec<String>,
        /// Figure of the heat map, by key of summary.json
        #[arg(long, default_value = "latency_p95_ms")]
        figure: String,
        /// Two figures of the Pareto front
        #[arg(long, value_delimiter = ',', value_name = "ACROSS,UP")]
        #[arg(default_values = ["latency_p95_ms", "video_bitrate_bps"])]
        front: Vec<String>,
        /// Page to write, one file (default: plot.html in the folder)
        #[arg(long, short, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}

/// Shards are missing: the program's exit code is 3.
#[derive(Debug)]
pub(crate) struct Incomplete(String);

impl fmt::Display for Incomplete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Incomplete {}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match (&arguments.command, &arguments.grid) {
        (Some(Command::Merge { folders, out, json }), _) => merge(folders, out.as_ref().unwrap_or(&folders[0]), *json),
        (Some(Command::Plot { folder, axes, figure, front, out }), _) => {
            let out = out.clone().unwrap_or_else(|| folder.join("plot.html"));
            plot(folder, axes, figure, front, &out)
        }
        (None, Some(grid)) => play(arguments, grid),
        (None, None) => bail!("no grid: name one, as in `thalweg sweep grid.toml`"),
    }
}

fn play(arguments: &Arguments, path: &Path) -> anyhow::Result<()> {
    arguments.effort.begin();
    let registry = contestant::registry(&arguments.contestant)?;
    let sweep = read(path, &registry).with_context(|| path.display().to_string())?;
    let shard = arguments.shard.unwrap_or(Shard::WHOLE);
    interrupt::listen();
    let out = &arguments.out;
    let mut parts = Parts::open(out, shard)?;
    if arguments.retry_failed {
        parts.forget_failed();
    }
    let player = Player {
        sweep: &sweep,
        registry: &registry,
        effort: &arguments.effort,
        curves: Curves::new(),
        noted: Mutex::default(),
    };
    let known = Known::of(&sweep, shard, &parts);
    let (jobs, all) = (known.rows.len() + known.left.len(), sweep.len());
    if !known.rows.is_empty() {
        note!("{} of {jobs} runs are known from {}", known.rows.len(), out.display());
        player.check(&known, out)?;
    }
    let played = known.left.len();
    let rows = player.play(known, parts)?;
    let failed = count_failed(&rows);
    let results = match arguments.shard {
        Some(shard) => Part::new(&sweep, shard, rows).write(out)?,
        None => sweep::write_results(out, rows)?,
    };
    if arguments.json {
        let (shard, results) = (shard.to_string(), results.display().to_string());
        let whole = json!({
            "sweep": sweep.key(), "jobs": jobs, "of": all, "shard": shard, "played": played, "failed": failed, "results": results,
        });
        outln!("{}", serde_json::to_string_pretty(&whole)?);
    } else {
        outln!("{}", said(jobs, Some(played), failed, &results));
        if arguments.shard.is_none() {
            let rows = if results.extension().is_some_and(|kind| kind == "parquet") { "Parquet" } else { "JSON lines" };
            note!("thalweg sweep plot {} draws it; any reader of {rows} has its rows (docs/sweeps.md)", out.display());
        }
    }
    Ok(())
}

/// The result in words.
fn said(jobs: usize, played: Option<usize>, failed: usize, results: &Path) -> String {
    let played = played.map_or(String::new(), |played| format!(", {played} of them played now"));
    let failed = match failed {
        0 => String::new(),
        1 => ", 1 failed (its error is in the table)".into(),
        many => format!(", {many} failed (their errors are in the table)"),
    };
    format!("{jobs} runs{played}{failed}: {}", results.display())
}

fn count_failed(rows: &[Row]) -> usize {
    rows.iter().filter(|row| row.status == Status::Failed).count()
}

fn read(path: &Path, registry: &Registry) -> anyhow::Result<Sweep> {
    let text = std::fs::read_to_string(path)?;
    let grid = Grid::read(&text).map_err(|error| match error {
        GridError::Content(error) => super::scenario::explained(&text, &error),
        error => error.into(),
    })?;
    Ok(grid.expand(registry, &Here)?)
}

fn merge(folders: &[PathBuf], out: &Path, json: bool) -> anyhow::Result<()> {
    let rows = sweep::merge(folders).map_err(|error| match error {
        incomplete @ MergeError::Incomplete { .. } => anyhow!(Incomplete(incomplete.to_string())),
        other => other.into(),
    })?;
    let (jobs, failed) = (rows.len(), count_failed(&rows));
    let results = sweep::write_results(out, rows)?;
    if json {
        let whole = json!({ "jobs": jobs, "failed": failed, "results": results.display().to_string() });
        outln!("{}", serde_json::to_string_pretty(&whole)?);
    } else {
        outln!("{}", said(jobs, None, failed, &results));
    }
    Ok(())
}

fn plot(folder: &Path, axes: &[String], figure: &str, front: &[String], out: &Path) -> anyhow::Result<()> {
    let rows = sweep::read_results(folder)?;
    let wrong = |problem: String| anyhow!("{}: {problem}", folder.display());
    let [across, down] = match axes {
        [] => Plot::default_axes(&rows),
        [across, down] => [across.clone(), down.clone()],
        _ => bail!("--axes has {} names: write two, as in --axes queue,trace", axes.len()),
    };
    let [first, second] = front else {
        bail!("--front has {} figures: write two, as in --front latency_p95_ms,video_bitrate_bps", front.len());
    };
    let plot = Plot::new(&rows, [&across, &down], figure, [first, second]).map_err(wrong)?;
    let command = folder::command_line();
    crate::folder::write_whole(out, plot.html(&folder.display().to_string(), &command, &rows).as_bytes())?;
    outln!("{}", out.display());
    Ok(())
}

/// The files and links of this machine.
pub(super) struct Here;

impl Files for Here {
    fn inputs(&self, scenario: &Scenario) -> Result<Vec<Input>, String> {
        inputs::of(scenario).map_err(|error| format!("{error:#}"))
    }

    fn trace(&self, name: &str, scenario: &Scenario) -> Result<Arc<Trace>, String> {
        link::find(name, scenario.duration, scenario.seed).map_err(|error| format!("{error:#}"))
    }
}

/// Time between two points up to which rows survive the machine.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);

struct Player<'a> {
    sweep: &'a Sweep,
    registry: &'a Registry,
    effort: &'a Effort,
    curves: Curves,
    /// Notes that were printed.
    noted: Mutex<BTreeSet<String>>,
}

/// Result of a job's thread.
type Done = Result<Row, anyhow::Error>;

impl Player<'_> {
    /// Plays some of the known rows again.
    fn check(&self, known: &Known, out: &Path) -> anyhow::Result<()> {
        let rows = known.to_check();
        let jobs: Vec<u32> = rows.iter().map(|row| row.job).collect();
        for (was, is) in rows.iter().zip(self.rows(&jobs, &|_| Ok(()))) {
            let all = known.rows.len() + known.left.len();
            let is = is.map_err(|error| interrupted(error, known.rows.len(), all))?;
            was.check(&is).with_context(|| out.display().to_string())?;
        }
        Ok(())
    }

    /// The known rows and those of the jobs that are left, each of which is kept as soon as it is played.
    fn play(&self, Known { mut rows, left }: Known, parts: Parts) -> anyhow::Result<Vec<Row>> {
        let all = rows.len() + left.len();
        let keeper = Keeper::new(parts);
        let played = self.rows(&left, &|row| keeper.keep(row));
        // Also what was played before an error.
        keeper.end()?;
        let mut problem = None;
        for done in played {
            match done {
                Ok(row) => rows.push(row),
                Err(error) => drop(problem.get_or_insert(error)),
            }
        }
        match problem {
            Some(error) => Err(interrupted(error, rows.len(), all)),
            None => Ok(rows),
        }
    }

    /// The rows of jobs in their order up to the first error; `keep` is given each when it is played.
    fn rows(&self, jobs: &[u32], keep: &(impl Fn(&Row) -> anyhow::Result<()> + Sync)) -> Vec<Done> {
        let progress = Progress::new(jobs.iter().map(|job| self.sweep.duration_of(*job)));
        let done = play::in_threads(jobs.len(), self.effort, &|place| {
            let row = self.row(jobs[place], &progress).and_then(|row| keep(&row).map(|()| row));
            if row.is_ok() { ControlFlow::Continue(row) } else { ControlFlow::Break(row) }
        });
        done.into_iter().map(|(_, done)| done).collect()
    }

    fn row(&self, number: u32, progress: &Progress) -> Done {
        let job = self.sweep.job(number, self.registry, &Here)?;
        let (scenario, sender) = job.read(self.registry)?;
        for note in scenario.notes(&*sender).unwrap_or_default() {
            let note = format!("note for {}: {note}", sender.name());
            // Once a command, however many runs it plays.
            if self.noted.lock().is_ok_and(|mut noted| noted.insert(note.clone())) {
                note!("{note}");
            }
        }
        let progress = progress.begin(format!("job {number}"), self.sweep.duration_of(number));
        let mut say = |now| {
            progress.report(now);
            if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let row = job.play(self.registry, &Here, &self.curves, &mut say)?;
        progress.end();
        Ok(row)
    }
}

/// Says how much was played, if the error is an interruption.
fn interrupted(error: anyhow::Error, played: usize, jobs: usize) -> anyhow::Error {
    match error.downcast_ref() {
        Some(JobError::Interrupted) => Interrupted::until_again(played, jobs).into(),
        _ => error,
    }
}

/// Keeps rows as they come from several threads.
struct Keeper(Mutex<(Parts, Instant)>);

impl Keeper {
    #[allow(clippy::disallowed_methods)] // When a disk is asked to keep what it has is no result.
    fn new(parts: Parts) -> Keeper {
        Keeper(Mutex::new((parts, Instant::now())))
    }

    fn state(&self) -> MutexGuard<'_, (Parts, Instant)> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    #[allow(clippy::disallowed_methods)]
    fn keep(&self, row: &Row) -> anyhow::Result<()> {
        let (parts, synced) = &mut *self.state();
        parts.append(row)?;
        if synced.elapsed() >= SYNC_INTERVAL {
            parts.sync()?;
            *synced = Instant::now();
        }
        Ok(())
    }

    fn end(&self) -> anyhow::Result<()> {
        Ok(self.state().0.sync()?)
    }
}
