//! Results of runs that are kept as soon as they are played, wherever that is: a program that needs them makes its page of
//! what is there, and plays no run twice.
//!
//! A folder has `played.jsonl`, a line `["KEY",RESULT]` for each run, and may have `jobs.jsonl`, the runs that are left for
//! others to play: a line with the [`Planned`] of each.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::journal::{self, Journal};
use crate::run_folder::{FolderError, write_whole};
use crate::sweep::Key;

const PLAYED: &str = "played.jsonl";
const JOBS: &str = "jobs.jsonl";

/// Results by the keys of their runs.
#[derive(Debug)]
pub struct Kept {
    folder: PathBuf,
    journal: Mutex<Journal>,
    /// As JSON: few are needed at a time.
    known: BTreeMap<Key, String>,
}

/// A run that is left to play.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Planned<J> {
    /// Identifies it.
    pub key: Key,
    /// Its duration in virtual time, in seconds: what it costs beside the others.
    pub seconds: f64,
    /// The job that plays it.
    pub job: J,
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> FolderError {
    let path = path.to_path_buf();
    move |error| FolderError::Io { path, error }
}

impl Kept {
    /// Opens a folder, which is created if need be.
    ///
    /// # Errors
    /// When it cannot be read or written, or another process adds to it.
    pub fn open(folder: &Path) -> Result<Kept, FolderError> {
        std::fs::create_dir_all(folder).map_err(failed(folder))?;
        let path = folder.join(PLAYED);
        let (journal, lines) = Journal::open(&path).map_err(failed(&path))?;
        let mut known = BTreeMap::new();
        for (place, line) in lines.iter().enumerate() {
            let (key, result) = read(line).ok_or_else(|| FolderError::Content {
                path: path.clone(),
                problem: format!("line {} has no result: remove the file, and its runs are played again", place + 1),
            })?;
            known.insert(key, result.to_string());
        }
        Ok(Kept { folder: folder.into(), journal: Mutex::new(journal), known })
    }

    /// Returns true if the result of a run was there when the folder was opened.
    pub fn has(&self, key: Key) -> bool {
        self.known.contains_key(&key)
    }

    /// Result of a run, if it is kept.
    ///
    /// # Errors
    /// When it is none of this version.
    pub fn get<T: DeserializeOwned>(&self, key: Key) -> Result<Option<T>, FolderError> {
        let read = self.known.get(&key).map(|text| serde_json::from_str(text)).transpose();
        read.map_err(|error| FolderError::Content {
            path: self.folder.join(PLAYED),
            problem: format!("the result of {key}: {error}; remove the file, and its runs are played again"),
        })
    }

    /// Adds the result of a run, which is in the folder when this returns.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put<T: Serialize>(&self, key: Key, result: &T) -> Result<(), FolderError> {
        let text = serde_json::to_string(result).map_err(|error| self.wrong(&error))?;
        self.put_text(key, &text)
    }

    /// The same of a result in JSON.
    ///
    /// # Errors
    /// As [`Kept::put`].
    pub fn put_text(&self, key: Key, result: &str) -> Result<(), FolderError> {
        let mut journal = self.journal.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let path = journal.path().to_path_buf();
        journal.append(&format!("[\"{key}\",{result}]")).map_err(failed(&path))
    }

    /// Writes the runs that are left, and returns the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn plan<J: Serialize>(&self, jobs: &[Planned<J>]) -> Result<PathBuf, FolderError> {
        let path = self.folder.join(JOBS);
        let lines = jobs.iter().map(|job| serde_json::to_string(job).map(|line| line + "\n"));
        let text = lines.collect::<Result<String, _>>().map_err(|error| self.wrong(&error))?;
        write_whole(&path, |path| std::fs::write(path, text)).map_err(failed(&path))?;
        Ok(path)
    }

    fn wrong(&self, error: &serde_json::Error) -> FolderError {
        FolderError::Content { path: self.folder.clone(), problem: error.to_string() }
    }
}

/// The runs that are left to play in a folder.
///
/// # Errors
/// When it has no plan.
pub fn planned<J: DeserializeOwned>(folder: &Path) -> Result<Vec<Planned<J>>, FolderError> {
    let path = folder.join(JOBS);
    let lines = journal::read(&path).map_err(failed(&path))?;
    let read = lines.iter().map(|line| serde_json::from_str(line)).collect::<Result<_, _>>();
    read.map_err(|error| FolderError::Content { path, problem: error.to_string() })
}

/// The key of a line and its result.
fn read(line: &str) -> Option<(Key, &str)> {
    let (key, result) = line.strip_prefix("[\"")?.strip_suffix(']')?.split_once("\",")?;
    Some((key.parse().ok()?, result))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_what_it_was_and_a_line_that_is_none_is_refused_with_its_number() {
        let folder = std::env::temp_dir().join(format!("thalweg-kept-{}", std::process::id()));
        let [one, other] = ["one", "other"].map(Key::of_text);
        let kept = Kept::open(&folder).unwrap();
        kept.put(one, &vec![0.1 + 0.2, 1e-300]).unwrap();
        assert!(Kept::open(&folder).is_err(), "two processes would write one file");
        kept.plan(&[Planned { key: other, seconds: 2.0, job: "text" }]).unwrap();
        drop(kept);
        let kept = Kept::open(&folder).unwrap();
        assert_eq!(kept.get::<Vec<f64>>(one).unwrap(), Some(vec![0.1 + 0.2, 1e-300]));
        assert!(kept.has(one) && !kept.has(other) && kept.get::<f64>(other).unwrap().is_none());
        assert!(kept.get::<String>(one).unwrap_err().to_string().contains("remove the file"));
        let jobs: Vec<Planned<String>> = planned(&folder).unwrap();
        assert_eq!((jobs[0].key, jobs[0].job.as_str()), (other, "text"));
        drop(kept);
        std::fs::write(folder.join(PLAYED), "[\"x\",1]\n").unwrap();
        assert!(Kept::open(&folder).unwrap_err().to_string().contains("line 1"));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
