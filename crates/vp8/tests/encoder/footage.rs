//! Pictures of the built-in scene.

use thalweg_vp8::{Image, Size};

/// Pictures of Thalweg's built-in scene.
pub fn built_in_scene(size: Size, pictures: u64) -> Vec<Image> {
    use thalweg_video::source::{Format, Scene, SceneConfig};
    let format =
        Format { size: thalweg_units::Size::new(size.width() as u16, size.height() as u16), frame_rate: (30, 1) };
    let scene = Scene::new(SceneConfig { format, ..SceneConfig::default() });
    // Far enough apart that something moves.
    (0..pictures).map(|index| Image::from_i420(size, scene.picture(3 * index).data()).unwrap()).collect()
}
