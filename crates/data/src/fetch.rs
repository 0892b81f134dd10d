use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::manifest::encoded;
use crate::place::copy;
use crate::{Error, File, Manifest, Place, Set, State};

/// Where to fetch from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The repositories the manifest names.
    Upstream,
    /// A web server that has the sets in the same folders as a [`Place`].
    Mirror(String),
    /// A folder that has the sets in the same folders.
    Folder(PathBuf),
}

impl FromStr for Origin {
    type Err = std::convert::Infallible;

    /// `http` and `https` addresses are mirrors, anything else is a folder.
    fn from_str(text: &str) -> Result<Origin, Self::Err> {
        let address = text.starts_with("http://") || text.starts_with("https://");
        Ok(if address { Origin::Mirror(text.trim_end_matches('/').into()) } else { Origin::Folder(text.into()) })
    }
}

/// The outcome of fetching a file.
#[derive(Debug)]
pub enum Outcome {
    /// The file was already present.
    Kept,
    /// The file was fetched.
    Fetched,
    /// The file was measured or collected for this project: only a mirror or a folder has it.
    NoUpstream,
    /// The file could not be fetched, with the reason.
    Failed(Error),
}

/// Fetches a file into a place unless it is present. It is written under another name, checked, then renamed, so that a
/// file under its own name is always complete.
#[must_use]
pub fn fetch(manifest: &Manifest, place: &Place, origin: &Origin, set: &Set, file: &File) -> Outcome {
    match place.state(set, file) {
        Ok(State::Here) => return Outcome::Kept,
        Ok(State::Missing | State::Corrupt) => {}
        Err(error) => return Outcome::Failed(error),
    }
    let from = match origin {
        Origin::Upstream => manifest.upstream(file),
        Origin::Mirror(base) => Some(format!("{base}/{}", encoded(&format!("{}/{}", set.folder, file.name)))),
        Origin::Folder(folder) => Some(folder.join(&set.folder).join(&file.name).display().to_string()),
    };
    let Some(from) = from else { return Outcome::NoUpstream };
    let into = place.path(set, file);
    let written = match origin {
        Origin::Folder(_) => {
            fs::File::open(&from).map_err(Error::file(&from)).and_then(|opened| keep(opened, &from, file, &into))
        }
        Origin::Upstream | Origin::Mirror(_) => get(&from).and_then(|body| keep(body, &from, file, &into)),
    };
    written.map_or_else(Outcome::Failed, |()| Outcome::Fetched)
}

#[cfg(feature = "http")]
fn get(url: &str) -> Result<impl Read, Error> {
    crate::http::get(url)
}

#[cfg(not(feature = "http"))]
fn get(url: &str) -> Result<std::io::Empty, Error> {
    Err(Error::NoClient { url: url.to_string() })
}

fn keep(body: impl Read, from: &str, file: &File, into: &Path) -> Result<(), Error> {
    let folder = into.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(Error::file(folder))?;
    let name = into.file_name().unwrap_or_default().to_string_lossy();
    let part = folder.join(format!(".{name}.{}.part", std::process::id()));
    let checked = write(body, from, file, &part).and_then(|()| fs::rename(&part, into).map_err(Error::file(into)));
    if checked.is_err() {
        // The partial file is useless; failing to remove it matters less than the error before.
        let _ = fs::remove_file(&part);
    }
    checked
}

fn write(body: impl Read, from: &str, file: &File, part: &Path) -> Result<(), Error> {
    let mut to = fs::File::create(part).map_err(Error::file(part))?;
    // Reading one byte more than expected detects a file that is too long, whatever its length.
    let copied = copy(body.take(file.bytes + 1), &mut to);
    let (have, hash) = copied.map_err(|error| Error::Server { url: from.to_string(), what: error.to_string() })?;
    to.sync_all().map_err(Error::file(part))?;
    if have != file.bytes {
        return Err(Error::Length { have, wanted: file.bytes, from: from.to_string() });
    }
    if hash != file.sha256 {
        return Err(Error::Contents { have: hash, wanted: file.sha256.clone(), from: from.to_string() });
    }
    Ok(())
}
