//! Inputs of a scenario: links by name, and the files that a run reads, found and hashed before it is played, and
//! checked before it is played again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use thalweg_data::{recording, sha256};
use thalweg_netsim::trace::Cut;
use thalweg_netsim::{HopConfig, Trace};
use thalweg_traces::{ReadOptions, Reading};
use thalweg_units::{Seed, Span};

use crate::run_folder::Input;
use crate::scenario::Competitor;
use crate::{Scenario, Undershoot};

/// Why something that a scenario names cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// A recording is not here, or a file cannot be read.
    #[error(transparent)]
    Data(#[from] thalweg_data::Error),
    /// The file system refuses.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The error.
        error: std::io::Error,
    },
    /// A link's file or its name is wrong; the message has the name, and the fix.
    #[error("{0}")]
    Link(String),
    /// An input of a run is gone or was changed.
    #[error("{0}")]
    Changed(String),
}

/// The link of this name: a file of any format ([`thalweg_traces::read`]) with options behind its name, a recording of the data
/// manifest such as `TMobile-LTE-short.down`, or what [`Trace::named`] has: rates and synthetic links. Behind its name may
/// stand the part to play, `@60s-180s`.
///
/// # Errors
/// When there is none, or its file cannot be read.
pub fn link(name: &str, duration: Span, seed: Seed) -> Result<Arc<Trace>, InputError> {
    if let Some((path, options)) = file(name)? {
        return Ok(Arc::new(read(&path, &options)?.trace));
    }
    let missing = || format!("there is no file '{}', nor a link of that name", ReadOptions::split(name).0);
    Trace::named(name, duration, seed)
        .map(Arc::new)
        .map_err(|error| InputError::Link(format!("{}: {error}", missing())))
}

/// The file that a link's name means, and the options behind it; `None` for links that are no files.
///
/// # Errors
/// When it is a recording that is not here, or an option is wrong.
pub fn file(name: &str) -> Result<Option<(PathBuf, ReadOptions)>, InputError> {
    let (stem, options) = split(name);
    let path = recording(stem)?.unwrap_or_else(|| stem.into());
    if !path.is_file() {
        return Ok(None);
    }
    Ok(Some((path, options.parse().map_err(|error| InputError::Link(format!("{name}: {error}")))?)))
}

/// Splits a link's name into that of its file and how it is read, `:unit=kbps@60s-180s`, as [`ReadOptions::split`] does;
/// but a file that exists under the whole name, or under all of it but the cut, is taken as it is.
pub fn split(name: &str) -> (&str, &str) {
    let uncut = Cut::split(name).0;
    match [name, uncut].into_iter().find(|whole| Path::new(whole).is_file()) {
        Some(whole) => name.split_at(whole.len()),
        None => ReadOptions::split(name),
    }
}

/// Reads a link's file in any format.
///
/// # Errors
/// When it cannot be read, or is no link; the error begins with its path.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Reading, InputError> {
    let bytes = std::fs::read(path).map_err(|error| InputError::Io { path: path.into(), error })?;
    let read = thalweg_traces::read(&bytes, &path.to_string_lossy(), options);
    read.map_err(|error| InputError::Link(format!("{}: {error}", path.display())))
}

/// The folder of copies in a run's folder.
const COPIES: &str = "inputs";

/// Meaning of a name in a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A link's trace.
    Trace,
    /// A recorded undershoot.
    Undershoot,
    /// A video.
    Video,
}

