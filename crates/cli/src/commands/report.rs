//! `thalweg report`: the report page of earlier runs.

use std::path::PathBuf;

use thalweg_lab::metrics::Summary;
use thalweg_lab::report::About;
use thalweg_lab::run_folder;

use crate::folder;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg report out
  thalweg report out/gcc out/vidaptive -o both.html")]
pub(crate) struct Arguments {
    /// Folders of runs, or a folder that `compare` or `run` wrote them into, in the order of the charts
    #[arg(required = true)]
    runs: Vec<PathBuf>,
    /// The file to write the page to
    #[arg(long, short, default_value = "report.html")]
    out: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let folders: Vec<Vec<PathBuf>> =
        arguments.runs.iter().map(|path| folder::runs_in(path)).collect::<Result<_, _>>()?;
    let outcomes =
        folders.iter().flatten().map(|folder| run_folder::read_outcome(folder)).collect::<Result<Vec<_>, _>>()?;
    let runs: Vec<Summary> = outcomes.iter().map(|outcome| outcome.summary.clone()).collect();
    let about = About { title: crate::play::title(&runs), ..About::default() };
    crate::play::write_report(&outcomes, about, &arguments.out)
}
