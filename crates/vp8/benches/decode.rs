//! Decoding speed compared with libvpx: both decode the same streams in one run on one thread, alternating frame by
//! frame.
//!
//!     cargo bench -p thalweg-vp8 --features libvpx --bench decode [-- STREAM.ivf...]
//!
//! Without arguments ffmpeg makes streams from the data set `video` (libvpx in real-time mode at several rates). Times
//! are CPU times, so other programs on the machine do not count.
#![allow(clippy::disallowed_methods)]

#[path = "common/clock.rs"]
mod clock;
#[path = "../tests/common/libvpx.rs"]
mod libvpx;

use std::path::{Path, PathBuf};
use std::process::Command;

use thalweg_vp8::{State, decode, ivf};

/// Number of times each stream is decoded; the minimum time of each frame counts.
const ROUNDS: usize = 5;

fn main() {
    let given: Vec<PathBuf> =
        std::env::args_os().skip(1).filter(|argument| argument != "--bench").map(PathBuf::from).collect();
    let streams = if given.is_empty() { made() } else { given };
    println!("{:<44} {:>7} {:>10} {:>10} {:>7}", "stream", "kbps", "ours ms", "libvpx ms", "speed");
    for path in streams {
        measure(&path);
    }
}

fn measure(path: &Path) {
    let file = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let reader = ivf::Reader::new(&file[..], &[ivf::VP8]).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let header = reader.header();
    let frames: Vec<Vec<u8>> = reader.map_while(Result::ok).map(|frame| frame.bytes).collect();
    let mut fastest = vec![[u64::MAX; 2]; frames.len()];
    for round in 0..ROUNDS {
        let (mut state, mut other) = (State::new(), libvpx::Decoder::new());
        for (frame, fastest) in frames.iter().zip(&mut fastest) {
            let start = clock::running();
            let decoded = decode(&state, frame).expect("a stream that can be decoded");
            state = decoded.state;
            let middle = clock::running();
            let theirs = other.decode(frame).expect("a stream that libvpx decodes");
            let end = clock::running();
            if round == 0 && decoded.is_shown {
                let same = theirs.is_some_and(|theirs| theirs.to_i420() == decoded.image.to_i420());
                assert!(same, "{}: another picture than libvpx's", path.display());
            }
            *fastest = [fastest[0].min(middle - start), fastest[1].min(end - middle)];
        }
    }
    let mean = |which: usize| fastest.iter().map(|times| times[which]).sum::<u64>() as f64 / frames.len() as f64 / 1e6;
    let bits: usize = frames.iter().map(|frame| frame.len() * 8).sum();
    let kbps = bits as f64 / frames.len() as f64 * f64::from(header.rate) / f64::from(header.scale) / 1e3;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    println!("{name:<44} {kbps:>7.0} {:>10.3} {:>10.3} {:>6.2}x", mean(0), mean(1), mean(1) / mean(0));
}

/// Streams that ffmpeg makes from the shared clips, once.
fn made() -> Vec<PathBuf> {
    let Some(clips) = thalweg_data::testing::folder("video") else {
        println!("no clips here: `thalweg data fetch video` gets them");
        return Vec::new();
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut streams = Vec::new();
    for clip in ["bigbuckbunny-720p25.mp4", "talking-head-720p30.mp4", "flower-720p30.264"] {
        for rate in [500, 1500, 4000] {
            let stream = folder.join(format!("{}-{rate}.ivf", clip.split_once('.').map_or(clip, |(name, _)| name)));
            if !stream.exists() {
                let rate = format!("{rate}k");
                let status = Command::new("ffmpeg")
                    .args(["-v", "error", "-y", "-i"])
                    .arg(clips.join(clip))
                    .args(["-an", "-frames:v", "120", "-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8"])
                    .args(["-b:v", &rate, "-g", "9999", "-pix_fmt", "yuv420p"])
                    .arg(&stream)
                    .status();
                if !status.is_ok_and(|status| status.success()) {
                    println!("skipped: ffmpeg makes no VP8 here");
                    return streams;
                }
            }
            streams.push(stream);
        }
    }
    streams
}
