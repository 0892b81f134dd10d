//! The programs `ffmpeg` and `ffprobe`, when they are installed. `THALWEG_FFMPEG` names another ffmpeg.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::SystemTime;

use thalweg_units::Span;

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
    pub fn start(what: &str, arguments: &[impl AsRef<OsStr>]) -> Result<Process, SourceError> {
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
            // Of a longer buffer the end counts.
            let mut chunk = [0; 4096];
            while let Ok(count @ 1..) = errors.read(&mut chunk) {
                words.extend_from_slice(&chunk[..count]);
                words.drain(..words.len().saturating_sub(chunk.len()));
            }
            self::words(&words)
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

/// Returns true if `name` is an address that ffmpeg reads, such as `rtsp://camera/1`, and not a file's path.
pub fn is_address(name: &str) -> bool {
    name.contains("://")
}

/// Returns true for an address of a live stream, such as `srt://:9710?mode=listener`. Its server may serve one connection in
/// all, so that nothing is asked of it before its pictures are read.
pub fn is_stream(name: &str) -> bool {
    const STREAMS: [&str; 10] = ["rtsp", "rtsps", "rtmp", "rtmps", "rtmpt", "srt", "udp", "rtp", "tcp", "rist"];
    name.split_once("://").is_some_and(|(scheme, _)| STREAMS.contains(&scheme))
}

/// How long a server may be silent before its address counts as lost, in microseconds.
const SILENCE: &str = "10000000";

/// The arguments that make ffmpeg read this file or address. A server that is silent for 10 s is an error.
///
/// # Errors
/// When there is no such file, or it is a folder.
pub fn input(name: &str) -> Result<Vec<String>, SourceError> {
    let options: &[&str] = match name.split_once("://").map(|(scheme, _)| scheme) {
        None => {
            // ffmpeg's own error for a missing file is hidden in its output; this one is clear.
            let about = Path::new(name).metadata().map_err(|error| SourceError::io(name, error))?;
            if about.is_dir() {
                return Err(SourceError::format(name, "it is a folder: name a file in it"));
            }
            // A path may begin like an option, or contain a colon.
            return Ok(vec!["-i".into(), format!("file:{name}")]);
        }
        Some("rtsp" | "rtsps") => &["-rtsp_transport", "tcp", "-timeout", SILENCE],
        Some("http" | "https") => &["-reconnect", "1", "-rw_timeout", SILENCE],
        Some("udp") => &["-timeout", SILENCE],
        Some(_) => &[],
    };
    Ok(options.iter().chain(&["-i", name]).map(|text| text.to_string()).collect())
}

/// A file or stream with video, as `ffprobe` describes it: its first stream of video, cover pictures left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Probe {
    /// The codec's name, such as `h264`.
    pub codec: String,
    /// The mean frame rate, pictures per so many seconds; zeros where it is not known.
    pub frame_rate: (u32, u32),
    /// The lowest frame rate that has every picture's time (`r_frame_rate`).
    pub base_rate: (u32, u32),
    /// The transfer characteristics, such as `bt709`; empty where they are not known.
    pub transfer: String,
    /// True if pictures are shown in another order than they are coded in (B-frames).
    pub is_reordered: bool,
    /// True if there is audio too.
    pub has_audio: bool,
    /// The duration; `None` of live streams, and of files that do not say it.
    pub duration: Option<Span>,
}

/// Describes the video of a file or address.
///
/// # Errors
/// When ffprobe is not installed, with what to install; when it cannot read `name`, with its message; or when there is no
/// video.
pub fn probe(name: &str) -> Result<Probe, SourceError> {
    static LAST: Last = Mutex::new(None);
    once(&LAST, Unchanged::of(name), || ask(name))
}

/// The file that was described last, and its description.
type Last = Mutex<Option<(Unchanged, Probe)>>;

