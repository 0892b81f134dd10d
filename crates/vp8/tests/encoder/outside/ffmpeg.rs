//! ffmpeg's own VP8 decoder, which is independent of libvpx: a process that reads IVF and writes raw pictures.

use std::io::Write;
use std::process::{Command, Stdio};

use super::{OutsideDecoder, Stream};
use thalweg_vp8::ivf;

pub struct Ffmpeg(());

impl Ffmpeg {
    /// ffmpeg, if it is installed.
    pub fn installed() -> Option<Self> {
        let version = Command::new("ffmpeg").arg("-version").stdout(Stdio::null()).status();
        version.is_ok_and(|status| status.success()).then_some(Self(()))
    }
}

impl OutsideDecoder for Ffmpeg {
    fn name(&self) -> &'static str {
        "ffmpeg"
    }

    /// All streams in one file and one process, since each begins with a key frame and starting ffmpeg takes most of
    /// the time.
    fn show(&self, streams: &[Stream]) -> Result<Vec<Vec<u8>>, String> {
        let frames = || streams.iter().flat_map(|stream| &stream.frames);
        let Some(first) = frames().next() else { return Ok(Vec::new()) };
        let header = ivf::Header::vp8(first.size, (30, 1));
        let mut file = ivf::Writer::new(Vec::new(), header).unwrap();
        for (time, emitted) in frames().enumerate() {
            file.write(time as u64, &emitted.frame).unwrap();
        }
        let output = run(file.finish())?;
        let mut rest = &output[..];
        let mut shown = Vec::new();
        for emitted in frames().filter(|emitted| emitted.is_shown) {
            let Some((picture, after)) = rest.split_at_checked(emitted.picture.len()) else { break };
            shown.push(picture.to_vec());
            rest = after;
        }
        if rest.is_empty() { Ok(shown) } else { Err(format!("{} bytes of no picture of the encoder", rest.len())) }
    }
}

/// The pictures of an IVF file, unchanged: not scaled to the size of the first, none repeated or dropped for its time.
/// On one thread, as with several ffmpeg 5.1 sometimes shows another picture after frames have changed their size.
fn run(file: Vec<u8>) -> Result<Vec<u8>, String> {
    let mut ffmpeg = Command::new("ffmpeg")
        .args(["-v", "error", "-xerror", "-threads", "1", "-c:v", "vp8", "-f", "ivf", "-i", "-"])
        .args(["-autoscale", "0", "-vsync", "passthrough", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut input = ffmpeg.stdin.take().ok_or("no standard input")?;
    // In a separate thread, since ffmpeg writes before it has read everything. ffmpeg itself reports what it could not
    // read.
    let writer = std::thread::spawn(move || _ = input.write_all(&file));
    let output = ffmpeg.wait_with_output().map_err(|error| error.to_string())?;
    writer.join().map_err(|_| "the writer panicked")?;
    if output.status.success() { Ok(output.stdout) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}
