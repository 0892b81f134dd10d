//! VMAF (Netflix's fusion of elementary metrics, fitted to viewers' ratings) by an `ffmpeg` that has libvmaf.
//!
//! The program reads source and shown picture in turns from one pipe, so that it needs no files and no second pipe, and
//! prints the score of each pair when the last has come.

use std::ffi::OsString;
use std::io::{self, BufWriter, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::{Builder, JoinHandle};

use crate::ffmpeg::{PROGRAM, program, words};
use crate::picture::Picture;
use crate::source::Format;

/// The model: libvmaf's default, for a screen of 1080 lines at three times its height.
const MODEL: &str = "vmaf_v0.6.1";

/// Why VMAF cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum VmafError {
    /// There is no such program, or it has no libvmaf.
    #[error(
        "VMAF: {program} {problem}. Name an ffmpeg with libvmaf by {PROGRAM}; the Python package imageio-ffmpeg has one: python3 -m \
         venv ~/.thalweg-vmaf && ~/.thalweg-vmaf/bin/pip install imageio-ffmpeg && export {PROGRAM}=$(~/.thalweg-vmaf/bin/python \
         -c 'import imageio_ffmpeg; print(imageio_ffmpeg.get_ffmpeg_exe())')"
    )]
    Absent {
        /// The program.
        program: String,
        /// The problem with it.
        problem: String,
    },
    /// It failed.
    #[error("VMAF: {0}")]
    Failed(String),
}

/// The scores of all pairs.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    /// The score of each pair, 0 to 100, in order.
    pub each: Vec<f64>,
    /// Versions of what computed them, and the model.
    pub tool: String,
}

/// A running comparison.
pub struct Vmaf {
    child: Child,
    input: BufWriter<ChildStdin>,
    printed: JoinHandle<io::Result<String>>,
    errors: JoinHandle<io::Result<Vec<u8>>>,
    pairs: usize,
}

impl Vmaf {
    /// Checks that the program is there and has libvmaf.
    ///
    /// # Errors
    /// When it is not or has not; the error says how to get one.
    pub fn check() -> Result<(), VmafError> {
        let program = program();
        let absent = |problem: String| VmafError::Absent { program: program.display().to_string(), problem };
        let filters = asked(&program, "-filters").map_err(|error| absent(format!("cannot be started: {error}")))?;
        if filters.split_whitespace().any(|word| word == "libvmaf") {
            return Ok(());
        }
        Err(absent("has no libvmaf (Debian's has not)".into()))
    }

    /// Starts the comparison of pairs of pictures of this size.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub fn start(format: Format) -> Result<Vmaf, VmafError> {
        let (frames, seconds) = format.frame_rate;
        let filter = format!(
            "split[even][odd];[even]select='not(mod(n,2))',setpts=N[source];[odd]select='mod(n,2)',setpts=N[shown];\
             [shown][source]libvmaf=log_path=/dev/stdout:log_fmt=xml:model=version={MODEL}"
        );
        let mut child = Command::new(program())
            .args(["-nostdin", "-v", "error", "-f", "rawvideo", "-pixel_format", "yuv420p"])
            .args(["-video_size", &format!("{}x{}", format.size.width, format.size.height)])
            .args(["-framerate", &format!("{frames}/{seconds}"), "-i", "-"])
            .args(["-filter_complex", &filter, "-f", "null", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| VmafError::Failed(error.to_string()))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(mut output), Some(mut errors)) = pipes else {
            return Err(VmafError::Failed("the program has no pipes".into()));
        };
        let failed = |error: io::Error| VmafError::Failed(error.to_string());
        let printed = Builder::new().name("vmaf".into()).spawn(move || {
            let mut text = String::new();
            output.read_to_string(&mut text).map(|_| text)
        });
        let errors = Builder::new().name("vmaf errors".into()).spawn(move || {
            let mut words = Vec::new();
            errors.read_to_end(&mut words).map(|_| words)
        });
        let (printed, errors) = (printed.map_err(failed)?, errors.map_err(failed)?);
        Ok(Vmaf { child, input: BufWriter::new(input), printed, errors, pairs: 0 })
    }

    /// Adds a pair; both have the size of the format.
    ///
    /// # Errors
    /// When the program has ended.
    pub fn compare(&mut self, source: &Picture, shown: &Picture) -> Result<(), VmafError> {
        super::assert_same_size(source, shown);
        self.pairs += 1;
        let written = self.input.write_all(source.data()).and_then(|()| self.input.write_all(shown.data()));
        written.map_err(|error| VmafError::Failed(format!("the program no longer reads: {error}")))
    }

    /// Waits for the scores.
    ///
    /// # Errors
    /// When the program failed, in its words.
    pub fn finish(self) -> Result<Scores, VmafError> {
        let Vmaf { mut child, input, printed, errors, pairs } = self;
        let failed = |error: io::Error| VmafError::Failed(error.to_string());
        // Closes the pipe, so that the program knows that this was all.
        drop(input.into_inner().map_err(|error| failed(error.into_error()))?);
        let read = |text: Result<io::Result<String>, _>| text.map_err(|_| VmafError::Failed("a thread failed".into()));
        let text = read(printed.join())?.map_err(failed)?;
        let words = errors.join().ok().and_then(Result::ok).and_then(|said| words(&said)).unwrap_or_default();
        let status = child.wait().map_err(failed)?;
        let each = scores(&text);
        if !status.success() || each.len() != pairs {
            let count = each.len();
            return Err(VmafError::Failed(format!(
                "the program ended with {status} after {count} of {pairs} pairs: {words}"
            )));
        }
        let version = attribute(&text, "VMAF version").unwrap_or("?");
        let ffmpeg = asked(&program(), "-version").map_err(failed)?;
        let ffmpeg = ffmpeg.split_whitespace().nth(2).unwrap_or("?");
        Ok(Scores { each, tool: format!("libvmaf {version}, model {MODEL}, in ffmpeg {ffmpeg}") })
    }
}

/// Output of the program for this option.
fn asked(program: &OsString, what: &str) -> io::Result<String> {
    let output = Command::new(program).args(["-hide_banner", what]).stdin(Stdio::null()).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The scores in libvmaf's report: an element `frame` for each pair, with an attribute `vmaf`.
fn scores(report: &str) -> Vec<f64> {
    let frames = report.lines().filter(|line| line.trim_start().starts_with("<frame "));
    frames.filter_map(|frame| attribute(frame, " vmaf")?.parse().ok()).collect()
}

fn attribute<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.split_once(&format!("{name}=\""))?.1.split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scores_are_those_of_the_frames_and_not_of_their_mean() {
        let report = "<VMAF version=\"3.0.0\">\n  <frames>\n    <frame frameNum=\"0\" integer_adm2=\"0.9\" vmaf=\"97.25\" />\n    \
                      <frame frameNum=\"1\" integer_adm2=\"0.8\" vmaf=\"60.5\" />\n  </frames>\n  <pooled_metrics>\n    <metric \
                      name=\"vmaf\" min=\"60.5\" max=\"97.25\" />\n";
        assert_eq!(scores(report), [97.25, 60.5]);
        assert_eq!(attribute(report, "VMAF version"), Some("3.0.0"));
    }

    #[test]
    fn the_error_says_what_to_do() {
        let error = VmafError::Absent { program: "ffmpeg".into(), problem: "has no libvmaf".into() }.to_string();
        assert!(error.contains("pip install imageio-ffmpeg") && error.contains("THALWEG_FFMPEG"), "{error}");
    }
}
