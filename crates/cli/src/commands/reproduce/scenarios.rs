//! A figure's links as scenarios.

use std::path::Path;

use anyhow::{Context, bail};
use thalweg_lab::reproduce::{Folder, Link, Links, Origin, Setup};
use thalweg_lab::scenario::Scenario;
use thalweg_link::{HopConfig, Jitter, PathConfig, QueueConfig};

use super::Arguments;

/// A link as a scenario, and where it is from.
pub(super) struct Played {
    link: Link,
    scenario: Scenario,
    pub(super) from: String,
}

impl Played {
    /// What the link is called.
    pub(super) fn name(&self) -> &str {
        &self.scenario.name
    }

    /// The scenario for a scheme: who else is there may hang on it.
    pub(super) fn scenario(&self, scheme: &str) -> Scenario {
        Scenario { competitors: self.link.competitors(scheme), ..self.scenario.clone() }
    }
}

/// A scenario for each link.
pub(super) fn played(links: &Links, setup: Setup, arguments: &Arguments) -> anyhow::Result<Vec<Played>> {
    let played = |link: Link| one(link, &setup, arguments);
    match links {
        Links::Listed(listed) => listed.iter().cloned().map(played).collect(),
        Links::Recorded(starting_with) => {
            let names = recordings(&arguments.traces)?;
            let chosen = names.into_iter().filter(|name| name.starts_with(starting_with));
            let all: Vec<Played> = chosen
                .map(|name| {
                    let origin = Origin::Recorded { back: way_back(&name), forth: name.clone() };
                    played(Link::new(name, origin))
                })
                .collect::<Result<_, _>>()?;
            if all.is_empty() {
                bail!("{}: no link whose name begins with '{starting_with}'", arguments.traces.display());
            }
            Ok(all)
        }
    }
}

fn one(link: Link, setup: &Setup, arguments: &Arguments) -> anyhow::Result<Played> {
    let (trace, way_back, from) = match &link.origin {
        Origin::Named(trace) => (trace.clone(), None, trace.clone()),
        Origin::Recorded { forth, back } => {
            let file = |name: &str| arguments.traces.join(name);
            if !file(forth).is_file() {
                bail!("{}: no such file; {FIX}", file(forth).display());
            }
            let loaded = !arguments.unloaded && file(back).is_file();
            let from = format!("{}, way back {}", file(forth).display(), if loaded { back } else { "unlimited" });
            (file(forth).display().to_string(), loaded.then(|| file(back).display().to_string()), from)
        }
        Origin::File { folder, file, instead } => {
            let (folder, whose) = match folder {
                Folder::Salsify => (&arguments.salsify_traces, "the authors' own"),
                Folder::Lumos5g => (&arguments.lumos5g_traces, "Lumos5G's"),
            };
            let path = folder.join(file);
            if path.is_file() {
                (path.display().to_string(), None, format!("{}, {whose}", path.display()))
            } else {
                let from = format!("{instead}, made here: {} is not there", path.display());
                ((*instead).to_string(), None, from)
            }
        }
    };
    let delay = || HopConfig::Delay { delay: setup.delay, jitter: Jitter::None, reorders: false };
    let bottleneck = |trace: String, queue| HopConfig::Bottleneck { trace, queue, once: false };
    let [before, behind] = [&link.before, &link.behind].map(|hops| hops.iter().cloned());
    let up = before.chain([bottleneck(trace, link.queue)]).chain(behind).chain([delay()]).collect();
    let down = way_back.map(|trace| bottleneck(trace, QueueConfig::Infinite)).into_iter().chain([delay()]).collect();
    let duration = arguments.duration.unwrap_or(setup.duration);
    let pictures = arguments.pictures.of_figure(setup);
    let [up, down] = [up, down].map(|hops| PathConfig { hops });
    let mut scenario = pictures.over(link.name.clone(), duration, arguments.seed, up, down);
    if scenario.undershoot.is_none() {
        scenario.undershoot = link.undershoot.clone();
    }
    Ok(Played { link, scenario, from })
}

const FIX: &str = "give the folder of Mahimahi's traces (github.com/ravinet/mahimahi, folder traces) with --traces";

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
