//! Playing runs and showing their results, for `compare`, `run` and `reproduce`.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use anyhow::{Context, anyhow, bail};
use thalweg_lab::bound::Curves;
use thalweg_lab::metrics::Summary;
use thalweg_lab::report::{self, About};
use thalweg_lab::simulate::SimulateError;
use thalweg_lab::statistics::distinct;
use thalweg_lab::{Note, Outcome, Scenario, inputs, run_folder, simulate};
use thalweg_netsim::synthesize::Synthetic;
use thalweg_sender::{Registry, SenderFactory};

use crate::progress::{self, Progress};
use crate::standard_input::Spooled;
use crate::{folder, interrupt, link, recorded};

/// How much of the machine, and of the terminal, playing takes.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Effort {
    /// Number of parallel runs (default: the number of cores)
    #[arg(long, visible_alias = "workers", value_name = "NUMBER")]
    #[arg(value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=1024))]
    jobs: Option<usize>,
    /// Print nothing but results and errors
    #[arg(long, short)]
    quiet: bool,
}

impl Effort {
    /// Follows --quiet from here on.
    pub(crate) fn begin(&self) {
        if self.quiet {
            progress::be_quiet();
        }
    }

    pub(crate) fn threads(&self, jobs: usize) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, |threads| threads.get());
        self.jobs.unwrap_or_else(cores).min(jobs)
    }
}

/// A run to play.
pub(crate) struct Job {
    pub(crate) scenario: Scenario,
    pub(crate) scheme: Arc<dyn SenderFactory>,
    /// The folder for its output files.
    pub(crate) folder: PathBuf,
    /// True if its files are written: of many runs that differ only in their seeds, only those of the first are.
    pub(crate) is_written: bool,
}

/// Schemes that are played where none is named: WebRTC's, a published one and ours.
pub(crate) const COMPARED: &str = "gcc,vidaptive,thalweg";

/// Schemes by their names.
pub(crate) fn schemes(registry: &Registry, names: &[String]) -> anyhow::Result<Vec<Arc<dyn SenderFactory>>> {
    names.iter().map(|name| Ok(thalweg_lab::named(registry, name.trim())?)).collect()
}

/// A run of each scheme in each scenario. A run's folder in `out` is named by what distinguishes it: link, video, seed
/// where there are several, then the scheme.
pub(crate) fn matrix(scenarios: &[Scenario], schemes: &[Arc<dyn SenderFactory>], out: &Path) -> Vec<Job> {
    let several = |of: &dyn Fn(&Scenario) -> String| {
        scenarios.first().is_some_and(|first| scenarios.iter().any(|scenario| of(scenario) != of(first)))
    };
    let link = |scenario: &Scenario| scenario.name.clone();
    let video = |scenario: &Scenario| scenario.video.label();
    let seed = |scenario: &Scenario| format!("seed-{}", scenario.seed.get());
    let parts: [&dyn Fn(&Scenario) -> String; 3] = [&link, &video, &seed];
    let named: Vec<_> = parts.into_iter().filter(|of| several(of)).collect();
    let job = |scenario: &Scenario, scheme: &Arc<dyn SenderFactory>| {
        let folder = named.iter().fold(out.to_path_buf(), |folder, of| folder.join(folder_name(&of(scenario))));
        Job {
            scenario: scenario.clone(),
            scheme: scheme.clone(),
            folder: folder.join(folder_name(scheme.name())),
            is_written: true,
        }
    };
    scenarios.iter().flat_map(|scenario| schemes.iter().map(move |scheme| job(scenario, scheme))).collect()
}

/// Makes the folder ready before anything is played. What these runs read there is followed to where it moves.
///
/// # Errors
/// When it cannot be written to, or two runs would have the same folder.
pub(crate) fn prepare(jobs: &mut [Job], out: &Path, resume: bool) -> anyhow::Result<()> {
    let folders: Vec<PathBuf> =
        jobs.iter().map(|job| job.folder.strip_prefix(out).unwrap_or(&job.folder).to_path_buf()).collect();
    let mut known = BTreeSet::new();
    if let Some(folder) = folders.iter().find(|folder| !known.insert(*folder)) {
        bail!("{} would be played twice into one folder: name each scheme, link and video once", folder.display());
    }
    if let Some(earlier) = folder::prepare(out, &folders, resume)? {
        jobs.iter_mut().for_each(|job| inputs::follow(&mut job.scenario, out, &earlier));
    }
    Ok(())
}

