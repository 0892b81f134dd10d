//! Pictures coded by libvpx, through the program ffmpeg if it is installed.

#[allow(dead_code)] // The clip is the target `recorded`'s.
pub mod av_metrics;
mod barcode;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use thalweg_video::source::{Decoded, Format, Source, Y4mWriter};
use thalweg_video::{Picture, Size};

/// A temporary folder, removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("thalweg-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// A y4m file of these pictures at 30 fps.
    fn write(&self, name: &str, size: Size, pictures: impl Iterator<Item = Picture>) -> PathBuf {
        let path = self.0.join(name);
        let file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
        let mut writer = Y4mWriter::new(file, Format { size, frame_rate: (30, 1) }).unwrap();
        pictures.for_each(|picture| writer.write(&picture).unwrap());
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The first `count` pictures of a file after VP8 at `kbps` in real-time mode; every picture is coded (none dropped).
fn coded(input: &Path, kbps: u32, count: usize, folder: &Folder) -> Vec<Arc<Picture>> {
    let output = folder.0.join("coded.ivf");
    let (rate, count) = (format!("{kbps}k"), count.to_string());
    let mut command = Command::new("ffmpeg");
    command.args(["-nostdin", "-v", "error", "-y", "-i"]).arg(input);
    command.args(["-frames:v", &count, "-c:v", "libvpx", "-cpu-used", "8", "-deadline", "realtime"]);
    command.args(["-lag-in-frames", "0", "-minrate", &rate, "-maxrate", &rate, "-bufsize", &rate, "-b:v", &rate]);
    assert!(command.arg(&output).status().unwrap().success());
    pictures(&output)
}

fn pictures(path: &Path) -> Vec<Arc<Picture>> {
    let mut source = Decoded::open(path.to_str().unwrap(), None).unwrap();
    std::iter::from_fn(|| source.next_picture().unwrap()).collect()
}

fn ffmpeg_is_here() -> bool {
    let here =
        Command::new("ffmpeg").arg("-version").stdout(Stdio::null()).status().is_ok_and(|status| status.success());
    if !here {
        println!("skipped: ffmpeg is not installed");
    }
    here
}
