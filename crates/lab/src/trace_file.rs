//! The trace of a search: a file whose first line says what is searched for, and every other what was played, written as
//! it is played. A search that depends on nothing but its arguments and what it played goes on from it.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::journal::Journal;

/// An open trace.
#[derive(Debug)]
pub struct TraceFile {
    journal: Journal,
    /// The lines that were there.
    known: Vec<String>,
    /// How many lines were passed.
    passed: usize,
}

/// Why a trace cannot be written, or gone on with: begins with its path, ends with the fix.
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", path.display())]
pub struct TraceError {
    path: PathBuf,
    why: String,
}

impl TraceFile {
    /// Opens the trace at `path`: with `resume` the one that is there, else an empty one.
    ///
    /// # Errors
    /// When there is none to resume, or it cannot be read or written.
    pub fn open(path: &Path, resume: bool) -> Result<TraceFile, TraceError> {
        let failed = |error: std::io::Error| TraceError { path: path.into(), why: error.to_string() };
        if resume && !path.exists() {
            let why = "there is no trace to go on with; begin without --resume".into();
            return Err(TraceError { path: path.into(), why });
        }
        if !resume && path.exists() {
            std::fs::remove_file(path).map_err(failed)?;
        }
        let (journal, known) = Journal::open(path).map_err(failed)?;
        Ok(TraceFile { journal, known, passed: 0 })
    }

    /// Checks that a trace to go on with is of the same `of`, before anything beside it is written over.
    ///
    /// # Errors
    /// When there is none, it cannot be read, or it is of something else.
    pub fn check<H: DeserializeOwned>(
        path: &Path,
        of: &str,
        is_same: impl FnOnce(&H) -> bool,
    ) -> Result<(), TraceError> {
        let trace = TraceFile::open(path, true)?;
        trace.known(0)?.map_or(Ok(()), |header| trace.same(header, of, is_same).map(drop))
    }

    /// The first line: the one that is there, which must be of the same `of`, or a new one.
    ///
    /// # Errors
    /// When it is of something else, cannot be written, or `make` fails.
    pub fn begin<H: Serialize + DeserializeOwned, E: From<TraceError>>(
        &mut self,
        of: &str,
        is_same: impl FnOnce(&H) -> bool,
        make: impl FnOnce() -> Result<H, E>,
    ) -> Result<H, E> {
        let header = match self.known(0)? {
            Some(header) => self.same(header, of, is_same)?,
            None => make()?,
        };
        self.write(&header)?;
        Ok(header)
    }

    /// The line that is there so many after those that were passed, if there is one.
    ///
    /// # Errors
    /// When it cannot be read as what it must be.
    pub fn known<T: DeserializeOwned>(&self, ahead: usize) -> Result<Option<T>, TraceError> {
        let place = self.passed + ahead;
        let read = self.known.get(place).map(|line| serde_json::from_str(line));
        read.transpose().map_err(|error| self.wrong(place, &error.to_string()))
    }

    /// Passes a line: one that is there must be what would be written now; else it is written.
    ///
    /// # Errors
    /// When another line is there, or it cannot be written.
    pub fn write<T: Serialize>(&mut self, value: &T) -> Result<(), TraceError> {
        let line = serde_json::to_string(value).map_err(|error| self.wrong(self.passed, &error.to_string()))?;
        match self.known.get(self.passed) {
            Some(known) if *known == line => {}
            Some(_) => return Err(self.wrong(self.passed, "is not what this search would have written")),
            None => self.journal.append(&line).map_err(|error| self.error(error.to_string()))?,
        }
        self.passed += 1;
        Ok(())
    }

    fn same<H>(&self, header: H, of: &str, is_same: impl FnOnce(&H) -> bool) -> Result<H, TraceError> {
        let fix = "begin anew without --resume, or give another --out";
        let other = || self.error(format!("the trace is of another {of} or version of this program: {fix}"));
        if is_same(&header) { Ok(header) } else { Err(other()) }
    }

    fn wrong(&self, place: usize, why: &str) -> TraceError {
        self.error(format!("line {}: {why}: begin anew without --resume", place + 1))
    }

    fn error(&self, why: String) -> TraceError {
        TraceError { path: self.journal.path().into(), why }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A search whose header is `of`, and which plays these numbers; what it played anew.
    fn search(path: &Path, resume: bool, of: &str, numbers: &[u32]) -> Result<Vec<u32>, TraceError> {
        let mut trace = TraceFile::open(path, resume)?;
        trace.begin::<String, TraceError>("plan", |known| known == of, || Ok(of.into()))?;
        let mut played = Vec::new();
        for number in numbers {
            if trace.known::<u32>(0)?.is_none() {
                played.push(*number);
            }
            trace.write(number)?;
        }
        Ok(played)
    }

    #[test]
    fn what_was_played_is_not_played_again_and_what_is_not_the_same_is_refused() {
        let path = std::env::temp_dir().join(format!("thalweg-trace-file-{}", std::process::id()));
        let refused = |resume, of, numbers: &[u32]| search(&path, resume, of, numbers).unwrap_err().to_string();
        let _ = std::fs::remove_file(&path);
        assert!(refused(true, "a", &[1]).contains("there is no trace to go on with"));
        assert_eq!(search(&path, false, "a", &[1, 2]).unwrap(), [1, 2]);
        // What an interruption left of a line is gone.
        std::fs::write(&path, std::fs::read_to_string(&path).unwrap() + "3").unwrap();
        assert_eq!(search(&path, true, "a", &[1, 2, 4]).unwrap(), [4]);
        assert!(refused(true, "b", &[1]).contains("of another plan or version"));
        let other = refused(true, "a", &[1, 3]);
        assert!(other.contains("line 3: is not what this search would have written"), "{other}");
        assert_eq!(search(&path, false, "b", &[3]).unwrap(), [3]);
        std::fs::remove_file(&path).unwrap();
    }
}
