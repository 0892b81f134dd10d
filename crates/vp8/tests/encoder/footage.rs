//! Pictures of the world, and of the built-in scene.

use std::path::Path;
use std::process::{Command, Stdio};

use thalweg_vp8::{Image, Size};

/// The clips of the shared data.
pub const CLIPS: [&str; 4] =
    ["bigbuckbunny-720p25.mp4", "talking-head-720p30.mp4", "flower-720p30.264", "foreman-cif30.mp4"];

/// The first pictures of a clip, made small; none, and a line that says why, without the clip or ffmpeg.
pub fn clip(name: &str, size: Size, pictures: usize) -> Option<Vec<Image>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/video").join(name);
    if !path.exists() {
        println!("skipped: ../shared/data is not here");
        return None;
    }
    let scale = format!("scale={}:{}", size.width(), size.height());
    let ffmpeg = Command::new("ffmpeg")
        .args(["-v", "fatal", "-i"])
        .arg(path)
        .args(["-vf", &scale, "-frames:v", &pictures.to_string(), "-f", "rawvideo", "-pix_fmt", "yuv420p", "-"])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let Ok(output) = ffmpeg else {
        println!("skipped: ffmpeg is not installed");
        return None;
    };
    let images = output.stdout.chunks_exact(Image::i420_length(size));
    let images: Vec<_> = images.map(|bytes| Image::from_i420(size, bytes).unwrap()).collect();
    assert_eq!(images.len(), pictures, "of {name}");
    Some(images)
}

/// Pictures of the scene that Thalweg has built in.
pub fn built_in_scene(size: Size, pictures: u64) -> Vec<Image> {
    use thalweg_video::source::{Format, Scene, SceneConfig};
    let format =
        Format { size: thalweg_units::Size::new(size.width() as u16, size.height() as u16), frame_rate: (30, 1) };
    let scene = Scene::new(SceneConfig { format, ..SceneConfig::default() });
    // Far enough apart that something moves.
    (0..pictures).map(|index| Image::from_i420(size, scene.picture(3 * index).data()).unwrap()).collect()
}
