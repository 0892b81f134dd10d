//! `thalweg explain`: why a run's rate was what it was at a moment, and which moments are worth asking about.

use std::path::{Path, PathBuf};

use anyhow::bail;
use thalweg_units::Span;

use crate::commands::values;
use crate::folder;
use crate::play::folder_name;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg explain out/vidaptive --at 12.3s
  thalweg explain out --scheme gcc --at 40s --around 2s
  thalweg explain out/vidaptive --worst 3")]
pub(crate) struct Arguments {
    /// The folder of a run, or with --scheme the folder that `compare` or `run` wrote it into
    run: PathBuf,
    /// Scheme whose run in the folder is explained
    #[arg(long)]
    scheme: Option<String>,
    /// The moment, such as 12.3s
    #[arg(long, value_parser = values::time, conflicts_with = "worst")]
    at: Option<Span>,
    /// Time shown before and after the moment
    #[arg(long, default_value = "500ms", value_parser = values::time, requires = "at")]
    around: Span,
    /// Number of worst moments of each kind to explain, with their causes (default: 1 without --at)
    ///
    /// The kinds: highest frame latency, longest freeze, most unused capacity, deepest queue.
    #[arg(long, value_name = "COUNT", num_args = 0..=1, default_missing_value = "1", value_parser = clap::value_parser!(u8).range(1..))]
    worst: Option<u8>,
}

/// Reads the recorded events: nothing is played again.
#[cfg(feature = "parquet")]
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    use anyhow::Context;
    use thalweg_lab::explain::{Timeline, capacity};
    use thalweg_lab::metrics::{Due, interval};
    use thalweg_lab::run_folder::read_outcome;

    let folder = chosen(&arguments.run, arguments.scheme.as_deref())?;
    let outcome = read_outcome(&folder)?;
    let (summary, series) = (&outcome.summary, &outcome.series);
    let path = folder.join("events.parquet");
    if !path.is_file() {
        bail!(
            "{}: not there, so nothing is known but the figures: a build without the feature `parquet` played it; `thalweg run {}` \
             plays it again",
            path.display(),
            folder.join("run.toml").display()
        );
    }
    let timeline = Timeline::read(&path).with_context(|| path.display().to_string())?;
    let seconds = |span: Span| span.as_secs_f64();
    let Some(at) = arguments.at else {
        outln!("{} over {}", summary.scheme, summary.trace);
        let interval = interval(outcome.frames.iter().map(|frame| frame.captured_s));
        let due = Due { begin: 0.0, end: summary.duration_s, interval, off: &series.camera_off };
        for worst in timeline.worst(series, &due, usize::from(arguments.worst.unwrap_or(1))) {
            outln!("\n{}", worst.what);
            if worst.moments.is_empty() {
                outln!("  none");
            }
            for moment in worst.moments {
                outln!("  {}\n    {}", moment.text, moment.why);
                outln!("    thalweg explain {} --at {:.2}s", folder.display(), moment.at);
            }
        }
        return Ok(());
    };
    if at < Span::ZERO || seconds(at) >= summary.duration_s {
        bail!("--at {at} is outside the run, which lasts {} s", summary.duration_s);
    }
    let (at, around) = (seconds(at), seconds(arguments.around));
    outln!("{}", timeline.why(at, capacity(series, at)));
    outln!("\n{} over {}, around {at} s", summary.scheme, summary.trace);
    timeline.log(at - around, at + around).iter().for_each(|line| outln!("  {line}"));
    outln!("\nvariables at {at} s");
    timeline.variables(at).iter().for_each(|(name, value)| outln!("  {name:20} {value}"));
    Ok(())
}

#[cfg(not(feature = "parquet"))]
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments { at: _, around: _, worst: _, .. } = arguments;
    chosen(&arguments.run, arguments.scheme.as_deref())?;
    bail!(
        "this build lacks the feature `parquet`, by which events are read (cargo build --release -p thalweg-cli has it)"
    )
}

/// The run that is meant.
fn chosen(path: &Path, scheme: Option<&str>) -> anyhow::Result<PathBuf> {
    let mut runs = folder::runs_in(path)?;
    if let Some(scheme) = scheme {
        let name = folder_name(scheme);
        runs.retain(|run| run.file_name().is_some_and(|file| file.to_string_lossy() == name));
    }
    match &runs[..] {
        [run] => Ok(run.clone()),
        [] => bail!("{}: no run of {}", path.display(), scheme.unwrap_or_default()),
        several => {
            let names: Vec<String> = several.iter().map(|run| run.display().to_string()).collect();
            bail!(
                "{} has several runs: choose one with --scheme, or give its own folder: {}",
                path.display(),
                names.join(", ")
            )
        }
    }
}