/// Everything in a scenario that may be the name of a file, to be read or replaced.
pub fn names(scenario: &mut Scenario) -> Vec<(Kind, &mut String)> {
    let Scenario { forward, reverse, links, undershoot, video, competitors, .. } = scenario;
    let mut names = vec![(Kind::Video, &mut video.source)];
    let hops = forward.hops.iter_mut().chain(&mut reverse.hops);
    let hops = hops.chain(links.iter_mut().flat_map(|link| &mut link.hops));
    names.extend(hops.filter_map(|hop| match hop {
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
///
/// # Errors
/// When one of them cannot be read.
pub fn of(scenario: &Scenario) -> Result<Vec<Input>, InputError> {
    let (mut scenario, mut inputs) = (scenario.clone(), BTreeMap::new());
    for (kind, name) in names(&mut scenario) {
        let found = match kind {
            Kind::Trace => file(name)?.map(|(path, _)| path),
            Kind::Undershoot | Kind::Video => Some(PathBuf::from(&name)).filter(|path| path.is_file()),
        };
        if let Some(path) = found {
            inputs.insert(name.clone(), input(name, kind, &path)?);
        }
    }
    Ok(inputs.into_values().collect())
}

fn input(name: &str, kind: Kind, path: &Path) -> Result<Input, InputError> {
    let path = absolute(path)?;
    let sha256 = hash(&path)?;
    let copy = (kind != Kind::Video).then(|| {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        // Two files of one name are two; the copy of a copy keeps its name.
        let mark = format!("{}-", &sha256[..8]);
        Path::new(COPIES).join(if file.starts_with(&mark) { file.into_owned() } else { mark + &file })
    });
    Ok(Input { name: name.into(), path, copy, sha256 })
}

fn absolute(path: &Path) -> Result<PathBuf, InputError> {
    std::path::absolute(path).map_err(|error| InputError::Io { path: path.into(), error })
}

/// The SHA-256 of a file, which several runs of a program may read.
///
/// # Errors
/// When it cannot be read.
pub fn hash(path: &Path) -> Result<String, InputError> {
    static KNOWN: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());
    if let Some(known) = KNOWN.lock().ok().and_then(|known| known.get(path).cloned()) {
        return Ok(known);
    }
    let hash = sha256(path)?;
    KNOWN.lock().into_iter().for_each(|mut known| _ = known.insert(path.into(), hash.clone()));
    Ok(hash)
}

/// Renames what was read from `folder` and has moved from there to `earlier`: the copies of a run that is repeated into
/// its own folder.
pub fn follow(scenario: &mut Scenario, folder: &Path, earlier: &Path) {
    let Ok(folder) = std::path::absolute(folder) else { return };
    let Ok(earlier) = std::path::absolute(earlier) else { return };
    for (_, name) in names(scenario) {
        let moved =
            std::path::absolute(&*name).ok().and_then(|path| Some(earlier.join(path.strip_prefix(&folder).ok()?)));
        let Some(moved) = moved.map(|path| path.display().to_string()) else { continue };
        if Path::new(split(&moved).0).is_file() {
            *name = moved;
        }
    }
}

/// Replaces the names in the scenario of a run in `folder` by the copies there, and by where its videos are.
///
/// # Errors
/// When one of them is missing or is not what was played.
pub fn resolve(scenario: &mut Scenario, inputs: &[Input], folder: &Path) -> Result<(), InputError> {
    for (kind, name) in names(scenario) {
        let Some(input) = inputs.iter().find(|input| input.name == *name) else { continue };
        let path = input.copy.as_ref().map_or(input.path.clone(), |copy| folder.join(copy));
        let path = absolute(&path)?;
        let shown = path.display();
        let fix = match kind {
            Kind::Video => "give a video to play instead with --video",
            Kind::Trace => "name a link to play instead in run.toml (trace = )",
            Kind::Undershoot => "give another with --undershoot",
        };
        if !path.is_file() {
            let gone = format!("{shown}: there is no such file, but the run read it ('{name}'); {fix}");
            return Err(InputError::Changed(gone));
        }
        let found = sha256(&path)?;
        if found != input.sha256 {
            return Err(InputError::Changed(format!(
                "{shown}: is not what the run read ('{name}'): its SHA-256 is {found}, was {}; restore it, or {fix}",
                input.sha256
            )));
        }
        *name = named_at(kind, name, input, &path);
    }
    Ok(())
}

/// The name of a file that is at another path now: how it is read stays.
pub fn named_at(kind: Kind, name: &str, input: &Input, path: &Path) -> String {
    // The name ends as its file does, but for how it is read.
    let file = input.path.file_name();
    let stems = [name, Cut::split(name).0, ReadOptions::split(name).0];
    let stem = stems.into_iter().find(|stem| Path::new(stem).file_name() == file).unwrap_or(stems[2]);
    let options = if kind == Kind::Trace { &name[stem.len()..] } else { "" };
    format!("{}{options}", path.display())
}
