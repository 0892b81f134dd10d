//! A video on standard input for several runs.

use std::borrow::Cow;
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use anyhow::Context;
use thalweg_lab::Scenario;
use thalweg_units::Span;
use thalweg_video::Video;
use thalweg_video::source::{Source, Y4mReader, Y4mWriter};

/// The part of standard input that the runs play, in a temporary file: it can be read only once, and each run reads it
/// from the start.
pub(crate) struct Spooled(Option<PathBuf>);

impl Spooled {
    /// Reads as much of standard input as the longest of these scenarios needs, if more than one of them plays it.
    pub(crate) fn of<'a>(scenarios: impl Iterator<Item = &'a Scenario>) -> anyhow::Result<Spooled> {
        let durations: Vec<Span> = scenarios.filter(|each| is_standard_input(each)).map(|each| each.duration).collect();
        let Some(longest) = durations.iter().max().filter(|_| durations.len() > 1) else { return Ok(Spooled(None)) };
        let path = std::env::temp_dir().join(format!("thalweg-standard-input-{}.y4m", std::process::id()));
        let name = || path.display().to_string();
        note!("standard input is kept in {} while {} runs play it", name(), durations.len());
        let mut video = Y4mReader::new(std::io::stdin(), "standard input")?;
        let format = video.format();
        let file = BufWriter::new(File::create(&path).with_context(name)?);
        let spooled = Spooled(Some(path.clone()));
        let mut file = Y4mWriter::new(file, format).with_context(name)?;
        let mut number = 0;
        while format.time_of(number) <= *longest
            && let Some(picture) = video.next_picture()?
        {
            file.write(&picture).with_context(name)?;
            number += 1;
        }
        file.finish().with_context(name)?;
        Ok(spooled)
    }

    /// The scenario with the file in place of standard input.
    pub(crate) fn scenario<'a>(&self, scenario: &'a Scenario) -> Cow<'a, Scenario> {
        match &self.0 {
            Some(path) if is_standard_input(scenario) => {
                let video = Video { source: path.display().to_string(), ..scenario.video.clone() };
                Cow::Owned(Scenario { video, ..scenario.clone() })
            }
            _ => Cow::Borrowed(scenario),
        }
    }
}

impl Drop for Spooled {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            let _ = std::fs::remove_file(path);
        }
    }
}

fn is_standard_input(scenario: &Scenario) -> bool {
    scenario.video.source == "-"
}
