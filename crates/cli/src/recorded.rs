//! Clips by their names in the data manifest, and the folders of its sets.

use std::path::PathBuf;

use thalweg_data::{Error, Manifest, Place, recording};

/// The folder of a set, which may not exist: `given`, or else the set's folder in this user's place.
pub(crate) fn folder(given: Option<&PathBuf>, set: &str) -> Result<PathBuf, Error> {
    let default = || Ok(Place::of_user()?.root().join(&Manifest::built_in().set(set)?.folder));
    given.cloned().map_or_else(default, Ok)
}

/// A video named on the command line: the path of a clip of the manifest, any other name unchanged.
pub(crate) fn video(name: &str) -> Result<String, Error> {
    Ok(recording(name)?.map_or_else(|| name.to_string(), |path| path.display().to_string()))
}
