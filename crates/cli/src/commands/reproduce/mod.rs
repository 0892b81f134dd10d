//! `thalweg reproduce`: a paper's figure, its numbers next to ours, or a specification's bounds.

mod bounded;
mod pages;
mod scenarios;
mod show;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use thalweg_lab::Outcome;
use thalweg_lab::bound::Curves;
use thalweg_lab::kept::{Kept, Planned};
use thalweg_lab::report::About;
use thalweg_lab::sweep::Key;
use thalweg_papers::{Experiment, Figure, JobError, KeptSample, Sample, figures, scatters};
use thalweg_sender::Scheme;
use thalweg_units::{Seed, Span};

use show::Results;

use super::pictures::Pictures;
use super::sweep::Here;
use super::values;
use crate::keeping::{self, Keeping};
use crate::play::{self, Effort, Interrupted, Job};
use crate::progress::Progress;
use crate::suggest::Unknown;
use crate::{folder, interrupt, link, recorded};

/// A heading of the help.
const RECORDINGS: &str = "Recordings";

#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg reproduce list
  thalweg reproduce camel-fig10
  thalweg reproduce fbra-table1 --runs 30 --json
  thalweg reproduce l4s-latency
  thalweg reproduce camel --pages results")]
pub(crate) struct Arguments {
    /// The figures: a name such as vidaptive-fig7, all of a paper (`vidaptive`), `all`, or `list`
    #[arg(required = true)]
    figures: Vec<String>,
    /// Write a page of Markdown for each paper, and an index of verdicts, to this folder instead of printing tables
    ///
    /// A figure replaces its section of its paper's page; the other sections stay as they are. A figure whose results are
    /// in --out already, made by this program, is not played again.
    #[arg(long, value_name = "FOLDER", conflicts_with = "json")]
    pages: Option<PathBuf>,
    /// Duration of each run (default: the figure's own)
    #[arg(long, value_parser = values::duration)]
    duration: Option<Span>,
    /// Leave the reverse path unlimited instead of using the recorded one
    #[arg(long)]
    unloaded: bool,
    /// Runs of each scheme over each link, with consecutive seeds from --seed (default: the figure's own number)
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: Option<u32>,
    /// The seed of every random choice
    #[arg(long, default_value_t = Seed::new(1), value_parser = values::seed)]
    seed: Seed,
    #[command(flatten)]
    effort: Effort,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
    /// The folder for the report and for each run
    #[arg(long, short, default_value = "out")]
    out: PathBuf,
    /// The folder of recorded links in Mahimahi's format, each as NAME.up and NAME.down
    ///
    /// Default: the folder into which `thalweg data fetch mahimahi` puts them.
    #[arg(long, value_name = "FOLDER", help_heading = RECORDINGS)]
    traces: Option<PathBuf>,
    /// The folder of the links that Salsify's authors made (`thalweg data fetch salsify-traces`)
    ///
    /// Our own links replace those that are missing.
    #[arg(long, value_name = "FOLDER", help_heading = RECORDINGS)]
    salsify_traces: Option<PathBuf>,
    /// The folder of Lumos5G's logs, one throughput value per second (`thalweg data fetch lumos5g`)
    ///
    /// Synthetic links replace those that are missing.
    #[arg(long, value_name = "FOLDER", help_heading = RECORDINGS)]
    lumos5g_traces: Option<PathBuf>,
    #[command(flatten)]
    pictures: Pictures,
    #[command(flatten)]
    keeping: Keeping,
}

impl Arguments {
    fn traces(&self) -> Result<PathBuf, thalweg_data::Error> {
        recorded::folder(self.traces.as_ref(), "mahimahi")
    }

    fn salsify_traces(&self) -> Result<PathBuf, thalweg_data::Error> {
        recorded::folder(self.salsify_traces.as_ref(), "salsify-traces")
    }

