//! A figure's links as scenarios.

use std::path::Path;

use anyhow::{Context, bail};
use thalweg_lab::inputs;
use thalweg_lab::scenario::Scenario;
use thalweg_netsim::{HopConfig, PathConfig, QueueConfig, Rates, Trace};
use thalweg_papers::{Folder, Link, Links, Origin, Seconds, Setup, drawn, encode_time};
use thalweg_traces::{Format, ReadOptions, Reading};
use thalweg_units::{Rate, Seed, Size, Span};

use super::Arguments;

/// A link as scenarios, one for each seed, and its origin.
pub(super) struct Played {
    link: Link,
    scenarios: Vec<Scenario>,
    pub(super) from: String,
}

impl Played {
    /// The link's name.
    pub(super) fn name(&self) -> &str {
        &self.link.name
    }

    /// The scenarios for a scheme: the competitors may depend on it, and it may have an encoding time of its own.
    pub(super) fn scenarios(&self, scheme: &str) -> impl Iterator<Item = Scenario> {
        let encode_time = encode_time(scheme);
        let with = move |scenario: &Scenario| {
            let (usual, size) = (scenario.codec_time, scenario.video.size.unwrap_or(Size::HD));
            Scenario {
                competitors: self.link.competitors(scheme, scenario.seed),
                codec_time: encode_time.map_or(usual, |time| usual.encoding_in(time, size)),
                ..scenario.clone()
            }
        };
        self.scenarios.iter().map(with)
    }
}

/// The scenarios of each link.
pub(super) fn played(links: &Links, setup: Setup, arguments: &Arguments) -> anyhow::Result<Vec<Played>> {
    let first = arguments.seed.get();
    let seeds: Vec<Seed> = (first..).take(arguments.runs.unwrap_or(setup.runs) as usize).map(Seed::new).collect();
    let played = |link: Link| -> anyhow::Result<Played> {
        let each = seeds.iter().map(|seed| one(&link, &setup, *seed, arguments));
        let (scenarios, mut from): (Vec<_>, Vec<_>) = each.collect::<anyhow::Result<Vec<_>>>()?.into_iter().unzip();
        Ok(Played { link, scenarios, from: from.swap_remove(0) })
    };
    match links {
        Links::Listed(listed) => listed.iter().cloned().map(played).collect(),
        Links::Recorded(starting_with) => {
            let traces = arguments.traces()?;
            let names = recordings(&traces)?;
            let chosen = names.into_iter().filter(|name| name.starts_with(starting_with));
            let all: Vec<Played> = chosen
                .map(|name| {
                    let origin = Origin::Recorded { back: reverse_path(&name), forth: name.clone() };
                    played(Link::new(name, origin))
                })
                .collect::<Result<_, _>>()?;
            if all.is_empty() {
                bail!("{}: no link whose name begins with '{starting_with}'", traces.display());
            }
            Ok(all)
        }
    }
}