/// Signs that a file is still the one that it was.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Unchanged {
    name: String,
    bytes: u64,
    modified: SystemTime,
}

impl Unchanged {
    /// Those of a file; `None` of an address, whose content may be another each time.
    fn of(name: &str) -> Option<Unchanged> {
        let about = std::fs::metadata(name).ok().filter(|_| !is_address(name))?;
        Some(Unchanged { name: name.into(), bytes: about.len(), modified: about.modified().ok()? })
    }
}

/// The last description if it is of the same file, else a new one: pictures, sound and length of a file are asked for one
/// after another, and a process for each would delay the start.
fn once(
    last: &Last,
    file: Option<Unchanged>,
    ask: impl FnOnce() -> Result<Probe, SourceError>,
) -> Result<Probe, SourceError> {
    let known = || last.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(file) = file else { return ask() };
    if let Some((_, about)) = known().as_ref().filter(|(of, _)| *of == file) {
        return Ok(about.clone());
    }
    let about = ask()?;
    *known() = Some((file, about.clone()));
    Ok(about)
}

/// Asks ffprobe.
fn ask(name: &str) -> Result<Probe, SourceError> {
    let entries = "format=duration:stream=codec_type,codec_name,avg_frame_rate,r_frame_rate,color_transfer,has_b_frames,duration:\
                   stream_disposition=attached_pic";
    let output = Command::new("ffprobe")
        .args(["-v", "error", "-show_entries", entries, "-of", "compact"])
        .args(input(name)?)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| not_started("ffprobe", name, error))?;
    if !output.status.success() {
        // The error names the file already.
        let said = words(&output.stderr).unwrap_or_default().replace(&format!("file:{name}: "), "");
        return Err(SourceError::format(name, format!("ffmpeg cannot read it: {said}")));
    }
    described(&String::from_utf8_lossy(&output.stdout)).map_err(|problem| SourceError::format(name, problem))
}

/// Reads ffprobe's output: a line for each stream and one for the file, `stream|codec_name=h264|codec_type=video|...`.
fn described(text: &str) -> Result<Probe, &'static str> {
    let lines = || text.lines().map(|line| line.split('|').collect::<Vec<_>>());
    let value = |line: &[&str], key: &str| {
        line.iter().find_map(|field| field.strip_prefix(key)?.strip_prefix('=')).unwrap_or_default().to_string()
    };
    let is = |line: &[&str], kind: &str| value(line, "codec_type") == kind;
    let has_audio = lines().any(|line| is(&line, "audio"));
    let video = lines().find(|line| is(line, "video") && value(line, "disposition:attached_pic") != "1");
    let Some(video) = video else {
        return Err(if has_audio { "it has no video, only audio" } else { "it has no video" });
    };
    let rate = |key: &str| -> (u32, u32) {
        let text = value(&video, key);
        text.split_once('/').and_then(|(n, d)| Some((n.parse().ok()?, d.parse().ok()?))).unwrap_or_default()
    };
    let file = lines().find(|line| line.first() == Some(&"format")).unwrap_or_default();
    let duration = [&video, &file].iter().find_map(|line| value(line, "duration").parse::<f64>().ok());
    Ok(Probe {
        codec: value(&video, "codec_name"),
        frame_rate: rate("avg_frame_rate"),
        base_rate: rate("r_frame_rate"),
        transfer: Some(value(&video, "color_transfer")).filter(|name| name != "unknown").unwrap_or_default(),
        is_reordered: value(&video, "has_b_frames").parse().is_ok_and(|frames: u32| frames > 0),
        has_audio,
        duration: duration.map(Span::from_secs_f64).filter(|duration| *duration > Span::ZERO),
    })
}

