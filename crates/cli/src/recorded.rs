//! Recordings and clips by their names in the data manifest, and the folders of its sets.

use std::path::{Path, PathBuf};

use thalweg_data::{Error, Manifest, Place, Set};

/// The file of a name such as `TMobile-LTE-short.down` or `talking-head-720p30.mp4`, unless the current folder has a
/// file of that name; `None` for names that are not in the manifest.
///
/// # Errors
/// When the file is not present; the error says how to get it.
pub(crate) fn find(name: &str) -> Result<Option<PathBuf>, Error> {
    if Path::new(name).exists() {
        return Ok(None);
    }
    let is_played = |set: &&Set| ["mahimahi", "salsify-traces", "lumos5g", "video"].contains(&set.name.as_str());
    let mut sets = Manifest::built_in().sets().iter().filter(is_played);
    let Some(set) = sets.find(|set| set.file(name).is_some()) else { return Ok(None) };
    let path = Place::of_user()?.root().join(&set.folder).join(name);
    if path.is_file() { Ok(Some(path)) } else { Err(Error::Missing { path, set: set.name.clone() }) }
}

/// The folder of a set, which may not exist: `given`, or else the set's folder in this user's place.
pub(crate) fn folder(given: Option<&PathBuf>, set: &str) -> Result<PathBuf, Error> {
    let default = || Ok(Place::of_user()?.root().join(&Manifest::built_in().set(set)?.folder));
    given.cloned().map_or_else(default, Ok)
}

/// A video named on the command line: the path of a clip of the manifest, any other name unchanged.
pub(crate) fn video(name: &str) -> Result<String, Error> {
    Ok(find(name)?.map_or_else(|| name.to_string(), |path| path.display().to_string()))
}
