//! The programs `ffmpeg` and `ffprobe`, when they are installed. `THALWEG_FFMPEG` names another ffmpeg.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::thread::{Builder, JoinHandle};

use crate::source::SourceError;

/// The environment variable that names the program.
pub const PROGRAM: &str = "THALWEG_FFMPEG";

/// The program: `ffmpeg`, or the one that the environment names.
pub fn program() -> OsString {
    std::env::var_os(PROGRAM).filter(|name| !name.is_empty()).unwrap_or_else(|| "ffmpeg".into())
}

/// A running `ffmpeg` whose output is read. Dropping this ends it.
pub struct Process {
    child: Child,
    output: ChildStdout,
    /// Reads its error output, so that ffmpeg never blocks on a full pipe.
    words: Option<JoinHandle<Option<String>>>,
}

impl Process {
    /// Starts ffmpeg to read `what`, with these arguments, the last of which should be `-`.
    ///
    /// # Errors
    /// When it cannot be started or is not installed; the error says what to install.
    pub fn start(what: &str, arguments: &[&str]) -> Result<Process, SourceError> {
        let mut child = Command::new(program())
            .args(["-nostdin", "-v", "error"])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| not_started("ffmpeg", what, error))?;
        let (Some(output), Some(mut errors)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(SourceError::format(what, "ffmpeg gave no output"));
        };
        let words = Builder::new().name("ffmpeg".into()).spawn(move || {
            let mut words = Vec::new();
            // Only the last line counts; a longer buffer is truncated at the front.
            let mut chunk = [0; 4096];
            while let Ok(count @ 1..) = errors.read(&mut chunk) {
                words.extend_from_slice(&chunk[..count]);
                words.drain(..words.len().saturating_sub(chunk.len()));
            }
            last_line(&words)
        });
        match words {
            Ok(words) => Ok(Process { child, output, words: Some(words) }),
            Err(error) => {
                let _ = child.kill();
                let _ = child.wait();
                Err(SourceError::io("ffmpeg", error))
            }
        }
    }

    /// Waits for its end; returns its error message once, if it failed.
    fn finish(&mut self) -> io::Result<()> {
        let status = self.child.wait()?;
        match self.words.take().map(JoinHandle::join) {
            Some(Ok(words)) if !status.success() => Err(io::Error::other(why(status, words))),
            _ => Ok(()),
        }
    }
}

impl Read for Process {
    /// At the end of the output, returns an error if ffmpeg failed.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.output.read(buffer)?;
        if count == 0 && !buffer.is_empty() {
            self.finish()?;
        }
        Ok(count)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The codec name and the mean frame rate of the first video stream of `what`, from `ffprobe`.
///
/// # Errors
/// When it is not installed, with what to install, or when `what` has no readable video, with ffprobe's message.
pub fn probe(what: &str) -> Result<(String, (u32, u32)), SourceError> {
    let output = Command::new("ffprobe")
        .args(["-v", "error", "-select_streams", "v:0", "-show_entries", "stream=codec_name,avg_frame_rate"])
        .args(["-of", "csv=p=0", what])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| not_started("ffprobe", what, error))?;
    let said = |bytes: &[u8]| last_line(bytes).unwrap_or_default();
    if !output.status.success() {
        return Err(SourceError::format(what, format!("ffprobe cannot read it: {}", said(&output.stderr))));
    }
    let line = said(&output.stdout);
    let parsed = line.split_once(',').and_then(|(codec, rate)| {
        let (frames, seconds) = rate.split_once('/')?;
        Some((codec.to_string(), (frames.parse().ok()?, seconds.trim_end_matches(',').parse().ok()?)))
    });
    parsed.ok_or_else(|| SourceError::format(what, format!("it has no video stream (ffprobe says \"{line}\")")))
}

/// Why ffmpeg ended before its time: its last line on standard error and, if it was killed, the signal.
fn why(status: ExitStatus, words: Option<String>) -> String {
    match (status.signal(), words) {
        (Some(signal), None) => {
            format!("ffmpeg was ended by signal {signal}: by someone, or by the system for want of memory")
        }
        (Some(signal), Some(words)) => format!("ffmpeg was ended by signal {signal}; before that it said: {words}"),
        (None, Some(words)) => format!("ffmpeg cannot read it: {words}"),
        (None, None) => format!("ffmpeg cannot read it, and says nothing ({status})"),
    }
}

pub(crate) fn last_line(words: &[u8]) -> Option<String> {
    String::from_utf8_lossy(words).trim().lines().next_back().map(str::to_string)
}

fn not_started(program: &str, what: &str, error: io::Error) -> SourceError {
    match error.kind() {
        io::ErrorKind::NotFound => SourceError::format(
            what,
            format!(
                "the program {program}, which reads this, is not installed (Debian: apt-get install ffmpeg); files of y4m, IVF, H.264 \
                 and Ogg Opus are read without"
            ),
        ),
        _ => SourceError::io(program, error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ffmpeg_cannot_read_is_said_in_its_words() {
        let mut ffmpeg = Process::start("nowhere", &["-i", "/nowhere/at/all", "-f", "ogg", "-"]).unwrap();
        let error = ffmpeg.read(&mut [0; 10]).unwrap_err().to_string();
        assert!(error.contains("/nowhere/at/all: No such file"), "{error}");
        let error = probe("/nowhere/at/all").unwrap_err().to_string();
        assert!(error.contains("No such file"), "{error}");
    }

    #[test]
    fn however_much_ffmpeg_complains_it_is_read_to_its_end() {
        // At least one line of debug output per packet: far more than the 64 KiB that a pipe holds.
        let arguments =
            ["-v", "trace", "-f", "lavfi", "-i", "testsrc=size=64x64:rate=100:duration=20", "-f", "rawvideo", "-"];
        let mut ffmpeg = Process::start("a test picture", &arguments).unwrap();
        let bytes = io::copy(&mut ffmpeg, &mut io::sink()).unwrap();
        assert_eq!(bytes, 2000 * 64 * 64 * 3);
    }

    #[test]
    fn a_program_that_is_missing_has_a_package() {
        let error = not_started("ffmpeg", "song.mp3", io::ErrorKind::NotFound.into()).to_string();
        assert!(error.contains("song.mp3") && error.contains("apt-get install ffmpeg"), "{error}");
    }

    #[test]
    fn a_program_that_was_killed_is_not_said_to_have_refused_the_file() {
        let said = |code, words: Option<&str>| why(ExitStatus::from_raw(code), words.map(str::to_owned));
        assert!(said(9, None).contains("signal 9") && !said(9, None).contains("cannot read"));
        assert!(said(15, Some("Exiting")).contains("signal 15") && said(15, Some("Exiting")).contains("Exiting"));
        // The exit code is in the second byte (wait(2)).
        assert_eq!(said(1 << 8, Some("moov atom not found")), "ffmpeg cannot read it: moov atom not found");
        assert!(said(1 << 8, None).contains("exit status: 1"));
    }
}
