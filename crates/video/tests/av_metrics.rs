//! PSNR and Daala's SSIM against the `av-metrics` crate, on pictures that libvpx has coded.
//!
//! What av-metrics calls SSIM is Daala's: the window grows with the picture, and figures are in decibels.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use av_metrics::video::{psnr::calculate_frame_psnr, ssim::calculate_frame_ssim};
use thalweg_video::source::{Ffmpeg, Format, Scene, SceneConfig, Source, Y4mWriter};
use thalweg_video::{Picture, Plane, Size, quality};
use v_frame::frame::Frame;
use v_frame::prelude::ChromaSampling;

/// A folder of the system's temporary one that goes when this does.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("thalweg-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The first pictures of a file, and the same after VP8 at `kbps`.
fn coded(input: &Path, kbps: u32, folder: &Folder) -> (Vec<Arc<Picture>>, Vec<Arc<Picture>>) {
    let output = folder.0.join(format!("{kbps}.ivf"));
    let rate = format!("{kbps}k");
    let mut command = Command::new("ffmpeg");
    command.args(["-nostdin", "-v", "error", "-y", "-i"]).arg(input);
    command.args(["-frames:v", "8", "-c:v", "libvpx", "-cpu-used", "8", "-deadline", "realtime", "-b:v", &rate]);
    assert!(command.arg(&output).status().unwrap().success());
    let read = |path: &Path| {
        let mut source = Ffmpeg::open(path.to_str().unwrap()).unwrap();
        std::iter::from_fn(|| source.next_picture().unwrap()).take(8).collect::<Vec<_>>()
    };
    (read(input), read(&output))
}

fn frame(picture: &Picture) -> Frame<u8> {
    let plane = |plane| {
        let (width, _) = Picture::plane_size(picture.size(), plane);
        v_frame::plane::Plane::from_slice(picture.plane(plane), width)
    };
    Frame { planes: Plane::ALL.map(plane) }
}

fn agree(sources: &[Arc<Picture>], decoded: &[Arc<Picture>]) {
    assert!(decoded.len() >= 7 && decoded.len() <= sources.len(), "{} pictures", decoded.len());
    for (a, b) in sources.iter().zip(decoded) {
        let (left, right) = (frame(a), frame(b));
        let psnr = calculate_frame_psnr(&left, &right, 8, ChromaSampling::Cs420).unwrap().y;
        let ssim = calculate_frame_ssim(&left, &right, 8, ChromaSampling::Cs420).unwrap().y;
        let (our_psnr, our_ssim) = (quality::psnr(a, b), quality::ssim_db(quality::ssim_daala(a, b)));
        assert!((20.0..50.0).contains(&our_psnr), "{our_psnr} dB is no coded picture");
        assert!((our_psnr - psnr).abs() < 1e-9, "PSNR {our_psnr} dB, not {psnr}");
        assert!((our_ssim - ssim).abs() < 1e-6, "SSIM {our_ssim} dB, not {ssim}");
    }
}

fn ffmpeg_is_here() -> bool {
    let here =
        Command::new("ffmpeg").arg("-version").stdout(Stdio::null()).status().is_ok_and(|status| status.success());
    if !here {
        println!("skipped: ffmpeg is not installed");
    }
    here
}

#[test]
fn the_coded_scene_has_the_psnr_and_ssim_of_av_metrics() {
    if !ffmpeg_is_here() {
        return;
    }
    let folder = Folder::new("av-metrics-scene");
    // A size that nothing divides.
    let format = Format { size: Size::new(422, 238), frame_rate: (30, 1) };
    let mut scene = Scene::new(SceneConfig { format, ..SceneConfig::default() });
    let path = folder.0.join("scene.y4m");
    let mut writer = Y4mWriter::new(std::fs::File::create(&path).unwrap(), format).unwrap();
    for _ in 0..8 {
        writer.write(&scene.next_picture().unwrap().unwrap()).unwrap();
    }
    for kbps in [100, 1_000] {
        let (sources, decoded) = coded(&path, kbps, &folder);
        agree(&sources, &decoded);
    }
}

#[test]
fn a_coded_clip_has_the_psnr_and_ssim_of_av_metrics() {
    let clips = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/video");
    if !clips.is_dir() {
        println!("skipped: ../shared/data is not here");
        return;
    }
    if !ffmpeg_is_here() {
        return;
    }
    let mut files: Vec<PathBuf> = std::fs::read_dir(&clips).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let foreman = files.iter().find(|path| path.to_string_lossy().contains("foreman")).expect("README names the clip");
    let folder = Folder::new("av-metrics-clip");
    let (sources, decoded) = coded(foreman, 300, &folder);
    agree(&sources, &decoded);
}
