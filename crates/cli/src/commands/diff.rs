//! `thalweg diff`: what changed between two sets of results.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use thalweg_lab::metrics::{Column, Summary};
use thalweg_lab::statistics::{Against, distinct, is_pair, over, paired};
use toml::Value;

use super::setting::leaves;
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

/// Values in which runs were played differently that are named; of more, how many.
const NAMED: usize = 6;

/// A run: its figures, and its `run.toml` where that lies beside them.
struct Run {
    summary: Summary,
    played: Option<Value>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let [before, after] = [&arguments.before, &arguments.after].map(|path| read(path));
    let (before, after) = (before?, after?);
    let both = before.iter().chain(&after).map(|run| &run.summary);
    let columns = table::chosen(&arguments.columns, both.clone())?;
    let mut grid = Grid::new(&["scheme", "figure"], ["before", "after", "change"].map(String::from));
    let (mut pairs, mut differences) = (0, BTreeMap::new());
    for scheme in distinct(both.map(|run| run.scheme.as_str())) {
        let [was, is]: [Vec<&Run>; 2] =
            [&before, &after].map(|runs| runs.iter().filter(|run| run.summary.scheme == scheme).collect());
        if was.is_empty() || is.is_empty() {
            let place = if was.is_empty() { &arguments.after } else { &arguments.before };
            eprintln!("{scheme} is in {} alone", place.display());
            continue;
        }
        // Runs without a partner are in no column: means of other seeds would stand beside a change of the pairs.
        let paired: Vec<(&Run, &Run)> = was
            .iter()
            .flat_map(|was| is.iter().filter(|is| is_pair(&was.summary, &is.summary)).map(move |is| (*was, *is)))
            .collect();
        pairs += paired.len();
        paired.iter().for_each(|(was, is)| note_differences(was, is, &mut differences));
        let (was, is): (Vec<&Summary>, Vec<&Summary>) =
            paired.iter().map(|(was, is)| (&was.summary, &is.summary)).unzip();
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
    if !differences.is_empty() {
        let named: Vec<String> =
            differences.iter().take(NAMED).map(|(path, change)| format!("{path} {change}")).collect();
        let more = match differences.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        eprintln!("played differently, before -> after: {}{more}", named.join("; "));
    }
    if grid.is_empty() {
        outln!("no difference in {pairs} pairs of runs");
    } else {
        let pairs = if pairs == 1 { "1 pair".into() } else { format!("{pairs} pairs") };
        outln!("{pairs} of runs of the same link, video and seed; * significant change (95 % interval excludes none)");
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

/// Adds the values of `run.toml` that two runs do not share, by their paths.
fn note_differences(was: &Run, is: &Run, differences: &mut BTreeMap<String, String>) {
    let [Some(was), Some(is)] = [was, is].map(|run| run.played.as_ref()) else { return };
    let [was, is] = [was, is].map(|played| {
        let mut found = Vec::new();
        ["scenario", "scheme"].into_iter().for_each(|root| {
            played.get(root).into_iter().for_each(|value| leaves(root, value, &mut found));
        });
        found.into_iter().collect::<BTreeMap<String, &Value>>()
    });
    let shown = |value: Option<&&Value>| value.map_or("none".into(), ToString::to_string);
    for path in was.keys().chain(is.keys()).filter(|path| was.get(*path) != is.get(*path)) {
        differences.insert(path.clone(), format!("{} -> {}", shown(was.get(path)), shown(is.get(path))));
    }
}

/// The runs in a folder or a file.
fn read(path: &Path) -> anyhow::Result<Vec<Run>> {
    let files = if path.is_file() {
        vec![path.to_path_buf()]
    } else {
        folder::runs_in(path)?.into_iter().map(|run| run.join("summary.json")).collect()
    };
    let run = |file: &PathBuf| {
        let shown = || file.display().to_string();
        let text = fs::read_to_string(file).with_context(shown)?;
        let played = fs::read_to_string(file.with_file_name("run.toml")).ok().and_then(|text| text.parse().ok());
        Ok(Run { summary: serde_json::from_str(&text).with_context(shown)?, played: played.map(Value::Table) })
    };
    files.iter().map(run).collect()
}
