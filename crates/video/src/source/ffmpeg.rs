//! Anything the program `ffmpeg` reads, when it is installed.

use std::io::Read;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;

use super::{Format, Source, SourceError, Y4mReader};
use crate::picture::Picture;

/// A child process that decodes to y4m. It is ended when this is dropped.
pub struct Ffmpeg {
    what: String,
    child: Child,
    reader: Y4mReader<ChildStdout>,
}

impl Ffmpeg {
    /// Starts ffmpeg on a file (or anything it takes after `-i`).
    ///
    /// # Errors
    /// When ffmpeg is not installed or cannot read the input, with its own words.
    pub fn open(input: &str) -> Result<Ffmpeg, SourceError> {
        let mut child = Command::new("ffmpeg")
            .args(["-nostdin", "-v", "error", "-i", input, "-f", "yuv4mpegpipe", "-pix_fmt", "yuv420p", "-"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| match error.kind() {
                std::io::ErrorKind::NotFound => SourceError::Format {
                    what: input.into(),
                    problem: "the program ffmpeg, which reads this, is not installed (Debian: apt-get install ffmpeg); a .y4m \
                              file needs no ffmpeg"
                        .into(),
                },
                _ => SourceError::Io { what: "ffmpeg".into(), error },
            })?;
        let Some(stdout) = child.stdout.take() else {
            return Err(SourceError::Format { what: input.into(), problem: "ffmpeg gave no output".into() });
        };
        match Y4mReader::new(stdout, input) {
            Ok(reader) => Ok(Ffmpeg { what: input.into(), child, reader }),
            Err(_) => {
                let words = last_words(&mut child);
                let problem = format!("ffmpeg cannot read it: {words}");
                Err(SourceError::Format { what: input.into(), problem })
            }
        }
    }
}

fn last_words(child: &mut Child) -> String {
    let mut words = String::new();
    if let Some(stderr) = child.stderr.take() {
        // Errors are a few lines; what ffmpeg says beyond this is not needed.
        let _ = stderr.take(4_000).read_to_string(&mut words);
    }
    let _ = child.kill();
    let _ = child.wait();
    words.trim().lines().next_back().unwrap_or("it says nothing").to_string()
}

impl Source for Ffmpeg {
    fn format(&self) -> Format {
        self.reader.format()
    }

    fn next_picture(&mut self) -> Result<Option<Arc<Picture>>, SourceError> {
        let picture = self.reader.next_picture()?;
        if picture.is_none() {
            let status = self.child.wait().map_err(|error| SourceError::Io { what: "ffmpeg".into(), error })?;
            if !status.success() {
                let problem = format!("ffmpeg stopped: {}", last_words(&mut self.child));
                return Err(SourceError::Format { what: self.what.clone(), problem });
            }
        }
        Ok(picture)
    }
}

impl Drop for Ffmpeg {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
