use std::path::{Path, PathBuf};

use crate::{Error, Manifest, Place, Set};

/// The sets whose files a scenario can name: links and videos.
const PLAYED: [&str; 4] = ["mahimahi", "salsify-traces", "lumos5g", "video"];

/// The file of a link or clip with a name such as `TMobile-LTE-short.down` or `talking-head-720p30.mp4`, in the place of
/// this user; `None` for names that are not in the manifest, and where the current folder has a file of that name.
///
/// # Errors
/// When the file is not present; the error says how to get it.
pub fn recording(name: &str) -> Result<Option<PathBuf>, Error> {
    if Path::new(name).exists() {
        return Ok(None);
    }
    let is_played = |set: &&Set| PLAYED.contains(&set.name.as_str());
    let mut sets = Manifest::built_in().sets().iter().filter(is_played);
    let Some(set) = sets.find(|set| set.file(name).is_some()) else { return Ok(None) };
    let path = Place::of_user()?.root().join(&set.folder).join(name);
    if path.is_file() { Ok(Some(path)) } else { Err(Error::Missing { path, set: set.name.clone() }) }
}
