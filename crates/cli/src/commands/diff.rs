//! `thalweg diff`: what changed between two sets of results.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use thalweg_lab::metrics::{Column, Summary};
use thalweg_lab::statistics::{Against, over, paired};

use crate::grid::Grid;
use crate::{folder, progress, table};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// What was: a run's folder, a folder that `compare` or `run` wrote, or a summary.json
    before: PathBuf,
    /// What is, likewise
    after: PathBuf,
    /// The columns, by name or by key of summary.json, separated by commas
    #[arg(long, value_delimiter = ',')]
    columns: Vec<String>,
    /// Only what differs by more than chance, or, of single runs, at all
    #[arg(long)]
    changed: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let [before, after] = [&arguments.before, &arguments.after].map(|path| read(path));
    let (before, after) = (before?, after?);
    let both = || before.iter().chain(&after);
    let columns = match arguments.columns[..] {
        [] => table::columns_of(&both().cloned().collect::<Vec<_>>()),
        _ => table::chosen(&arguments.columns).map_err(anyhow::Error::msg)?,
    };
    let mut schemes: Vec<&str> = Vec::new();
    for run in both() {
        if !schemes.contains(&run.scheme.as_str()) {
            schemes.push(&run.scheme);
        }
    }
    let mut grid = Grid::new(&["scheme", "figure"], ["before", "after", "change"].map(String::from));
    let mut pairs = 0;
    for scheme in &schemes {
        let of = |runs: &'_ [Summary]| -> Vec<Summary> {
            runs.iter().filter(|run| run.scheme == *scheme).cloned().collect()
        };
        let (was, is) = (of(&before), of(&after));
        if was.is_empty() || is.is_empty() {
            let place = if was.is_empty() { &arguments.after } else { &arguments.before };
            eprintln!("{scheme} is in {} alone", place.display());
            continue;
        }
        let [was, is]: [Vec<&Summary>; 2] = [was.iter().collect(), is.iter().collect()];
        let same = |run: &&&Summary| {
            was.iter().any(|other| (&other.trace, &other.video, other.seed) == (&run.trace, &run.video, run.seed))
        };
        pairs += is.iter().filter(same).count();
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
            "{pairs} pairs of runs of the same link, video and seed; * where chance does not explain the change (95 % interval)"
        );
        out!("{}", grid.text(progress::width_of_output()));
    }
    Ok(())
}

fn line(grid: &mut Grid, scheme: &str, column: &Column, was: &[&Summary], is: &[&Summary], changed: bool) {
    let (Some(before), Some(after)) = (over(was, column.value), over(is, column.value)) else { return };
    let Some(found) =
        paired(is, was, column.against(), column.value).or_else(|| paired(is, was, Against::Difference, column.value))
    else {
        return;
    };
    let nothing = if column.against() == Against::Ratio && before.mean > 0.0 { 1.0 } else { 0.0 };
    let differs = if found.interval.is_some() { found.excludes(nothing) } else { found.mean != nothing };
    if changed && !differs {
        return;
    }
    let star = if found.excludes(nothing) { "*" } else { "" };
    let cells = [column.text(before.mean), column.text(after.mean), format!("{}{star}", column.compared(found.mean))];
    grid.row(&[scheme, &format!("{} {}", column.name, column.unit)], cells);
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
