//! `thalweg reproduce`: a paper's figure, its numbers next to ours.

mod scenarios;
mod show;
mod theirs;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;
use thalweg_lab::Outcome;
use thalweg_lab::reproduce::{Experiment, Reading, Sample, figures, scatters};
use thalweg_sender::Scheme;
use thalweg_units::{Seed, Span};

use super::pictures::Pictures;
use crate::play::{self, Job};
use crate::{link, recorded};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The figure, such as vidaptive-fig7 or salsify-cellular, or `list`
    figure: String,
    /// The folder of recorded links in Mahimahi's format, each as NAME.up and NAME.down; when absent where `thalweg
    /// data fetch mahimahi` puts them
    #[arg(long)]
    traces: Option<PathBuf>,
    /// The folder of the links that Salsify's authors made (`thalweg data fetch salsify-traces`); our own links replace
    /// those that are missing
    #[arg(long)]
    salsify_traces: Option<PathBuf>,
    /// The folder of Lumos5G's logs, one throughput value per second (`thalweg data fetch lumos5g`); synthetic links
    /// replace those that are missing
    #[arg(long)]
    lumos5g_traces: Option<PathBuf>,
    /// The folder of the results that Salsify's authors measured (`thalweg data fetch salsify-results`), drawn next to
    /// ours if present
    #[arg(long)]
    salsify_results: Option<PathBuf>,
    #[command(flatten)]
    pictures: Pictures,
    /// Duration of each run; the figure's own when absent
    #[arg(long)]
    duration: Option<Span>,
    /// Leave the reverse path unlimited instead of using the recorded one
    #[arg(long)]
    unloaded: bool,
    /// Runs of each scheme over each link, with consecutive seeds from --seed; the figure's own number when absent
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: Option<u32>,
    /// The seed of every random choice
    #[arg(long, default_value_t = Seed::new(1))]
    seed: Seed,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
    /// The folder for the report and for each run
    #[arg(long, short, default_value = "out")]
    out: PathBuf,
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

    fn salsify_results(&self) -> Result<PathBuf, thalweg_data::Error> {
        recorded::folder(self.salsify_results.as_ref(), "salsify-results")
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let figures = figures();
    if arguments.figure == "list" {
        figures.iter().for_each(|figure| outln!("{:22} {}", figure.name, figure.about));
        return Ok(());
    }
    let Some(figure) = figures.iter().find(|figure| figure.name == arguments.figure) else {
        let names: Vec<&str> = figures.iter().map(|figure| figure.name).collect();
        bail!("'{}' is no figure: choose from {}", arguments.figure, names.join(", "));
    };
    match &figure.experiment {
        Experiment::EncoderStep(step) => {
            let pictures = arguments.pictures.of_figure(&figure.setup);
            let response = step.play(&pictures.codec(), &pictures.video(), arguments.seed)?;
            show::step(figure, &response, arguments.json)
        }
        Experiment::Signals(signals) => show::signals(figure, &signals.play(arguments.seed), arguments.json),
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
            show::rows(figure, table.keys, &(table.play)(&mut find, arguments.seed)?, arguments.json)
        }
        Experiment::Runs { schemes, links, readings } => {
            let played = scenarios::played(links, figure.setup, arguments)?;
            let theirs = theirs::read(&figure.theirs, &arguments.salsify_results()?);
            let out = arguments.out.join(figure.name);
            let Runs { samples, first } = runs(&jobs(schemes, &played, &out), readings)?;
            let (played, samples, first, theirs) = (&played, &samples, &first, &theirs);
            show::Shown { figure, schemes, readings, played, samples, first, theirs }.print(arguments.json)?;
            let scatters = if figure.scattered { scatters(first, &theirs.points) } else { Vec::new() };
            let title = format!("{}: {}", figure.name, figure.about);
            play::write_report(first, title, scatters, &out.join("report.html"))
        }
    }
}

/// One job for every scheme, link and seed; only the runs of the first seed have folders.
fn jobs(schemes: &[Scheme], played: &[scenarios::Played], out: &Path) -> Vec<Job> {
    let over = |played: &scenarios::Played, scheme: &Scheme| -> Vec<Job> {
        let out = out.join(play::folder_name(played.name())).join(play::folder_name(&scheme.name));
        let job = |(run, scenario)| Job {
            scenario,
            scheme: Arc::new(scheme.clone()),
            folder: out.clone(),
            is_written: run == 0,
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
}

fn runs(jobs: &[Job], readings: &[Reading]) -> anyhow::Result<Runs> {
    let see = |job: &Job, outcome: Outcome| (Sample::of(&outcome, readings), job.is_written.then_some(outcome));
    let (samples, whole): (Vec<_>, Vec<_>) = play::all_seen(jobs, &see)?.into_iter().unzip();
    Ok(Runs { samples, first: whole.into_iter().flatten().collect() })
}