/// Refuses an option, given with the field of the scenario that it sets, that has no effect on any of the jobs. One that
/// has none on some of them is noted with their results.
///
/// # Errors
/// When there is such an option; the error says why.
pub(crate) fn refuse_idle(jobs: &[Job], options: &[(String, &str)]) -> anyhow::Result<()> {
    idle(jobs, options).into_iter().next().map_or(Ok(()), |problem| Err(anyhow!(problem)))
}

/// Options, given with the field of the scenario that each sets, that have no effect on any of the jobs, and why.
pub(crate) fn idle(jobs: &[Job], options: &[(String, &str)]) -> Vec<String> {
    if options.is_empty() {
        return Vec::new();
    }
    // A sender whose parameters are out of range is refused when it is played.
    let notes: Vec<Vec<Note>> = jobs.iter().map(|job| job.scenario.notes(&*job.scheme).unwrap_or_default()).collect();
    let of = |(option, field): &(String, &str)| {
        let idle: Option<Vec<&Note>> =
            notes.iter().map(|notes| notes.iter().find(|note| note.field == *field)).collect();
        idle?.first().map(|note| format!("{option} has no effect: {}", note.why))
    };
    options.iter().filter_map(of).collect()
}

/// A name made fit for a folder that shells and file systems take without quotes.
pub(crate) fn folder_name(name: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || ['-', '_', '.', ',', '=', '@'].contains(&letter);
    name.replace(" %", "-percent").replace('%', "-percent").replace(|letter| !is_plain(letter), "-")
}

/// Results of several jobs.
pub(crate) struct Played {
    /// Outcomes of the jobs that were played, in their order.
    pub(crate) outcomes: Vec<Outcome>,
    /// Why some results are missing: a run that failed, a file that could not be written, an interruption.
    pub(crate) problem: Option<anyhow::Error>,
}

/// Ctrl-C: the program's exit code is 130.
#[derive(Debug, Clone)]
pub(crate) struct Interrupted {
    played: usize,
    jobs: usize,
    /// Their name.
    what: &'static str,
    /// How to go on; empty if it does not.
    fix: &'static str,
}

const RESUME: &str = "the same command with --resume goes on";

impl Interrupted {
    /// Interruption of a command that --resume goes on with.
    pub(crate) fn for_now(played: usize, jobs: usize) -> Interrupted {
        Interrupted::of_runs(played, jobs, RESUME)
    }

    /// Interruption of a command that goes on by itself.
    pub(crate) fn until_again(played: usize, jobs: usize) -> Interrupted {
        Interrupted::of_runs(played, jobs, "the same command goes on")
    }

    /// Interruption of a command that would go on with --keep.
    pub(crate) fn for_want_of_a_folder(played: usize, jobs: usize) -> Interrupted {
        Interrupted::of_runs(played, jobs, "--keep FOLDER keeps each for the next time")
    }

    /// Interruption of a command that does not go on where it stopped.
    pub(crate) fn for_good(played: usize, jobs: usize) -> Interrupted {
        Interrupted::of_runs(played, jobs, "")
    }

    fn of_runs(played: usize, jobs: usize, fix: &'static str) -> Interrupted {
        Interrupted { played, jobs, what: "runs", fix }
    }
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Interrupted { played, jobs, what, fix } = self;
        write!(f, "interrupted: {played} of {jobs} {what} were finished")?;
        if fix.is_empty() { Ok(()) } else { write!(f, "; {fix}") }
    }
}

impl std::error::Error for Interrupted {}

