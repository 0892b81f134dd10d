//! Frames coded to a requested size, on natural video.

use std::process::{Command, Stdio};

use thalweg_vp8::encode::{Analysis, Plan, Settings};
use thalweg_vp8::{Image, Size, State};

/// The pictures of a clip, in I420; `None` without ffmpeg.
fn pictures(name: &str, size: Size) -> Option<Vec<Image>> {
    let clip = thalweg_data::testing::needed("video").join(name);
    let scale = format!("scale={}:{}", size.width(), size.height());
    let arguments = ["-v", "fatal", "-i", clip.to_str()?, "-vf", &scale, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-"];
    let Ok(output) = Command::new("ffmpeg").args(arguments).stderr(Stdio::null()).output() else {
        println!("skipped: ffmpeg is not installed");
        return None;
    };
    let frames = output.stdout.chunks_exact(Image::i420_length(size));
    Some(frames.map(|bytes| Image::from_i420(size, bytes).unwrap()).collect())
}

/// Pseudo-random numbers (splitmix64).
fn random(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *seed;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

pub fn of_a_thousand_frames_at_random_targets_99_in_100_fit_and_use_85_percent() {
    let size = Size::new(640, 360).unwrap();
    let clips = ["bigbuckbunny-720p25.mp4", "talking-head-720p30.mp4", "flower-720p30.264", "foreman-cif30.mp4"];
    let (mut frames, mut feasible, mut fit, mut used, mut seed) = (0, 0, 0, 0.0, 1);
    for clip in clips {
        let Some(pictures) = pictures(clip, size) else { return };
        let mut state = State::new();
        let mut quantizer = 40;
        for index in 0..250 {
            let around = index % (2 * pictures.len() - 2);
            let image = &pictures[around.min(2 * pictures.len() - 2 - around)];
            let target = 250 + (random(&mut seed) % 9_751) as usize;
            let plan = if index == 0 { Plan::key(quantizer) } else { Plan::inter(quantizer) };
            let analysis = Analysis::new(&state, image, &plan, &Settings::default()).unwrap();
            let coded = analysis.encode_to_size(target);
            let length = coded.frame.len();
            frames += 1;
            if length <= target || analysis.encode(127).frame.len() <= target {
                feasible += 1;
                fit += usize::from(length <= target);
                used += length as f64 / target as f64;
            }
            quantizer = coded.quantizer;
            state = coded.state;
        }
    }
    let (fit, used) = (fit as f64 / f64::from(feasible), used / f64::from(feasible));
    println!("{frames} frames, {feasible} feasible, {fit:.4} of them fit, {used:.4} of the target used");
    assert!(frames == 1000 && feasible > 800, "{feasible} of {frames} feasible");
    assert!((0.99..=1.0).contains(&fit), "{fit}");
    assert!((0.85..=1.0).contains(&used), "{used}");
}
