//! A run on disk: `run.toml`, fully resolved, `events.parquet` where the build has the feature `parquet`, `summary.json`, and the outcome
//! that reports are drawn from.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thalweg_sender::scheme::UnknownScheme;
use thalweg_sender::{Registry, Scheme, SenderFactory};

use crate::outcome::Outcome;
use crate::record::Recorder;
use crate::scenario::Scenario;
use crate::simulate::Run;

/// What a run was: enough to play it again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunFile<S = Scheme> {
    /// The version of Thalweg that played it.
    pub version: String,
    /// The scenario, with its seed.
    pub scenario: Scenario,
    /// The scheme, with every parameter; or a [`CustomScheme`].
    pub scheme: S,
}

/// A sender that is no [`Scheme`]: only a program that has one of this name in its registry can play it again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CustomScheme {
    /// Its name.
    pub name: String,
    /// How it describes itself ([`SenderFactory::describe`]).
    pub custom: toml::Table,
}

/// A `run.toml` could not be understood.
#[derive(Debug, thiserror::Error)]
pub enum RunFileError {
    /// It is not what it should be.
    #[error(transparent)]
    Content(#[from] toml::de::Error),
    /// It was played by a sender that is not known here.
    #[error(transparent)]
    Unknown(#[from] UnknownScheme),
}

/// What a `run.toml` says was played, and by what sender.
///
/// # Errors
/// When it says something else, or `registry` does not have the sender.
pub fn read_run(text: &str, registry: &Registry) -> Result<(Scenario, Arc<dyn SenderFactory>), RunFileError> {
    let table: toml::Table = toml::from_str(text)?;
    if table.get("scheme").is_some_and(|scheme| scheme.get("custom").is_some()) {
        let RunFile::<CustomScheme> { scenario, scheme, .. } = toml::from_str(text)?;
        return Ok((scenario, registry.find(&scheme.name)?));
    }
    let RunFile::<Scheme> { scenario, scheme, .. } = toml::from_str(text)?;
    Ok((scenario, Arc::new(scheme)))
}

/// A folder could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The file system refused.
    #[error("{path}: {error}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A file is not what it should be.
    #[error("{path}: {problem}")]
    Content {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
}

/// Writes a run into `folder`, which is made.
///
/// # Errors
/// When a file cannot be written.
pub fn write(folder: &Path, scenario: &Scenario, sender: &dyn SenderFactory, run: &Run) -> Result<(), FolderError> {
    let io = |path: &Path| {
        let path = path.to_path_buf();
        move |error| FolderError::Io { path, error }
    };
    fs::create_dir_all(folder).map_err(io(folder))?;
    let content = |path: &Path, problem: String| FolderError::Content { path: path.to_path_buf(), problem };
    let path = folder.join("run.toml");
    let text = run_file(scenario, sender).map_err(|problem| content(&path, problem))?;
    fs::write(&path, text).map_err(io(&path))?;
    for (name, text) in [
        ("summary.json", serde_json::to_string_pretty(&run.outcome.summary)),
        ("outcome.json", serde_json::to_string(&run.outcome)),
    ] {
        let path = folder.join(name);
        let text = text.map_err(|error| content(&path, error.to_string()))?;
        fs::write(&path, text).map_err(io(&path))?;
    }
    write_events(folder.join("events.parquet"), &run.recorder)
}

#[cfg(feature = "parquet")]
fn write_events(path: PathBuf, recorder: &Recorder) -> Result<(), FolderError> {
    use crate::record::{TableError, write_table};
    write_table(&path, recorder).map_err(|error| match error {
        TableError::Io(error) => FolderError::Io { path, error },
        TableError::Parquet(error) => FolderError::Content { path, problem: error.to_string() },
    })
}

/// A build that cannot write the file removes an earlier run's, which would be taken for this one's.
#[cfg(not(feature = "parquet"))]
fn write_events(path: PathBuf, _: &Recorder) -> Result<(), FolderError> {
    match fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(FolderError::Io { path, error }),
        _ => Ok(()),
    }
}

/// The text of a `run.toml`.
fn run_file(scenario: &Scenario, sender: &dyn SenderFactory) -> Result<String, String> {
    let (version, scenario) = (env!("CARGO_PKG_VERSION").to_string(), scenario.clone());
    let text = match sender.as_scheme() {
        Some(scheme) => toml::to_string_pretty(&RunFile { version, scenario, scheme: scheme.clone() }),
        None => {
            let custom = toml::from_str(&sender.describe());
            let custom =
                custom.map_err(|error| format!("{} describes itself in what is no TOML: {error}", sender.name()))?;
            let scheme = CustomScheme { name: sender.name().to_string(), custom };
            toml::to_string_pretty(&RunFile { version, scenario, scheme })
        }
    };
    text.map_err(|error| error.to_string())
}

/// Reads the outcome of a run back.
///
/// # Errors
/// When the folder holds none.
pub fn read_outcome(folder: &Path) -> Result<Outcome, FolderError> {
    let path = folder.join("outcome.json");
    let text = fs::read_to_string(&path).map_err(|error| FolderError::Io { path: path.clone(), error })?;
    serde_json::from_str(&text).map_err(|error| FolderError::Content { path, problem: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A field that is `None` is absent in TOML; read back, it must not turn into a default.
    #[test]
    fn every_scheme_is_the_same_after_a_trip_through_its_file() {
        for known in thalweg_sender::scheme::known() {
            let scheme = known.scheme();
            let text = toml::to_string(&scheme).unwrap();
            assert!(toml::from_str::<Scheme>(&text).unwrap() == scheme, "{}:\n{text}", scheme.name);
        }
    }
}
