//! The crate's output is identical to the bit on every machine and in every build.
//!
//! These numbers may change with the code, for a reason. They may not differ between debug and release builds, or
//! between processors.

use thalweg_video::source::{Format, Scene, SceneConfig};
use thalweg_video::{Picture, Size, quality, scale};

/// FNV-1a.
fn hash(picture: &Picture) -> u64 {
    picture
        .data()
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

fn scene(size: Size) -> Scene {
    Scene::new(SceneConfig { format: Format { size, frame_rate: (30, 1) }, ..SceneConfig::default() })
}

#[test]
fn the_scene_has_the_bytes_it_had() {
    let (small, large) = (scene(Size::new(333, 187)), scene(Size::HD));
    let hashes =
        [small.picture(0), small.picture(800), large.picture(0), large.picture(12_345)].map(|picture| hash(&picture));
    let wanted = [0x3792_aa08_7f88_963c, 0xec8e_a4c2_8f0a_e256, 0x1536_f34f_4e1f_7438, 0x0371_bff4_2be0_2860];
    assert_eq!(hashes, wanted, "{hashes:#018x?}");
}

#[test]
fn scaled_pictures_have_the_bytes_they_had() {
    let picture = scene(Size::HD).picture(100);
    let hashes =
        [(960, 540), (321, 181), (1920, 1080)].map(|(width, height)| hash(&scale(&picture, Size::new(width, height))));
    let wanted = [0xa6b7_751c_e213_710c, 0xb839_59b4_a7cd_5f7f, 0xae64_a4d8_e884_f771];
    assert_eq!(hashes, wanted, "{hashes:#018x?}");
}

#[test]
fn metrics_have_the_bits_they_had() {
    let scene = scene(Size::HD);
    let (a, b) = (scene.picture(100), scene.picture(101));
    let values = [quality::psnr(&a, &b), quality::ssim(&a, &b), quality::ssim_daala(&a, &b)];
    let wanted = [0x403d_0bac_a7c7_c666, 0x3fec_3bfe_7562_d515, 0x3fec_9f59_c366_ce32];
    assert_eq!(values.map(f64::to_bits), wanted, "{:#018x?} {values:?}", values.map(f64::to_bits));
}
