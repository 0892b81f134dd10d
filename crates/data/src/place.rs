use std::env;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::{Error, File, Set};

/// The environment variable that names the folder of all data.
pub const VARIABLE: &str = "THALWEG_DATA";

/// A folder with one subfolder for each set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    root: PathBuf,
}

/// The state of a file of the manifest in a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// The file is present, with the contents that the manifest expects.
    Here,
    /// The file is missing.
    Missing,
    /// The file is present with other contents.
    Corrupt,
}

impl Place {
    /// A place at a folder, which need not exist.
    #[must_use]
    pub fn at(root: impl Into<PathBuf>) -> Place {
        Place { root: root.into() }
    }

    /// The place of this user: `THALWEG_DATA`, else `thalweg` in `XDG_DATA_HOME` or in `~/.local/share`.
    ///
    /// # Errors
    /// When none of the three is set.
    pub fn of_user() -> Result<Place, Error> {
        let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let shared = || set("XDG_DATA_HOME").or_else(|| Some(set("HOME")?.join(".local/share")));
        set(VARIABLE).or_else(|| Some(shared()?.join("thalweg"))).map(Place::at).ok_or(Error::NoPlace)
    }

    /// The root folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The path of a file of a set, whether it exists or not.
    #[must_use]
    pub fn path(&self, set: &Set, file: &File) -> PathBuf {
        self.root.join(&set.folder).join(&file.name)
    }

    /// The folder of a set, all of whose files are present.
    ///
    /// # Errors
    /// When a file is missing; the error says how to get it.
    pub fn folder_of(&self, set: &Set) -> Result<PathBuf, Error> {
        match set.files.iter().map(|file| self.path(set, file)).find(|path| !path.is_file()) {
            Some(path) => Err(Error::Missing { path, set: set.name.clone() }),
            None => Ok(self.root.join(&set.folder)),
        }
    }

    /// The state of a file; reads and hashes all of it.
    ///
    /// # Errors
    /// When it exists but cannot be read.
    pub fn state(&self, set: &Set, file: &File) -> Result<State, Error> {
        let path = self.path(set, file);
        let opened = match fs::File::open(&path) {
            Ok(opened) => opened,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(State::Missing),
            Err(error) => return Err(Error::File { path, error }),
        };
        let (bytes, hash) = copy(opened, &mut io::sink()).map_err(Error::file(path))?;
        Ok(if bytes == file.bytes && hash == file.sha256 { State::Here } else { State::Corrupt })
    }
}

/// SHA-256 of a file, in hexadecimal digits.
///
/// # Errors
/// When it cannot be read.
pub fn sha256(path: &Path) -> Result<String, Error> {
    let hashed = fs::File::open(path).and_then(|file| copy(file, &mut io::sink()));
    Ok(hashed.map_err(Error::file(path.to_path_buf()))?.1)
}

/// Copies all of `from`; returns the number of bytes and their SHA-256 in hexadecimal digits.
pub(crate) fn copy(mut from: impl Read, to: &mut impl io::Write) -> io::Result<(u64, String)> {
    let (mut hasher, mut bytes, mut buffer) = (Sha256::new(), 0, vec![0; 1 << 16]);
    loop {
        let read = from.read(&mut buffer)?;
        if read == 0 {
            return Ok((bytes, hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()));
        }
        bytes += read as u64;
        hasher.update(&buffer[..read]);
        to.write_all(&buffer[..read])?;
    }
}
