//! The folder of a command's results: checked before anything is played, and never silently overwritten.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

/// The file that says which entries of a folder are results.
const LIST: &str = "results.json";
/// Where the results of earlier commands go, numbered.
const EARLIER: &str = "earlier";

/// Files that a command wrote into its folder.
#[derive(Debug, Serialize, Deserialize)]
struct List {
    version: String,
    command: String,
    /// Folders of runs, relative to this one, in the order of the tables.
    runs: Vec<PathBuf>,
}

/// Makes the folder ready for these runs (paths within it). Results of an earlier command move to `earlier/N`, which is
/// returned, unless they are to be gone on with.
///
/// # Errors
/// When the folder cannot be written to, or has runs that no command listed: those would be overwritten.
pub(crate) fn prepare(folder: &Path, runs: &[PathBuf], resume: bool) -> anyhow::Result<Option<PathBuf>> {
    let shown = || folder.display().to_string();
    fs::create_dir_all(folder).with_context(shown)?;
    let probe = folder.join(format!(".probe-{}", std::process::id()));
    fs::write(&probe, "probe").and_then(|()| fs::remove_file(&probe)).with_context(shown)?;
    let mut earlier = None;
    if !resume {
        if let Some(list) = read(folder)? {
            earlier = move_away(folder, &list)?;
        }
        if let Some(run) = runs.iter().find(|run| folder.join(run).join("run.toml").exists()) {
            bail!(
                "{}: has a run that would be overwritten: give another folder with --out, or remove it",
                folder.join(run).display()
            );
        }
    }
    let command = std::env::args().collect::<Vec<_>>().join(" ");
    let list = List { version: env!("CARGO_PKG_VERSION").into(), command, runs: runs.to_vec() };
    write_whole(&folder.join(LIST), &serde_json::to_vec_pretty(&list)?)?;
    Ok(earlier)
}

/// The folders of runs in `path`: itself if it is one, or those that a command listed in it.
///
/// # Errors
/// When it is neither.
pub(crate) fn runs_in(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if path.join("run.toml").is_file() || path.join("outcome.json").is_file() {
        return Ok(vec![path.into()]);
    }
    let Some(list) = read(path)? else {
        bail!("{}: neither a run (run.toml) nor the folder of a command's runs ({LIST})", path.display());
    };
    let played = list.runs.iter().map(|run| path.join(run)).filter(|run| run.join("outcome.json").is_file());
    let played: Vec<PathBuf> = played.collect();
    if played.is_empty() { bail!("{}: none of its runs was finished", path.display()) } else { Ok(played) }
}

/// Writes a file under another name first, so that what has the name is whole.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    thalweg_lab::run_folder::write_whole(path, |path| fs::write(path, bytes))
        .with_context(|| path.display().to_string())
}

fn read(folder: &Path) -> anyhow::Result<Option<List>> {
    let path = folder.join(LIST);
    match fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).with_context(|| path.display().to_string()),
        Err(error) if [ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&error.kind()) => Ok(None),
        Err(error) => Err(error).with_context(|| path.display().to_string()),
    }
}

/// Moves what a command listed, its report and its list, to the next free number.
fn move_away(folder: &Path, list: &List) -> anyhow::Result<Option<PathBuf>> {
    let tops = list.runs.iter().filter_map(|run| run.components().next()).map(|top| PathBuf::from(top.as_os_str()));
    let mut entries: Vec<PathBuf> = tops.chain(["report.html", LIST].map(PathBuf::from)).collect();
    entries.sort();
    entries.dedup();
    entries.retain(|entry| folder.join(entry).exists());
    if entries == [PathBuf::from(LIST)] {
        // That command failed before its first result.
        return Ok(None);
    }
    let earlier = folder.join(EARLIER);
    let place = (1u32..).map(|number| earlier.join(number.to_string())).find(|place| !place.exists());
    let place = place.unwrap_or_else(|| earlier.join("1"));
    fs::create_dir_all(&place).with_context(|| place.display().to_string())?;
    for entry in entries {
        fs::rename(folder.join(&entry), place.join(&entry))
            .with_context(|| folder.join(&entry).display().to_string())?;
    }
    note!("earlier results: {}", place.display());
    Ok(Some(place))
}
