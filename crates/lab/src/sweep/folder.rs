//! The folder of a sweep: rows while it is played, the rows of a shard, and the table.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Cell, Key, Row, Shard, Status, Sweep};
use crate::journal::{self, Journal};
use crate::run_folder::{FolderError, write_whole};

/// The folder of journals, one for each shard.
const PARTS: &str = "parts";

fn failed(path: &Path) -> impl FnOnce(io::Error) -> FolderError {
    let path = path.to_path_buf();
    move |error| FolderError::Io { path, error }
}

/// The rows that are known of a folder, to which those of a shard are added as they are played.
#[derive(Debug)]
pub struct Parts {
    journal: Journal,
    known: BTreeMap<Key, Row>,
}

impl Parts {
    /// Opens the folder `out`, which is created if need be. A row is known if any shard has played it, in a sweep of
    /// whichever grid: what was added to a grid is all that is played anew.
    ///
    /// # Errors
    /// When it cannot be read or written, or another process plays the same shard into it.
    pub fn open(out: &Path, shard: Shard) -> Result<Parts, FolderError> {
        let folder = out.join(PARTS);
        std::fs::create_dir_all(&folder).map_err(failed(&folder))?;
        let own = folder.join(format!("{}-of-{}.jsonl", shard.index(), shard.of()));
        let (journal, lines) = Journal::open(&own).map_err(failed(&own))?;
        let mut known = BTreeMap::new();
        read_rows(&own, &lines, &mut known)?;
        for entry in std::fs::read_dir(&folder).map_err(failed(&folder))? {
            let path = entry.map_err(failed(&folder))?.path();
            if path != own && path.extension().is_some_and(|end| end == "jsonl") {
                read_rows(&path, &journal::read(&path).map_err(failed(&path))?, &mut known)?;
            }
        }
        Ok(Parts { journal, known })
    }

    /// The row of a run as that of a job; `None` if it is not known.
    pub fn row(&self, key: Key, job: u32, axes: Vec<(String, Cell)>) -> Option<Row> {
        self.known.get(&key).map(|row| Row { job, axes, ..row.clone() })
    }

    /// Forgets the rows of runs that failed, so that they are played again.
    pub fn forget_failed(&mut self) {
        self.known.retain(|_, row| row.status != Status::Failed);
    }

    /// Adds a row, which is in the folder when this returns.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn append(&mut self, row: &Row) -> Result<(), FolderError> {
        let path = self.journal.path().to_path_buf();
        let text = serde_json::to_string(row);
        let text = text.map_err(|error| FolderError::Content { path: path.clone(), problem: error.to_string() })?;
        self.journal.append(&text).map_err(|error| FolderError::Io { path, error })?;
        self.known.insert(row.key, row.clone());
        Ok(())
    }

    /// Has the rows survive the machine, not only the program: to be called about once a second.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn sync(&self) -> Result<(), FolderError> {
        self.journal.sync().map_err(failed(self.journal.path()))
    }
}

/// Adds the rows of a journal, of which the last of a run counts, but none that failed after one that did not: journals are
/// read in any order.
fn read_rows(path: &Path, lines: &[String], known: &mut BTreeMap<Key, Row>) -> Result<(), FolderError> {
    for (place, line) in lines.iter().enumerate() {
        let row: Row = serde_json::from_str(line).map_err(|error| FolderError::Content {
            path: path.into(),
            problem: format!("line {}: {error}; remove the file, and its runs are played again", place + 1),
        })?;
        if row.status == Status::Done || known.get(&row.key).is_none_or(|before| before.status == Status::Failed) {
            known.insert(row.key, row);
        }
    }
    Ok(())
}

/// The rows of a shard that was played to its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Key of the sweep ([`Sweep::key`]).
    pub sweep: Key,
    /// The number of jobs of the whole sweep.
    pub jobs: u32,
    /// Which shard it is.
    pub shard: Shard,
    /// Its rows.
    pub rows: Vec<Row>,
}

impl Part {
    /// Rows of a shard, in any order.
    pub fn new(sweep: &Sweep, shard: Shard, mut rows: Vec<Row>) -> Part {
        rows.sort_by_key(|row| row.job);
        Part { sweep: sweep.key(), jobs: sweep.len(), shard, rows }
    }

    /// Writes it into `out`, and returns the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, out: &Path) -> Result<PathBuf, FolderError> {
        let path = out.join(format!("shard-{}-of-{}.json", self.shard.index(), self.shard.of()));
        let text = serde_json::to_vec(self);
        let text = text.map_err(|error| FolderError::Content { path: path.clone(), problem: error.to_string() })?;
        write_whole(&path, |path| std::fs::write(path, text)).map_err(failed(&path))?;
        Ok(path)
    }
}

/// Why shards cannot be merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// Some have not been played to their end.
    #[error("{missing} of {of} shards missing ({list}): play each of them with --shard, then merge again")]
    Incomplete {
        /// How many.
        missing: usize,
        /// Number of shards.
        of: u32,
        /// Which.
        list: String,
    },
    /// They are not of one sweep, or not as they were written.
    #[error("{0}")]
    Different(String),
    /// A file cannot be read.
    #[error(transparent)]
    Folder(#[from] FolderError),
}

