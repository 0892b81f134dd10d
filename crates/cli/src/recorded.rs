//! Recordings and clips by the names that the data manifest gives them, and the folders of its sets.

use std::path::{Path, PathBuf};

use thalweg_data::{Error, Manifest, Place, Set};

/// The file of a name such as `TMobile-LTE-short.down` or `talking-head-720p30.mp4`, unless there is one in this folder; `None` for
/// what is no name of the manifest's.
///
/// # Errors
/// When it is not here; the error says how to get it.
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

/// Where a set is, or would be: what `given` says, else its folder in the place of this user.
pub(crate) fn folder(given: Option<&PathBuf>, set: &str) -> Result<PathBuf, Error> {
    let default = || Ok(Place::of_user()?.root().join(&Manifest::built_in().set(set)?.folder));
    given.cloned().map_or_else(default, Ok)
}

/// A video as the command line names it: a clip of the manifest by its path, everything else as it is.
pub(crate) fn video(name: &str) -> Result<String, Error> {
    Ok(find(name)?.map_or_else(|| name.to_string(), |path| path.display().to_string()))
}
