//! Clips by their names in the data manifest, the folders of its sets, and how a run plays a clip.

use std::path::PathBuf;

use thalweg_data::{Error, Manifest, Place, recording};
use thalweg_lab::Scenario;
use thalweg_lab::statistics::distinct;
use thalweg_video::footage;
use thalweg_video::source::SourceError;

/// The folder of a set, which may not exist: `given`, or else the set's folder in this user's place.
pub(crate) fn folder(given: Option<&PathBuf>, set: &str) -> Result<PathBuf, Error> {
    let default = || Ok(Place::of_user()?.root().join(&Manifest::built_in().set(set)?.folder));
    given.cloned().map_or_else(default, Ok)
}

/// A video named on the command line: the path of a clip of the manifest, any other name unchanged.
pub(crate) fn video(name: &str) -> Result<String, Error> {
    Ok(recording(name)?.map_or_else(|| name.to_string(), |path| path.display().to_string()))
}

/// Says how these scenarios play their videos, before they do: that a file begins again, and what is done to its pictures.
///
/// # Errors
/// When a file cannot be read.
pub(crate) fn announce<'a>(scenarios: impl Iterator<Item = &'a Scenario>) -> Result<(), SourceError> {
    let real = scenarios.filter(|scenario| !scenario.codec.is_model());
    for (video, of) in distinct(real.map(|scenario| (scenario.video.clone(), scenario.duration))) {
        let about = footage::about(&video)?;
        about.notes.iter().for_each(|note| note!("{}: {note}", video.source));
        if let Some(duration) = about.duration.filter(|duration| *duration < of) {
            let how = if video.there_and_back { "is played there and back" } else { "begins again" };
            note!("{}: it lasts {:.1} s of {:.1} s, and {how}", video.source, duration.as_secs_f64(), of.as_secs_f64());
        }
    }
    Ok(())
}
