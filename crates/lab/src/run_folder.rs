//! A run on disk: `run.toml` with all settings resolved, copies of the traces it read, `events.parquet` if the build
//! has the feature `parquet`, `summary.json`, and the outcome from which reports are drawn.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thalweg_sender::{Registry, Scheme, SenderFactory};

#[cfg(feature = "parquet")]
use crate::metrics::Summary;
use crate::named::{NoSender, named};
use crate::outcome::Outcome;
use crate::scenario::Scenario;
use crate::simulate::Run;

/// The settings of a run, sufficient to repeat it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunFile<S = Scheme> {
    /// The version of Thalweg that ran it.
    pub version: String,
    /// The files that it read; files from before they were listed have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Input>,
    /// The scenario, with its seed.
    pub scenario: Scenario,
    /// The scheme, with every parameter; or a [`CustomScheme`].
    pub scheme: S,
}

/// A file that a run read: a trace or an undershoot, of which the run's folder has a copy, or a video, of which it has
/// none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Its name in the scenario.
    pub name: String,
    /// Where it was, from the root of the file system.
    pub path: PathBuf,
    /// Its copy in the run's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<PathBuf>,
    /// SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: String,
}

/// The files that the run of a `run.toml` read.
///
/// # Errors
/// When its content is invalid.
pub fn read_inputs(text: &str) -> Result<Vec<Input>, RunFileError> {
    #[derive(Deserialize)]
    struct Inputs {
        #[serde(default)]
        inputs: Vec<Input>,
    }
    Ok(toml::from_str::<Inputs>(text)?.inputs)
}

/// A sender that is not a [`Scheme`]: only a program with a sender of this name in its registry can repeat the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CustomScheme {
    /// Its name.
    pub name: String,
    /// Its description of itself ([`SenderFactory::describe`]).
    pub custom: toml::Table,
}

/// Why a `run.toml` could not be read.
#[derive(Debug, thiserror::Error)]
pub enum RunFileError {
    /// Its content is invalid.
    #[error(transparent)]
    Content(#[from] toml::de::Error),
    /// Its sender is not in the registry.
    #[error(transparent)]
    Unknown(#[from] NoSender),
}

/// The scenario and the sender of a `run.toml`.
///
/// # Errors
/// When its content is invalid, or `registry` does not have the sender.
pub fn read_run(text: &str, registry: &Registry) -> Result<(Scenario, Arc<dyn SenderFactory>), RunFileError> {
    let table: toml::Table = toml::from_str(text)?;
    if table.get("scheme").is_some_and(|scheme| scheme.get("custom").is_some()) {
        let RunFile::<CustomScheme> { scenario, scheme, .. } = toml::from_str(text)?;
        return Ok((scenario, named(registry, &scheme.name)?));
    }
    let RunFile::<Scheme> { scenario, scheme, .. } = toml::from_str(text)?;
    Ok((scenario, Arc::new(scheme)))
}

/// Why a run folder could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// An error of the file system.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The error.
        error: io::Error,
    },
    /// The content of a file is invalid.
    #[error("{path}: {problem}")]
    Content {
        /// The file.
        path: PathBuf,
        /// The reason.
        problem: String,
    },
}

/// Writes a run that read these files into `folder`, which is created. Each file appears when it is whole,
/// `outcome.json` last: a folder that has it is complete.
///
/// # Errors
/// When a file cannot be written or copied; no part of it stays.
pub fn write(
    folder: &Path,
    scenario: &Scenario,
    inputs: &[Input],
    sender: &dyn SenderFactory,
    run: &Run,
) -> Result<(), FolderError> {
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |error| FolderError::Io { path, error }
    };
    fs::create_dir_all(folder).map_err(failed(folder))?;
    let content = |path: &Path, problem: String| FolderError::Content { path: path.to_path_buf(), problem };
    let path = folder.join("run.toml");
    for input in inputs {
        let Some(copy) = &input.copy else { continue };
        let to = folder.join(copy);
        fs::create_dir_all(to.parent().unwrap_or(folder)).map_err(failed(&to))?;
        write_whole(&to, |to| fs::copy(&input.path, to).map(|_| ())).map_err(failed(&to))?;
    }
    let text = run_file(scenario, inputs, sender).map_err(|problem| content(&path, problem))?;
    write_whole(&path, |path| fs::write(path, &text)).map_err(failed(&path))?;
    write_events(folder.join("events.parquet"), run)?;
    for (name, text) in [
        ("summary.json", serde_json::to_string_pretty(&run.outcome.summary)),
        ("outcome.json", serde_json::to_string(&run.outcome)),
    ] {
        let path = folder.join(name);
        let text = text.map_err(|error| content(&path, error.to_string()))?;
        write_whole(&path, |path| fs::write(path, &text)).map_err(failed(&path))?;
    }
    Ok(())
}