    fn lumos5g_traces(&self) -> Result<PathBuf, thalweg_data::Error> {
        recorded::folder(self.lumos5g_traces.as_ref(), "lumos5g")
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let known = figures();
    if arguments.figures == ["list"] {
        known.iter().for_each(|figure| outln!("{:22} {}", figure.name, figure.about));
        return Ok(());
    }
    arguments.effort.begin();
    let chosen = chosen(&known, &arguments.figures)?;
    if arguments.keeping.is_given() && arguments.pages.is_none() {
        bail!("--keep keeps what pages show, and no charts of runs: add --pages FOLDER, or leave it out");
    }
    if let Some(kept) = arguments.keeping.planned()? {
        return plan(&chosen, arguments, &kept);
    }
    if let Some(folder) = &arguments.pages {
        return pages::write(&chosen, arguments, folder);
    }
    if arguments.json && chosen.len() > 1 {
        bail!("--json prints one figure, and these are {}: name one, or write --pages", chosen.len());
    }
    interrupt::listen();
    let mut verdicts = Vec::new();
    for figure in &chosen {
        let (results, interrupted) = play(figure, arguments)?;
        results.print(figure, arguments.json)?;
        interrupted.map_or(Ok(()), |interrupted| Err(anyhow!(interrupted)))?;
        verdicts.push(format!("{:22} {}", figure.name, results.verdict()));
    }
    if chosen.len() > 1 {
        outln!("\nverdicts");
        verdicts.iter().for_each(|verdict| outln!("{verdict}"));
    }
    Ok(())
}

/// The figures with these names or of these papers, in the order of the list.
fn chosen<'a>(known: &'a [Figure], names: &[String]) -> anyhow::Result<Vec<&'a Figure>> {
    let is_named = |figure: &Figure, name: &str| {
        name == "all" || figure.name == name || figure.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('-'))
    };
    if let Some(unknown) = names.iter().find(|name| !known.iter().any(|figure| is_named(figure, name))) {
        let known = known.iter().map(|figure| figure.name);
        return Err(Unknown::new("figure", unknown, known, "`thalweg reproduce list` has all of them").into());
    }
    Ok(known.iter().filter(|figure| names.iter().any(|name| is_named(figure, name))).collect())
}

/// Plays a figure. Its runs have folders and a report, unless only a page of results is wanted. After Ctrl-C the results are
/// those of the runs that were finished, and say no verdict.
fn play(figure: &Figure, arguments: &Arguments) -> anyhow::Result<(Results, Option<Interrupted>)> {
    let results = match &figure.experiment {
        Experiment::EncoderStep(step) => {
            let pictures = arguments.pictures.of_figure(&figure.setup)?;
            let response = step.play(&pictures.codec(), &pictures.video(), arguments.seed)?;
            Results::of_step(figure, &response)
        }
        Experiment::Rows(table) => {
            let traces = arguments.traces()?;
            let mut find = |name: &str| {
                let path = traces.join(name);
                if !path.is_file() {
                    return Err(format!("{}: no such file; {}", path.display(), scenarios::FIX));
                }
                let path = path.display().to_string();
                link::find(&path, figure.setup.duration, arguments.seed).map_err(|error| format!("{error:#}"))
            };
            Results::of_rows(figure, table.keys, &(table.play)(&mut find, arguments.seed)?)
        }
        Experiment::Bounded(lines) => Results::of_bounded(figure, lines, &bounded::play(figure, lines, arguments)?),
        Experiment::Runs { schemes, links, readings } => {
            let played = scenarios::played(links, figure.setup, arguments)?;
            let out = arguments.pages.is_none().then(|| arguments.out.join(figure.name));
            let jobs = jobs(schemes, &played, out.as_deref());
            for problem in play::idle(&jobs, &arguments.pictures.given()) {
                note!("note for {}: {problem}", figure.name);
            }
            out.as_deref().map_or(Ok(()), folder::hold)?;
            let Runs { samples, first, interrupted } = match arguments.keeping.open()? {
                Some(kept) => kept_runs(figure, &jobs, &arguments.effort, &kept)?,
                None => runs(figure, &jobs, &arguments.effort)?,
            };
            let (played, samples, first) = (&played, &samples, &first);
            let shown =
                show::Shown { figure, schemes, readings, played, samples, first, interrupted: interrupted.as_ref() };
            let results = Results::of(&shown)?;
            if let Some(out) = out {
                if !arguments.json {
                    shown.print_beyond();
                }
                let scatters = if figure.scattered { scatters(first, &figure.published) } else { Vec::new() };
                let (title, description) = (figure.name.into(), format!("{}. {}", figure.about, results.summary()));
                let about = About { title, description, scatters, table: results.published(), ..About::default() };
                play::write_report(first, about, &out.join("report.html"))?;
            }
            return Ok((results, interrupted));
        }
    };
    Ok((results, None))
}

/// One job for every scheme, link and seed; the runs of the first seed have folders in `out`.
fn jobs(schemes: &[Scheme], played: &[scenarios::Played], out: Option<&Path>) -> Vec<Job> {
    let over = |played: &scenarios::Played, scheme: &Scheme| -> Vec<Job> {
        let folder = out.map(|out| out.join(play::folder_name(played.name())).join(play::folder_name(&scheme.name)));
        let job = |(run, scenario)| Job {
            scenario,
            scheme: Arc::new(scheme.clone()),
            folder: folder.clone().unwrap_or_default(),
            is_written: run == 0 && out.is_some(),
        };
        played.scenarios(&scheme.name).enumerate().map(job).collect()
    };
    played.iter().flat_map(|played| schemes.iter().flat_map(move |scheme| over(played, scheme))).collect()
}

