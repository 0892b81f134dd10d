//! `thalweg explain`: the decisions of a run around a moment, with their reasons.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::bail;
use thalweg_lab::record::{Row, What};
use thalweg_lab::simulate;
use thalweg_sender::Event;
use thalweg_units::{Span, Time};

use super::run::File;
use crate::play::folder_name;
use crate::progress::Progress;
use crate::{folder, link};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The folder of a run, or with --scheme the folder that `compare` or `run` wrote it into
    run: PathBuf,
    /// Which run of the folder: that of this scheme
    #[arg(long)]
    scheme: Option<String>,
    /// The moment, such as 12.3s
    #[arg(long)]
    at: Span,
    /// The time to show before and after it
    #[arg(long, default_value = "500ms")]
    around: Span,
}

/// Plays the run again up to the moment (same scenario, scheme and seed give the same events) and prints the decisions.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let path = chosen(&arguments.run, arguments.scheme.as_deref())?.join("run.toml");
    let File { mut scenario, schemes, .. } = File::read(&path)?;
    let [sender] = &schemes[..] else { bail!("{}: a scenario, not a run", path.display()) };
    if arguments.at < Span::ZERO || arguments.at >= scenario.duration {
        bail!("--at {} is outside the run, which lasts {}", arguments.at, scenario.duration);
    }
    let at = Time::ZERO + arguments.at;
    let (from, to) = (at - arguments.around, at + arguments.around);
    scenario.measure_quality = false;
    let (duration, seed) = (scenario.duration, scenario.seed);
    scenario.duration = scenario.duration.min(to.since_start());
    let progress = Progress::new([scenario.duration].into_iter());
    let progress = progress.begin(format!("{} again, up to {to}", sender.name()), scenario.duration);
    let mut find = |name: &str| link::find(name, duration, seed).map_err(|error| format!("{error:#}"));
    let mut say = |now| {
        progress.report(now);
        ControlFlow::Continue(())
    };
    let run = simulate(&scenario, &**sender, &mut find, &mut say)?;
    progress.finish();

    outln!("{} over {} at {at}", sender.name(), scenario.name);
    outln!("\nvariables");
    let mut latest = std::collections::BTreeMap::new();
    for record in run.recorder.records().take_while(|record| record.at <= at) {
        if let What::Sender(Event::Variable { name, value }) = record.what {
            latest.insert(name, value);
        }
    }
    for (name, value) in latest {
        outln!("  {name:20} {value:.3}");
    }
    outln!("\ndecisions from {from} to {to}");
    for record in run.recorder.records().filter(|record| record.at >= from && record.at <= to) {
        if let Some(line) = decision(&Row::of(record)) {
            outln!("  {} {line}", record.at);
        }
    }
    Ok(())
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

/// A decision as one line; `None` for packets, reports and samples.
fn decision(row: &Row) -> Option<String> {
    let why = if row.why.is_empty() { String::new() } else { format!(": {}", row.why) };
    let mbps = |bps: Option<u64>| bps.map_or(String::new(), |bps| format!(" {:.3} Mbps", bps as f64 / 1e6));
    let number = |name: &str, value: Option<u64>| value.map_or(String::new(), |value| format!(" {name} {value}"));
    Some(match row.event {
        "decision" => {
            let from = row.value.map_or(0.0, |bps| bps / 1e6);
            format!("controller: {} from {from:.3} to{}{why}", row.what, mbps(row.rate_bps))
        }
        "send-limits" => format!("limits:{}{}", mbps(row.rate_bps), number("window", row.bytes)),
        "encode-started" => {
            format!("encode{} at {}p for{}", number("picture", row.picture), row.count?, mbps(row.rate_bps))
        }
        "frame-queued" => format!("queued {}{}{}", row.what, number("frame", row.frame), number("bytes", row.bytes)),
        "picture-skipped" | "picture-held" | "keyframe-forced" | "resumed" | "retransmission-refused" => {
            format!("{}{}{why}", row.event.replace('-', " "), number("picture", row.picture))
        }
        "paused" | "reset" => {
            let age = row.span_ns? as f64 / 1e6;
            format!("{}: the oldest packet had waited {age:.0} ms{}", row.event, number("packets", row.count))
        }
        "size-changed" => format!("size changed to {}p", row.count?),
        "keyframe-requested" | "retransmission-requested" | "packet-dropped" | "frame-abandoned" => {
            format!("{}{}{why}", row.event.replace('-', " "), number("frame", row.frame))
        }
        _ => return None,
    })
}
