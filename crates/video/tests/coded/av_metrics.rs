//! PSNR and Daala's SSIM, compared with the `av-metrics` crate.
//!
//! The SSIM of av-metrics is Daala's: the window grows with the picture, and values are in decibels.

use std::sync::Arc;

use av_metrics::video::{psnr::calculate_frame_psnr, ssim::calculate_frame_ssim};
use thalweg_video::source::{Format, Scene, SceneConfig};
use thalweg_video::{Picture, Plane, Size, quality};
use v_frame::frame::Frame;
use v_frame::prelude::ChromaSampling;

use super::{Folder, coded, ffmpeg_is_here, pictures};

fn frame(picture: &Picture) -> Frame<u8> {
    let plane = |plane| {
        let (width, _) = Picture::plane_size(picture.size(), plane);
        // Without padding between rows: av-metrics 0.9 treats padding as samples.
        v_frame::plane::Plane::from_slice(picture.plane(plane), width)
    };
    Frame { planes: Plane::ALL.map(plane) }
}

fn agree(sources: &[Arc<Picture>], decoded: &[Arc<Picture>]) {
    assert_eq!(decoded.len(), 8);
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

#[test]
fn the_coded_scene_has_the_psnr_and_ssim_of_av_metrics() {
    if !ffmpeg_is_here() {
        return;
    }
    let folder = Folder::new("av-metrics-scene");
    // A size that is not a multiple of any block size.
    let size = Size::new(422, 238);
    let scene = Scene::new(SceneConfig { format: Format { size, frame_rate: (30, 1) }, ..SceneConfig::default() });
    let path = folder.write("scene.y4m", size, (0..8).map(|number| scene.picture(number)));
    for kbps in [100, 1_000] {
        agree(&pictures(&path), &coded(&path, kbps, 8, &folder));
    }
}

/// The same for a clip.
pub fn a_coded_clip_has_the_psnr_and_ssim_of_av_metrics() {
    let foreman = thalweg_data::testing::needed("video").join("foreman-cif30.mp4");
    if !ffmpeg_is_here() {
        return;
    }
    let folder = Folder::new("av-metrics-clip");
    agree(&pictures(&foreman), &coded(&foreman, 300, 8, &folder));
}
