//! `thalweg diff`: what changed between two sets of results.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use thalweg_lab::metrics::{Column, Summary};
use thalweg_lab::statistics::{Against, distinct, is_pair, over, paired};

use crate::grid::Grid;
use crate::{folder, progress, table};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg diff out/earlier/1 out
  thalweg diff out/gcc/summary.json new/gcc/summary.json --changed")]
pub(crate) struct Arguments {
    /// Earlier results: a run's folder, a folder that `compare` or `run` wrote, or a summary.json
    before: PathBuf,
    /// Later results, in any of the same forms
    after: PathBuf,
    /// The columns, by name or by key of summary.json, separated by commas
    #[arg(long, value_delimiter = ',')]
    columns: Vec<String>,
    /// Show only significant differences (95 %); with single runs, any difference
    #[arg(long)]
    changed: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let [before, after] = [&arguments.before, &arguments.after].map(|path| read(path));
    let (before, after) = (before?, after?);
    let both = before.iter().chain(&after);
    let columns = table::chosen(&arguments.columns, both.clone())?;
    let mut grid = Grid::new(&["scheme", "figure"], ["before", "after", "change"].map(String::from));
    let mut pairs = 0;
    for scheme in distinct(both.map(|run| run.scheme.as_str())) {
        let [was, is]: [Vec<&Summary>; 2] =
            [&before, &after].map(|runs| runs.iter().filter(|run| run.scheme == scheme).collect());
        if was.is_empty() || is.is_empty() {
            let place = if was.is_empty() { &arguments.after } else { &arguments.before };
            eprintln!("{scheme} is in {} alone", place.display());
            continue;
        }
        pairs += is.iter().filter(|run| was.iter().any(|other| is_pair(other, run))).count();
        for column in &columns {
            line(&mut grid, scheme, column, &was, &is, arguments.changed);
        }
    }
    if pairs == 0 {
        bail!(
            "nothing to compare: no scheme has runs of the same link, video and seed in {} and {}",
            arguments.before.display(),
            arguments.after.display()
        );
    }
    if grid.is_empty() {
        outln!("no difference in {pairs} pairs of runs");
    } else {
        outln!(
            "{pairs} pairs of runs of the same link, video and seed; * significant change (95 % interval excludes none)"
        );
        out!("{}", grid.text(progress::width_of_output(), false));
    }
    Ok(())
}

fn line(grid: &mut Grid, scheme: &str, column: &Column, was: &[&Summary], is: &[&Summary], changed: bool) {
    let (Some(before), Some(after)) = (over(was, column.value), over(is, column.value)) else { return };
    // From nothing there is no ratio, only a difference.
    let forms = [column.against(), Against::Difference].into_iter();
    let found = forms.filter_map(|against| Some((against, paired(is, was, against, column.value)?))).next();
    let Some((against, found)) = found else { return };
    let unchanged = against.unchanged();
    let differs = if found.interval.is_some() { found.excludes(unchanged) } else { found.mean != unchanged };
    if changed && !differs {
        return;
    }
    let cells = [column.text(before.mean), column.text(after.mean), column.compared(against, found)];
    grid.row(&[scheme, &column.head().join(" ")], cells);
}

/// The summaries in a folder or a file.
fn read(path: &Path) -> anyhow::Result<Vec<Summary>> {
    let files = if path.is_file() {
        vec![path.to_path_buf()]
    } else {
        folder::runs_in(path)?.into_iter().map(|run| run.join("summary.json")).collect()
    };
    let summary = |file: &PathBuf| {
        let shown = || file.display().to_string();
        let text = std::fs::read_to_string(file).with_context(shown)?;
        serde_json::from_str(&text).with_context(shown)
    };
    files.iter().map(summary).collect()
}