/// Plays the jobs, as many at once as there are cores. With `resume`, a job whose folder has its results is read.
///
/// # Errors
/// When nothing was played; otherwise what failed is the result's problem, so that the rest is not lost.
pub(crate) fn all(jobs: &[Job], resume: bool, effort: &Effort) -> anyhow::Result<Played> {
    let (mut outcomes, mut left) = (Vec::new(), Vec::new());
    for (place, job) in jobs.iter().enumerate() {
        if resume && run_folder::is_played(&job.folder, &job.scenario, &inputs::of(&job.scenario)?, &*job.scheme) {
            outcomes.push((place, run_folder::read_outcome(&job.folder)?));
        } else {
            left.push((place, job));
        }
    }
    let wanted: Vec<&Job> = left.iter().map(|(_, job)| *job).collect();
    let mut problem = None;
    for (index, played) in several(&wanted, effort, &|_, outcome| outcome)? {
        match played {
            Ok(outcome) => outcomes.push((left[index].0, outcome)),
            Err(error) => {
                problem.get_or_insert(error);
            }
        }
    }
    outcomes.sort_by_key(|(place, _)| *place);
    let outcomes: Vec<Outcome> = outcomes.into_iter().map(|(_, outcome)| outcome).collect();
    match problem {
        Some(error) if outcomes.is_empty() => Err(interrupted(error, 0, jobs.len())),
        problem => {
            let played = outcomes.len();
            Ok(Played { outcomes, problem: problem.map(|error| interrupted(error, played, jobs.len())) })
        }
    }
}

/// Says how much was played, if the error is an interruption.
pub(crate) fn interrupted(error: anyhow::Error, played: usize, jobs: usize) -> anyhow::Error {
    if is_interruption(&error) { Interrupted::for_now(played, jobs).into() } else { error }
}

/// Says how many evaluations of a search were finished, if the error is an interruption in one of them.
pub(crate) fn stopped(error: anyhow::Error, evaluations: usize, wanted: usize) -> anyhow::Error {
    match error.is::<Interrupted>() {
        true => Interrupted { what: "evaluations", ..Interrupted::for_now(evaluations, wanted) }.into(),
        false => error,
    }
}

fn is_interruption(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| matches!(cause.downcast_ref(), Some(SimulateError::Interrupted)))
}

/// The same, but keeps only the result of `see` for each run: the complete outcomes of many runs would not fit into
/// memory. After Ctrl-C there are those of the runs that were finished, and the interruption.
///
/// # Errors
/// When a run fails.
pub(crate) fn all_seen<T: Send>(
    jobs: &[Job],
    effort: &Effort,
    see: &(impl Fn(&Job, Outcome) -> T + Sync),
) -> anyhow::Result<(Vec<T>, Option<Interrupted>)> {
    let jobs: Vec<&Job> = jobs.iter().collect();
    let (mut seen, mut was_interrupted) = (Vec::new(), false);
    for (_, result) in several(&jobs, effort, see)? {
        match result {
            Ok(found) => seen.push(found),
            Err(error) if is_interruption(&error) => was_interrupted = true,
            Err(error) => return Err(error),
        }
    }
    let interrupted = was_interrupted.then(|| Interrupted::for_good(seen.len(), jobs.len()));
    Ok((seen, interrupted))
}

/// The results of the jobs by their places: an outcome, an error, or both if the outcome could not be written. Jobs
/// after a failed one are not played.
fn several<T: Send>(
    jobs: &[&Job],
    effort: &Effort,
    see: &(impl Fn(&Job, Outcome) -> T + Sync),
) -> anyhow::Result<Vec<(usize, anyhow::Result<T>)>> {
    let spooled = Spooled::of(jobs.iter().map(|job| &job.scenario))?;
    recorded::announce(jobs.iter().map(|job| &job.scenario))?;
    let progress = Progress::new(jobs.iter().map(|job| job.scenario.duration));
    let seeds = distinct(jobs.iter().map(|job| job.scenario.seed)).len();
    let done = in_threads(jobs.len(), effort, &|index| {
        let (outcome, written) = match one(jobs[index], seeds > 1, &spooled, &progress) {
            Ok((outcome, written)) => (Ok(see(jobs[index], outcome)), written),
            Err(error) => (Err(error), Ok(())),
        };
        // The remaining runs would only delay the error message.
        let goes_on = outcome.is_ok() && written.is_ok();
        // What was played is shown even if it could not be written.
        let done = std::iter::once(outcome).chain(written.err().map(Err)).collect::<Vec<_>>();
        if goes_on { ControlFlow::Continue(done) } else { ControlFlow::Break(done) }
    });
    Ok(done.into_iter().flat_map(|(index, done)| done.into_iter().map(move |done| (index, done))).collect())
}