/// All rows of a sweep whose shards are in these folders.
///
/// # Errors
/// When one is missing, or they are of different grids or numbers of shards.
pub fn merge(folders: &[PathBuf]) -> Result<Vec<Row>, MergeError> {
    let mut parts: Vec<(PathBuf, Part)> = Vec::new();
    for folder in folders {
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(failed(folder))? {
            let path = entry.map_err(failed(folder))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with("shard-") && name.ends_with(".json") {
                paths.push(path);
            }
        }
        paths.sort();
        for path in paths {
            let text = std::fs::read(&path).map_err(failed(&path))?;
            let part: Part = serde_json::from_slice(&text)
                .map_err(|error| FolderError::Content { path: path.clone(), problem: error.to_string() })?;
            parts.push((path, part));
        }
    }
    let different = |message: String| Err(MergeError::Different(message));
    let Some((first_path, first)) = parts.first() else {
        let names: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
        let names = names.join(", ");
        return different(format!(
            "{names}: no shard-*.json, which `thalweg sweep GRID --shard 0/4 -o {names}` writes"
        ));
    };
    let (sweep, of, jobs) = (first.sweep, first.shard.of(), first.jobs);
    let mut found: BTreeMap<u32, &PathBuf> = BTreeMap::new();
    for (path, part) in &parts {
        let (shown, before) = (path.display(), first_path.display());
        if part.shard.of() != of {
            let other = part.shard.of();
            return different(format!(
                "{shown} is one of {other} shards, and {before} one of {of}: remove those of one"
            ));
        }
        if part.sweep != sweep || part.jobs != jobs {
            return different(format!(
                "{shown} and {before} are of different sweeps: their grids, the files these name or the builds that \
                 played them differ; play both with the same, or give the folders of one sweep"
            ));
        }
        if let Some(other) = found.insert(part.shard.index(), path) {
            return different(format!("{shown} and {} are the same shard: remove one", other.display()));
        }
    }
    for (path, part) in &parts {
        let wanted = (0..jobs).filter(|job| part.shard.has(*job));
        if !part.rows.iter().map(|row| row.job).eq(wanted) {
            let shown = path.display();
            return different(format!("{shown}: has not the rows of its shard: remove it, and play it again"));
        }
    }
    let missing: Vec<String> =
        (0..of).filter(|index| !found.contains_key(index)).map(|index| format!("{index}/{of}")).collect();
    if !missing.is_empty() {
        return Err(MergeError::Incomplete { missing: missing.len(), of, list: missing.join(", ") });
    }
    let mut rows: Vec<Row> = parts.into_iter().flat_map(|(_, part)| part.rows).collect();
    rows.sort_by_key(|row| row.job);
    Ok(rows)
}

/// The file of the table.
const RESULTS: &str = if cfg!(feature = "parquet") { "results.parquet" } else { "results.jsonl" };

/// Writes the table of a sweep into `out` and returns its file: `results.parquet`, or in a build without the feature
/// `parquet` `results.jsonl`, a line of JSON for each row. The bytes depend on the rows alone, not on their order.
///
/// # Errors
/// When two rows are of one job, rows have different axes, or the file cannot be written.
pub fn write_results(out: &Path, mut rows: Vec<Row>) -> Result<PathBuf, FolderError> {
    rows.sort_by_key(|row| row.job);
    let path = out.join(RESULTS);
    let content = |problem: String| FolderError::Content { path: path.clone(), problem };
    for pair in rows.windows(2) {
        if pair[0].job == pair[1].job {
            return Err(content(format!("job {} has two rows: give one of each", pair[0].job)));
        }
        let names = |row: &Row| row.axes.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        let (one, other) = (names(&pair[0]), names(&pair[1]));
        if one != other {
            let [one, other] = [one, other].map(|names| names.join(", "));
            return Err(content(format!("rows have different axes, [{one}] and [{other}]: give those of one sweep")));
        }
    }
    std::fs::create_dir_all(out).map_err(failed(out))?;
    write_rows(&path, &rows)?;
    Ok(path)
}

/// The rows of the table in `out`, in order of their jobs.
///
/// # Errors
/// When there is none that this build wrote.
pub fn read_results(out: &Path) -> Result<Vec<Row>, FolderError> {
    read_table(&out.join(RESULTS))
}

#[cfg(feature = "parquet")]
fn wrong(path: &Path) -> impl FnOnce(crate::record::TableError) -> FolderError {
    use crate::record::TableError;
    move |error| match error {
        TableError::Io(error) => FolderError::Io { path: path.into(), error },
        error => FolderError::Content { path: path.into(), problem: error.to_string() },
    }
}

#[cfg(feature = "parquet")]
fn write_rows(path: &Path, rows: &[Row]) -> Result<(), FolderError> {
    write_whole(path, |path| super::table::write(path, rows)).map_err(wrong(path))
}

#[cfg(feature = "parquet")]
fn read_table(path: &Path) -> Result<Vec<Row>, FolderError> {
    super::table::read(path).map_err(wrong(path))
}

#[cfg(not(feature = "parquet"))]
fn write_rows(path: &Path, rows: &[Row]) -> Result<(), FolderError> {
    let lines = rows.iter().map(|row| serde_json::to_string(row).map(|line| line + "\n"));
    let text = lines.collect::<Result<String, _>>();
    let text = text.map_err(|error| FolderError::Content { path: path.into(), problem: error.to_string() })?;
    write_whole(path, |path| std::fs::write(path, &text)).map_err(failed(path))
}

#[cfg(not(feature = "parquet"))]
fn read_table(path: &Path) -> Result<Vec<Row>, FolderError> {
    let lines = journal::read(path).map_err(failed(path))?;
    let rows = lines.iter().map(|line| serde_json::from_str(line)).collect::<Result<_, _>>();
    rows.map_err(|error| FolderError::Content { path: path.into(), problem: error.to_string() })
}