/// Has a file written under another name in the same folder, and renames it when it is whole.
///
/// # Errors
/// When it cannot be written; the unfinished file is removed.
pub fn write_whole<E: From<io::Error>>(path: &Path, write: impl FnOnce(&Path) -> Result<(), E>) -> Result<(), E> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".unfinished");
    let unfinished = path.with_file_name(name);
    let done = write(&unfinished).and_then(|()| Ok(fs::rename(&unfinished, path)?));
    if done.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    done
}

/// Returns true if `folder` has the complete results of this scenario and sender with these files, played by this
/// version.
pub fn is_played(folder: &Path, scenario: &Scenario, inputs: &[Input], sender: &dyn SenderFactory) -> bool {
    let same = |text: String| run_file(scenario, inputs, sender).is_ok_and(|wanted| wanted == text);
    folder.join("outcome.json").is_file() && fs::read_to_string(folder.join("run.toml")).is_ok_and(same)
}

#[cfg(feature = "parquet")]
fn write_events(path: PathBuf, run: &Run) -> Result<(), FolderError> {
    use crate::record::{TableError, write_table};
    let Summary { scheme, trace, video, codec, seed, .. } = &run.outcome.summary;
    let metadata = [
        ("scheme", scheme.clone()),
        ("trace", trace.clone()),
        ("video", video.clone()),
        ("codec", codec.clone()),
        ("seed", seed.to_string()),
    ];
    let written = write_whole(&path, |path| write_table(path, &run.recorder, &metadata));
    written.map_err(|error| match error {
        TableError::Io(error) => FolderError::Io { path, error },
        error => FolderError::Content { path, problem: error.to_string() },
    })
}

/// A build that cannot write the file removes the one of an earlier run, which would be mistaken for this run's.
#[cfg(not(feature = "parquet"))]
fn write_events(path: PathBuf, _: &Run) -> Result<(), FolderError> {
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(FolderError::Io { path, error }),
        _ => Ok(()),
    }
}

/// The text of a `run.toml`, which [`read_run`] reads.
///
/// # Errors
/// When the sender describes itself in what is no TOML.
pub fn run_file(scenario: &Scenario, inputs: &[Input], sender: &dyn SenderFactory) -> Result<String, String> {
    run_text(env!("CARGO_PKG_VERSION"), scenario, inputs, sender)
}

/// The same with another version.
pub(crate) fn run_text(
    version: &str,
    scenario: &Scenario,
    inputs: &[Input],
    sender: &dyn SenderFactory,
) -> Result<String, String> {
    let (version, scenario, inputs) = (version.to_string(), scenario.clone(), inputs.to_vec());
    let text = match sender.as_scheme() {
        Some(scheme) => toml::to_string_pretty(&RunFile { version, inputs, scenario, scheme: scheme.clone() }),
        None => {
            let custom = toml::from_str(&sender.describe());
            let custom = custom
                .map_err(|error| format!("the description of {} cannot be read as TOML: {error}", sender.name()))?;
            let scheme = CustomScheme { name: sender.name().to_string(), custom };
            toml::to_string_pretty(&RunFile { version, inputs, scenario, scheme })
        }
    };
    text.map_err(|error| error.to_string())
}

/// Reads the outcome of a run.
///
/// # Errors
/// When the folder contains none.
pub fn read_outcome(folder: &Path) -> Result<Outcome, FolderError> {
    let path = folder.join("outcome.json");
    let text = fs::read_to_string(&path).map_err(|error| FolderError::Io { path: path.clone(), error })?;
    serde_json::from_str(&text).map_err(|error| FolderError::Content { path, problem: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A field that is `None` is absent in TOML; when read, it must not become the default.
    #[test]
    fn every_scheme_is_the_same_after_a_trip_through_its_file() {
        for known in thalweg_sender::scheme::known() {
            let scheme = known.scheme();
            let text = toml::to_string(&scheme).unwrap();
            assert!(toml::from_str::<Scheme>(&text).unwrap() == scheme, "{}:\n{text}", scheme.name);
        }
    }
}
