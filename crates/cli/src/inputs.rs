//! The files that a run reads besides its scenario: found and hashed before it is played, and checked before it is
//! played again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, bail};
use thalweg_lab::run_folder::Input;
use thalweg_lab::scenario::Competitor;
use thalweg_lab::{Scenario, Undershoot};
use thalweg_link::HopConfig;
use thalweg_link::trace::ReadOptions;

use crate::link;

/// The folder of copies in a run's folder.
const COPIES: &str = "inputs";

/// What a name in a scenario stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Trace,
    Undershoot,
    Video,
}

/// Everything in a scenario that may be the name of a file.
fn names(scenario: &mut Scenario) -> Vec<(Kind, &mut String)> {
    let Scenario { forward, reverse, undershoot, video, competitors, .. } = scenario;
    let mut names = vec![(Kind::Video, &mut video.source)];
    names.extend(forward.hops.iter_mut().chain(&mut reverse.hops).filter_map(|hop| match hop {
        HopConfig::Bottleneck { trace, .. } => Some((Kind::Trace, trace)),
        _ => None,
    }));
    names.extend(competitors.iter_mut().filter_map(|competitor| match competitor {
        Competitor::Sender(sender) => Some((Kind::Video, &mut sender.video.as_mut()?.source)),
        _ => None,
    }));
    if let Undershoot::Recorded(name) = undershoot {
        names.push((Kind::Undershoot, name));
    }
    names
}

/// The files of a scenario. Standard input, the built-in scene and links made from their names are none.
pub(crate) fn of(scenario: &Scenario) -> anyhow::Result<Vec<Input>> {
    let (mut scenario, mut inputs) = (scenario.clone(), BTreeMap::new());
    for (kind, name) in names(&mut scenario) {
        let found = match kind {
            Kind::Trace => link::file(name)?.map(|(path, _)| path),
            Kind::Undershoot | Kind::Video => Some(PathBuf::from(&name)).filter(|path| path.is_file()),
        };
        if let Some(path) = found {
            inputs.insert(name.clone(), input(name, kind, &path)?);
        }
    }
    Ok(inputs.into_values().collect())
}

fn input(name: &str, kind: Kind, path: &Path) -> anyhow::Result<Input> {
    let path = std::path::absolute(path).with_context(|| path.display().to_string())?;
    let sha256 = sha256(&path)?;
    let copy = (kind != Kind::Video).then(|| {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        // Two files of one name are two; the copy of a copy keeps its name.
        let mark = format!("{}-", &sha256[..8]);
        Path::new(COPIES).join(if file.starts_with(&mark) { file.into_owned() } else { mark + &file })
    });
    Ok(Input { name: name.into(), path, copy, sha256 })
}

/// The hash of a file, which several runs of a command may read.
fn sha256(path: &Path) -> anyhow::Result<String> {
    static KNOWN: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());
    if let Some(known) = KNOWN.lock().ok().and_then(|known| known.get(path).cloned()) {
        return Ok(known);
    }
    let hash = thalweg_data::sha256(path)?;
    KNOWN.lock().into_iter().for_each(|mut known| _ = known.insert(path.into(), hash.clone()));
    Ok(hash)
}

/// Renames what was read from `folder` and has moved from there to `earlier`: the copies of a run that is repeated into
/// its own folder.
pub(crate) fn follow(scenario: &mut Scenario, folder: &Path, earlier: &Path) {
    let Ok(folder) = std::path::absolute(folder) else { return };
    let Ok(earlier) = std::path::absolute(earlier) else { return };
    for (_, name) in names(scenario) {
        let moved =
            std::path::absolute(&*name).ok().and_then(|path| Some(earlier.join(path.strip_prefix(&folder).ok()?)));
        let Some(moved) = moved.map(|path| path.display().to_string()) else { continue };
        if Path::new(&moved).is_file() || Path::new(ReadOptions::split(&moved).0).is_file() {
            *name = moved;
        }
    }
}

/// Replaces the names in the scenario of a run in `folder` by the copies there, and by where its videos are.
///
/// # Errors
/// When one of them is missing or is not what was played.
pub(crate) fn resolve(scenario: &mut Scenario, inputs: &[Input], folder: &Path) -> anyhow::Result<()> {
    for (kind, name) in names(scenario) {
        let Some(input) = inputs.iter().find(|input| input.name == *name) else { continue };
        let path = input.copy.as_ref().map_or(input.path.clone(), |copy| folder.join(copy));
        let path = std::path::absolute(&path).with_context(|| path.display().to_string())?;
        let shown = path.display();
        let fix = match kind {
            Kind::Video => "give a video to play instead with --video",
            Kind::Trace => "name a link to play instead in run.toml (trace = )",
            Kind::Undershoot => "give another with --undershoot",
        };
        if !path.is_file() {
            bail!("{shown}: there is no such file, but the run read it ('{name}'); {fix}");
        }
        let found = thalweg_data::sha256(&path)?;
        if found != input.sha256 {
            bail!(
                "{shown}: is not what the run read ('{name}'): its SHA-256 is {found}, was {}; restore it, or {fix}",
                input.sha256
            );
        }
        let is_whole = input.path.file_name() == Path::new(&name).file_name();
        *name = match ReadOptions::split(name) {
            (_, options) if kind == Kind::Trace && !options.is_empty() && !is_whole => format!("{shown}:{options}"),
            _ => shown.to_string(),
        };
    }
    Ok(())
}
