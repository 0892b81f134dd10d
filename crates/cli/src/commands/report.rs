//! `thalweg report`: the report page of earlier runs.

use std::path::PathBuf;

use anyhow::bail;
use thalweg_lab::run_folder;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folders of runs (each with an outcome.json), in the order of the charts
    #[arg(required = true)]
    runs: Vec<PathBuf>,
    /// The file to write the page to
    #[arg(long, short, default_value = "report.html")]
    out: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let outcomes =
        arguments.runs.iter().map(|folder| run_folder::read_outcome(folder)).collect::<Result<Vec<_>, _>>()?;
    let Some(first) = outcomes.first() else { bail!("no runs given") };
    let title = format!("{} runs over {}", outcomes.len(), first.summary.trace);
    crate::play::write_report(&outcomes, title, Vec::new(), &arguments.out)
}
