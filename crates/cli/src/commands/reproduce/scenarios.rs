//! A figure's links as scenarios.

use std::path::Path;

use anyhow::{Context, bail};
use thalweg_lab::reproduce::{Link, Links, Origin, Setup};
use thalweg_lab::scenario::Scenario;
use thalweg_link::queue::Limits;
use thalweg_link::{HopConfig, Jitter, PathConfig, QueueConfig};
use thalweg_units::{Bytes, Span};

use super::Arguments;

/// A scenario, and where its link is from.
pub(super) struct Played {
    pub(super) scenario: Scenario,
    pub(super) from: String,
}

/// A scenario for each link.
pub(super) fn played(links: &Links, setup: Setup, arguments: &Arguments) -> anyhow::Result<Vec<Played>> {
    let duration = arguments.duration.unwrap_or(setup.duration);
    let scenario = |name: &str, duration: Span, up: Vec<HopConfig>, down: Option<HopConfig>| {
        let delay = || HopConfig::Delay { delay: setup.delay, jitter: Jitter::None, reorders: false };
        let up = PathConfig { hops: up.into_iter().chain([delay()]).collect() };
        let down = PathConfig { hops: down.into_iter().chain([delay()]).collect() };
        let pictures = arguments.pictures.at(setup.frame_rate, setup.encode_time);
        pictures.over(name.into(), duration, arguments.seed, up, down)
    };
    let recorded = |name: &str, forth: &str, back: &str, queue, more: Option<HopConfig>| {
        let file = |name: &str| arguments.traces.join(name).display().to_string();
        let loaded = !arguments.unloaded && arguments.traces.join(back).is_file();
        let down = loaded.then(|| bottleneck(file(back), QueueConfig::Infinite));
        let up = more.into_iter().chain([bottleneck(file(forth), queue)]).collect();
        let way_back = if loaded { back } else { "unlimited" };
        let from = format!("{}, way back {way_back}", file(forth));
        Played { scenario: scenario(name, duration, up, down), from }
    };
    match links {
        Links::SquareWave { high, low, half, duration: own } => {
            let trace = format!("{high}/{low}@{half}");
            let queue = QueueConfig::DropTail(Limits::bytes(Bytes::new(1_500_000)));
            let scenario = scenario(&trace, *own, vec![bottleneck(trace.clone(), queue)], None);
            Ok(vec![Played { scenario, from: trace }])
        }
        Links::Recorded | Links::OneRecorded(_) => {
            let starting_with = if let Links::OneRecorded(name) = links { name } else { "" };
            let names = recordings(&arguments.traces)?;
            let chosen = names.iter().filter(|name| name.starts_with(starting_with));
            let played: Vec<Played> =
                chosen.map(|name| recorded(name, name, &way_back(name), QueueConfig::Infinite, None)).collect();
            if played.is_empty() {
                bail!("{}: no link whose name begins with '{starting_with}'", arguments.traces.display());
            }
            Ok(played)
        }
        Links::Listed(listed) => {
            let each = |link: &Link| {
                let lost = link.loss.map(HopConfig::Loss);
                match link.origin {
                    Origin::Recorded { forth, back } => {
                        let path = arguments.traces.join(forth);
                        if !path.is_file() {
                            bail!("{}: no such file; {FIX}", path.display());
                        }
                        Ok(recorded(link.name, forth, back, link.queue, lost))
                    }
                    Origin::Authors { file, instead } => {
                        let path = arguments.salsify_traces.join(file);
                        let (trace, from) = if path.is_file() {
                            (path.display().to_string(), format!("{}, the authors' own", path.display()))
                        } else {
                            (instead.to_string(), format!("{instead}, made here"))
                        };
                        let up = lost.into_iter().chain([bottleneck(trace, link.queue)]).collect();
                        Ok(Played { scenario: scenario(link.name, duration, up, None), from })
                    }
                }
            };
            listed.iter().map(each).collect()
        }
    }
}

const FIX: &str = "give the folder of Mahimahi's traces (github.com/ravinet/mahimahi, folder traces) with --traces";

fn bottleneck(trace: String, queue: QueueConfig) -> HopConfig {
    HopConfig::Bottleneck { trace, queue, once: false }
}

/// The recording of the other direction.
fn way_back(name: &str) -> String {
    match name.rsplit_once('.') {
        Some((link, "up")) => format!("{link}.down"),
        Some((link, _)) => format!("{link}.up"),
        None => name.into(),
    }
}

/// The names of the recorded links, in order.
fn recordings(folder: &Path) -> anyhow::Result<Vec<String>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("{}: {FIX}", folder.display()))?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".up") || name.ends_with(".down")).collect();
    names.sort();
    if names.is_empty() {
        bail!("{}: no file NAME.up or NAME.down in it; {FIX}", folder.display());
    }
    Ok(names)
}
