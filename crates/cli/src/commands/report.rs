//! `thalweg report`: the report page of earlier runs.

use std::path::PathBuf;

use thalweg_lab::metrics::Summary;
use thalweg_lab::run_folder;

use crate::folder;

#[derive(clap::Args)]
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
    crate::play::write_report(&outcomes, crate::play::title(&runs), Vec::new(), &arguments.out)
}
