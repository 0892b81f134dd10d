//! Any input of the program `ffmpeg`, if it is installed.

use std::sync::Arc;

use super::{Format, Source, SourceError, Y4mReader};
use crate::ffmpeg::Process;
use crate::picture::Picture;

/// A video decoded to y4m by ffmpeg.
pub struct Ffmpeg(Y4mReader<Process>);

impl Ffmpeg {
    /// Starts ffmpeg on a file (or any argument of its `-i`).
    ///
    /// # Errors
    /// When ffmpeg is not installed or cannot read the input, with its message.
    pub fn open(input: &str) -> Result<Ffmpeg, SourceError> {
        let arguments = ["-i", input, "-f", "yuv4mpegpipe", "-pix_fmt", "yuv420p", "-"];
        Y4mReader::new(Process::start(input, &arguments)?, input).map(Ffmpeg)
    }
}

impl Source for Ffmpeg {
    fn format(&self) -> Format {
        self.0.format()
    }

    fn next_picture(&mut self) -> Result<Option<Arc<Picture>>, SourceError> {
        self.0.next_picture()
    }
}