/// Does `work` for each number below `count`, as many at once as `effort` has threads, until one breaks; what it returned,
/// in order of the numbers.
pub(crate) fn in_threads<T: Send>(
    count: usize,
    effort: &Effort,
    work: &(impl Fn(usize) -> ControlFlow<T, T> + Sync),
) -> Vec<(usize, T)> {
    let next = Mutex::new(0..count);
    let mut done: Vec<(usize, T)> = std::thread::scope(|scope| {
        let run = || {
            let mut done = Vec::new();
            while let Some(index) = next.lock().ok().and_then(|mut next| next.next()) {
                done.push((
                    index,
                    match work(index) {
                        ControlFlow::Continue(done) => done,
                        ControlFlow::Break(done) => {
                            next.lock().into_iter().for_each(|mut next| *next = 0..0);
                            done
                        }
                    },
                ));
            }
            done
        };
        let workers: Vec<_> = (0..effort.threads(count)).map(|_| scope.spawn(run)).collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    done.sort_by_key(|(index, _)| *index);
    done
}

/// For the whole program: a search plays the same scenarios again and again.
static CURVES: Curves = Curves::new();

/// Plays a job, which is known by its seed too where that differs; returns its outcome, and whether its folder could be
/// written.
fn one(
    job: &Job,
    by_seed: bool,
    spooled: &Spooled,
    progress: &Progress,
) -> anyhow::Result<(Outcome, anyhow::Result<()>)> {
    let Job { scenario, scheme, folder, is_written } = job;
    let seed = if by_seed { format!(", seed {}", scenario.seed.get()) } else { String::new() };
    let label = format!("{} over {}{seed}", scheme.name(), scenario.name);
    let mut find =
        |name: &str| link::find(name, scenario.duration, scenario.seed).map_err(|error| format!("{error:#}"));
    // Before playing: what is hashed is what is read.
    let inputs = if *is_written { inputs::of(scenario)? } else { Vec::new() };
    let progress = progress.begin(label.clone(), scenario.duration);
    let mut say = |now| {
        progress.report(now);
        if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let scenario_played = spooled.scenario(scenario);
    let mut run = simulate(&scenario_played, &**scheme, &mut find, &mut say).with_context(|| label)?;
    CURVES.judge(&scenario_played, &mut find, &mut run.outcome);
    run.outcome.summary.speed_x = Some(progress.finish());
    run.outcome.summary.video = scenario.video.label();
    let written = if *is_written { run_folder::write(folder, scenario, &inputs, &**scheme, &run) } else { Ok(()) };
    Ok((run.outcome, written.map_err(anyhow::Error::from)))
}

/// The title of a report.
pub(crate) fn title(runs: &[Summary]) -> String {
    let sorted = |of: fn(&Summary) -> &str| {
        let mut known = distinct(runs.iter().map(of));
        known.sort_unstable();
        known
    };
    let (schemes, links) = (sorted(|run| &run.scheme), sorted(|run| &run.trace));
    let is_synthetic = |link: &str| link.parse::<Synthetic>().is_ok();
    let links: Vec<String> =
        links.iter().map(|link| link.to_string() + if is_synthetic(link) { " (synthetic)" } else { "" }).collect();
    let who = match &schemes[..] {
        [] => return "No runs".into(),
        [scheme] => (*scheme).into(),
        several => format!("{} schemes", several.len()),
    };
    match links.len() {
        ..4 => format!("{who} over {}", links.join(", ")),
        several => format!("{who} over {several} links"),
    }
}

/// Writes the report of these runs.
pub(crate) fn write_report(outcomes: &[Outcome], about: About, path: &Path) -> anyhow::Result<()> {
    let html = report::html(&About { command: folder::command_line(), ..about }, outcomes);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    crate::folder::write_whole(path, html.as_bytes())?;
    note!("report: {}", path.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::folder_name;

    #[test]
    fn a_folders_name_needs_no_quotes_and_no_escaping() {
        let names = ["vidaptive:rocc", "60 %", "2Mbps/500kbps@40s", "poisson:rate=2Mbps", "a\\b*c?"];
        let folders = ["vidaptive-rocc", "60-percent", "2Mbps-500kbps@40s", "poisson-rate=2Mbps", "a-b-c-"];
        assert_eq!(names.map(folder_name), folders);
    }
}
