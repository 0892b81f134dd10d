//! The folder of a command's results: checked before anything is played, and never silently overwritten.

use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};

/// The file that says which entries of a folder are results.
const LIST: &str = "results.json";
/// The file that is locked while a command writes into a folder, with the number of its process.
const LOCK: &str = ".lock";
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
    hold(folder)?;
    let probe = folder.join(format!(".probe-{}", std::process::id()));
    fs::write(&probe, "probe").and_then(|()| fs::remove_file(&probe)).with_context(shown)?;
    let (before, mut earlier) = (read(folder)?, None);
    if resume {
        let others = before.map_or(0, |list| list.runs.iter().filter(|run| !runs.contains(run)).count());
        if others > 0 {
            note!(
                "{}: {others} runs of the command before are none of this one's: they stay, and are in no table",
                shown()
            );
        }
    } else {
        if let Some(list) = before {
            earlier = move_away(folder, &list)?;
        }
        if let Some(run) = runs.iter().find(|run| folder.join(run).join("run.toml").exists()) {
            bail!(
                "{}: has a run that would be overwritten: give another folder with --out, or remove it",
                folder.join(run).display()
            );
        }
    }
    let list = List { version: env!("CARGO_PKG_VERSION").into(), command: command_line(), runs: runs.to_vec() };
    write_whole(&folder.join(LIST), &serde_json::to_vec_pretty(&list)?)?;
    Ok(earlier)
}

/// Makes the folder, and keeps other commands from writing into it for as long as this one lasts.
///
/// # Errors
/// When there is no such folder to be had, or another command writes into it.
pub(crate) fn hold(folder: &Path) -> anyhow::Result<()> {
    static HELD: Mutex<Vec<(PathBuf, File)>> = Mutex::new(Vec::new());
    let shown = || folder.display().to_string();
    if folder.is_file() {
        bail!("{}: is a file, and must be a folder: give another one with --out", shown());
    }
    fs::create_dir_all(folder).with_context(shown)?;
    let folder = folder.canonicalize().with_context(shown)?;
    let mut held = HELD.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if held.iter().any(|(known, _)| *known == folder) {
        return Ok(());
    }
    let path = folder.join(LOCK);
    let mut file =
        File::options().create(true).truncate(false).read(true).write(true).open(&path).with_context(shown)?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let owner = fs::read_to_string(&path).unwrap_or_default();
            let fix = "wait for it, or give another folder with --out";
            bail!("{}: is in use by another thalweg (pid {}): {fix}", shown(), owner.trim())
        }
        // A file system without locks.
        Err(TryLockError::Error(_)) => {}
        Ok(()) => {
            file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id())).with_context(shown)?;
        }
    }
    held.push((folder, file));
    Ok(())
}

/// A word as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,@%+".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// The command that was given, as a shell takes it again.
pub(crate) fn command_line() -> String {
    let arguments = std::env::args().skip(1).map(|word| quoted(&word));
    std::iter::once("thalweg".to_string()).chain(arguments).collect::<Vec<_>>().join(" ")
}

/// The folders of runs in `path`: itself if it is one, or those that a command listed in it.
///
/// # Errors
/// When it is neither.
pub(crate) fn runs_in(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if path.join("run.toml").is_file() || path.join("outcome.json").is_file() {
        return Ok(vec![path.into()]);
    }
    if !path.exists() {
        // Runs of several seeds are in a folder for each: out/gcc of out/seed-1/gcc.
        let named = path.parent().zip(path.file_name()).map(|(folder, run)| folder.join("seed-1").join(run));
        let fix = match named.filter(|named| named.join("outcome.json").is_file()) {
            Some(run) => format!("each seed's run is in a folder of its own, such as {}", run.display()),
            None => "name the folder of a run, or that of a command's runs".into(),
        };
        bail!("{}: is not there: {fix}", path.display());
    }
    let Some(list) = read(path)? else {
        bail!("{}: neither a run (run.toml) nor the folder of a command's runs ({LIST})", path.display());
    };
    let played = list.runs.iter().map(|run| path.join(run)).filter(|run| run.join("outcome.json").is_file());
    let played: Vec<PathBuf> = played.collect();
    match list.runs.len() - played.len() {
        _ if played.is_empty() => bail!("{}: none of its runs was finished", path.display()),
        0 => {}
        missing => note!(
            "{}: {missing} of {} runs are not finished (no outcome.json): left out",
            path.display(),
            list.runs.len()
        ),
    }
    Ok(played)
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