/// Returns true if this ffmpeg has all these filters.
pub(crate) fn has_filters(names: &[&str]) -> bool {
    let output = Command::new(program()).args(["-hide_banner", "-filters"]).stdin(Stdio::null()).output();
    let listed = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    names.iter().all(|name| listed.lines().any(|line| line.split_whitespace().nth(1) == Some(name)))
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

/// The first and the last line of what ffmpeg said: the cause, without the demultiplexer's name and address before it, and what
/// became of it.
pub(crate) fn words(said: &[u8]) -> Option<String> {
    let said = String::from_utf8_lossy(said);
    let mut lines = said.trim().lines();
    let first = lines.next().filter(|line| !line.is_empty())?;
    let cause = first.strip_prefix('[').and_then(|line| line.split_once("] ")).map_or(first, |(_, cause)| cause);
    Some(lines.next_back().map_or(cause.to_string(), |last| format!("{cause}; {last}")))
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
        let error = probe("/").unwrap_err().to_string();
        assert!(error.contains("it is a folder: name a file in it"), "{error}");
        let path = std::env::temp_dir().join(format!("thalweg-empty-{}.mp4", std::process::id())).display().to_string();
        std::fs::write(&path, "").unwrap();
        let error = probe(&path).unwrap_err().to_string();
        std::fs::remove_file(&path).unwrap();
        assert!(error.contains("ffmpeg cannot read it: ") && error.matches(&path).count() == 1, "{error}");
    }

    #[test]
    fn a_file_is_described_once_until_it_changes_and_an_address_each_time() {
        let path = std::env::temp_dir().join(format!("thalweg-described-{}", std::process::id())).display().to_string();
        let last: Last = Mutex::new(None);
        let mut asked = 0;
        let mut described = |name: &str| {
            let about = once(&last, Unchanged::of(name), || {
                asked += 1;
                Ok(Probe { codec: asked.to_string(), ..Probe::default() })
            });
            about.unwrap().codec
        };
        std::fs::write(&path, "one").unwrap();
        assert_eq!([described(&path), described(&path)], ["1", "1"]);
        std::fs::write(&path, "another").unwrap();
        assert_eq!([described(&path), described(&path)], ["2", "2"]);
        let address = "http://example.org/clip.mp4";
        assert_eq!([described(address), described(address)], ["3", "4"]);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn the_cause_is_said_first_and_a_single_line_once() {
        let said = b"[mov,mp4 @ 0x55f8] stream 1, offset 0x30: partial file\n[http @ 0x55f9] again\nError marking filters as finished\n";
        assert_eq!(words(said).unwrap(), "stream 1, offset 0x30: partial file; Error marking filters as finished");
        assert_eq!((words(b"a: No such file\n").unwrap().as_str(), words(b"\n")), ("a: No such file", None));
        assert!(is_stream("srt://:9710?mode=listener") && !is_stream("https://a/b.mp4") && !is_stream("srt.mp4"));
    }

    #[test]
    fn a_cover_picture_is_no_video_and_a_file_says_its_rates_and_its_length() {
        let cover = "stream|codec_name=mp3|codec_type=audio|duration=3.0\n\
                     stream|codec_name=png|codec_type=video|disposition:attached_pic=1\nformat|duration=3.0\n";
        assert_eq!(described(cover), Err("it has no video, only audio"));
        assert_eq!(described("format|duration=N/A\n"), Err("it has no video"));
        let film = "stream|codec_name=aac|codec_type=audio|r_frame_rate=0/0|disposition:attached_pic=0\n\
                    stream|codec_name=hevc|codec_type=video|has_b_frames=2|color_transfer=smpte2084|r_frame_rate=120/1|\
                    avg_frame_rate=2997/100|duration=N/A|disposition:attached_pic=0\nformat|duration=1.500000\n";
        let expected = Probe {
            codec: "hevc".into(),
            frame_rate: (2997, 100),
            base_rate: (120, 1),
            transfer: "smpte2084".into(),
            is_reordered: true,
            has_audio: true,
            duration: Some(Span::from_millis(1500)),
        };
        assert_eq!(described(film), Ok(expected));
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
