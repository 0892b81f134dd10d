//! A run on disk: `run.toml`, fully resolved, `events.parquet` where the build has the feature `parquet`, `summary.json`, and the outcome
//! that reports are drawn from.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thalweg_sender::Scheme;

use crate::outcome::Outcome;
use crate::record::Recorder;
use crate::scenario::Scenario;
use crate::simulate::Run;

/// What a run was: enough to play it again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunFile {
    /// The version of Thalweg that played it.
    pub version: String,
    /// The scenario, with its seed.
    pub scenario: Scenario,
    /// The scheme, with every parameter.
    pub scheme: Scheme,
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
pub fn write(folder: &Path, scenario: &Scenario, scheme: &Scheme, run: &Run) -> Result<(), FolderError> {
    let io = |path: &Path| {
        let path = path.to_path_buf();
        move |error| FolderError::Io { path, error }
    };
    fs::create_dir_all(folder).map_err(io(folder))?;
    let file =
        RunFile { version: env!("CARGO_PKG_VERSION").into(), scenario: scenario.clone(), scheme: scheme.clone() };
    let content = |path: &Path, problem: String| FolderError::Content { path: path.to_path_buf(), problem };
    let path = folder.join("run.toml");
    let text = toml::to_string_pretty(&file).map_err(|error| content(&path, error.to_string()))?;
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