/// The results of a figure's runs.
struct Runs {
    /// The figures of each run.
    samples: Vec<Sample>,
    /// The complete outcomes of the first seed, for charts.
    first: Vec<Outcome>,
    /// Why these are not all.
    interrupted: Option<Interrupted>,
}

fn runs(figure: &Figure, jobs: &[Job], effort: &Effort) -> anyhow::Result<Runs> {
    let Experiment::Runs { readings, .. } = &figure.experiment else { bail!("{} has no runs", figure.name) };
    let see = |job: &Job, outcome: Outcome| {
        (Sample::of(&outcome, readings, &figure.distributions), job.is_written.then_some(outcome))
    };
    let (seen, interrupted) = play::all_seen(jobs, effort, &see)?;
    let (samples, whole): (Vec<_>, Vec<_>) = seen.into_iter().unzip();
    Ok(Runs { samples, first: whole.into_iter().flatten().collect(), interrupted })
}

/// The runs as text, with their keys.
fn as_text(figure: &Figure, jobs: &[Job]) -> anyhow::Result<Vec<(Key, thalweg_papers::Job)>> {
    let text = |job: &Job| {
        thalweg_papers::Job::new(figure, &job.scenario, &*job.scheme, &Here).map_err(|error| anyhow!(error))
    };
    jobs.iter().map(text).collect()
}

/// The same as [`runs`], but each run is kept as soon as it is played, and none is played that is kept: only for pages, which
/// have no charts of whole runs.
fn kept_runs(figure: &Figure, jobs: &[Job], effort: &Effort, kept: &Kept) -> anyhow::Result<Runs> {
    let texts = as_text(figure, jobs)?;
    let left: Vec<usize> = (0..jobs.len()).filter(|place| !kept.has(texts[*place].0)).collect();
    let (progress, curves) = (Progress::new(left.iter().map(|place| jobs[*place].scenario.duration)), Curves::new());
    let play = |place: usize| -> anyhow::Result<KeptSample> {
        let ((key, text), job) = (&texts[left[place]], &jobs[left[place]]);
        let progress =
            progress.begin(format!("{} over {}", job.scheme.name(), job.scenario.name), job.scenario.duration);
        let mut say = |now| {
            progress.report(now);
            if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let played = text.play(&Here, &curves, &mut say)?;
        kept.put(*key, &played)?;
        progress.end();
        Ok(played)
    };
    let done = play::in_threads(left.len(), effort, &|place| match play(place) {
        Ok(sample) => ControlFlow::Continue(Ok(sample)),
        Err(error) => ControlFlow::Break(Err(error)),
    });
    let mut played = std::collections::BTreeMap::new();
    let count = done.len();
    for (place, done) in done {
        let done = done.map_err(|error| match error.downcast_ref() {
            Some(JobError::Interrupted) => {
                Interrupted::until_again(jobs.len() - left.len() + count - 1, jobs.len()).into()
            }
            _ => error,
        })?;
        played.insert(left[place], done);
    }
    let mut samples = Vec::new();
    for (place, (key, _)) in texts.iter().enumerate() {
        let sample = match played.remove(&place) {
            Some(played) => Some(played),
            None => kept.get::<KeptSample>(*key)?,
        };
        let sample = sample.and_then(|sample| sample.sample(figure));
        samples.push(sample.with_context(|| format!("a run of {} is not kept as this version keeps it", figure.name))?);
    }
    Ok(Runs { samples, first: Vec::new(), interrupted: None })
}

/// Writes the runs that are left of these figures. What is not a run, an encoder alone or a computed table, is left to the
/// command that makes the pages.
fn plan(figures: &[&Figure], arguments: &Arguments, kept: &Kept) -> anyhow::Result<()> {
    let mut left = Vec::new();
    for figure in figures {
        let Experiment::Runs { schemes, links, .. } = &figure.experiment else { continue };
        let played = scenarios::played(links, figure.setup, arguments).with_context(|| figure.name)?;
        let jobs = jobs(schemes, &played, None);
        for ((key, text), job) in as_text(figure, &jobs)?.into_iter().zip(&jobs) {
            if !kept.has(key) {
                left.push(Planned { key, seconds: job.scenario.duration.as_secs_f64(), job: text });
            }
        }
    }
    keeping::plan(kept, "figure", left)
}