/// A link as the scenario for a seed, and its origin.
fn one(link: &Link, setup: &Setup, seed: Seed, arguments: &Arguments) -> anyhow::Result<(Scenario, String)> {
    let bottleneck = |trace: String, queue| HopConfig::Bottleneck { trace, queue, once: false };
    let rates = |rate: Rates| HopConfig::Rate { rate, queue: link.queue };
    let (hops, reverse, from) = match &link.origin {
        Origin::Named(trace) => (vec![bottleneck(trace.clone(), link.queue)], None, trace.clone()),
        Origin::Rates(of) => (vec![rates(of.clone())], None, of.to_string()),
        Origin::Drawn { rates: of, each } => {
            let names: Vec<String> = of.iter().map(Rate::to_string).collect();
            let from = format!("{} in turn, {each} each, from an instant that is drawn", names.join(", "));
            (vec![rates(drawn(of, *each, seed)?)], None, from)
        }
        Origin::Recorded { forth, back } => {
            let traces = arguments.traces()?;
            let [forth, back] = [forth, back].map(|name| traces.join(name));
            if !forth.is_file() {
                bail!("{}: no such file; {FIX}", forth.display());
            }
            let loaded = !arguments.unloaded && back.is_file();
            let name = back.file_name().filter(|_| loaded).map(|name| name.to_string_lossy().into_owned());
            let from = format!("{}, reverse path {}", forth.display(), name.as_deref().unwrap_or("unlimited"));
            let back = loaded.then(|| bottleneck(back.display().to_string(), QueueConfig::Infinite));
            (vec![bottleneck(forth.display().to_string(), link.queue)], back, from)
        }
        Origin::BySecond { forth, back } => {
            let back = back.filter(|_| !arguments.unloaded);
            let traces = arguments.traces()?;
            let hops = forth.iter().map(|of| Ok(rates(scaled(of, &traces)?)));
            let reverse = back.map(|of| scaled(&of, &traces)).transpose()?;
            let named = |of: &Seconds| match of.mean {
                Some(mean) => format!("{} by the second, {mean} on average", of.recording),
                None => format!("{} by the second", of.recording),
            };
            let hops_named: Vec<String> = forth.iter().map(named).collect();
            let back_named = back.as_ref().map_or("unlimited".into(), named);
            let from = format!("{}, reverse path {back_named}", hops_named.join(" and then "));
            let endless = |rate| HopConfig::Rate { rate, queue: QueueConfig::Infinite };
            (hops.collect::<anyhow::Result<_>>()?, reverse.map(endless), from)
        }
        Origin::File { folder, file, instead } => {
            let path = match folder {
                Folder::Salsify => arguments.salsify_traces()?.join(file),
                Folder::Lumos5g => arguments.lumos5g_traces()?.join(file),
            };
            let shown = path.display().to_string();
            let fetch = match folder {
                Folder::Salsify => "`thalweg data fetch salsify-traces`",
                Folder::Lumos5g => "`thalweg data fetch lumos5g`",
            };
            match folder {
                _ if !path.is_file() => {
                    let from = format!("{instead}, made here: {shown} is not there ({fetch})");
                    (vec![bottleneck((*instead).to_string(), link.queue)], None, from)
                }
                Folder::Salsify => {
                    (vec![bottleneck(shown.clone(), link.queue)], None, format!("{shown}, the authors' own"))
                }
                Folder::Lumos5g => (vec![rates(by_second(&path)?)], None, format!("{shown}, Lumos5G's, as rates")),
            }
        }
    };
    let delay = || HopConfig::delay(link.delay.unwrap_or(setup.delay));
    let [before, behind] = [&link.before, &link.behind].map(|hops| hops.iter().cloned());
    let up = before.chain(hops).chain(behind).chain([delay()]).collect();
    let down = reverse.into_iter().chain([delay()]).collect();
    let duration = arguments.duration.unwrap_or(setup.duration);
    let pictures = arguments.pictures.of_figure(setup)?;
    let [up, down] = [up, down].map(|hops| PathConfig { hops });
    let mut scenario = pictures.over(&link.name, duration, seed, up, down);
    (scenario.call, scenario.discard_after, scenario.playout) = (setup.call, setup.discard_after, setup.playout);
    if scenario.undershoot.is_none() {
        scenario.undershoot = link.undershoot.clone();
    }
    Ok((scenario, from))
}

/// The rates of a log with one throughput value per second.
fn by_second(path: &Path) -> anyhow::Result<Rates> {
    let options = ReadOptions { format: Some(Format::Seconds), ..ReadOptions::default() };
    let Reading { trace, .. } = inputs::read(path, &options)?;
    Ok(Rates::in_turn(trace.rates_by_second(), Span::from_secs(1))?)
}

/// The rates of a recorded link, second by second.
fn scaled(of: &Seconds, folder: &Path) -> anyhow::Result<Rates> {
    let path = folder.join(of.recording);
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(&path).with_context(|| format!("{shown}: {FIX}"))?;
    let trace = Trace::parse(&text).with_context(|| shown.clone())?;
    of.rates(&trace).with_context(|| shown)
}

pub(super) const FIX: &str = "`thalweg data fetch mahimahi` gets Mahimahi's traces, or give their folder with --traces";

/// The name of the recording of the reverse direction.
fn reverse_path(name: &str) -> String {
    match name.rsplit_once('.') {
        Some((link, "up")) => format!("{link}.down"),
        Some((link, _)) => format!("{link}.up"),
        None => name.into(),
    }
}

/// The names of the recorded links, sorted.
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
