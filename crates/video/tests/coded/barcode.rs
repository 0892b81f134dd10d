//! Barcodes after coding as VP8 at 100 kbps.

use thalweg_units::Seed;
use thalweg_video::source::{Format, Scene, SceneConfig};
use thalweg_video::{Size, barcode, scale};

use super::{Folder, coded, ffmpeg_is_here};

/// Draws `numbers` on pictures of 1080 lines, scales them down, codes them at 100 kbps, scales them up again, and reads
/// the numbers.
fn read_back(name: &str, small: Size, numbers: &[u64]) -> Vec<Option<u64>> {
    let folder = Folder::new(name);
    let scene = Scene::new(SceneConfig {
        format: Format { size: Size::FULL_HD, frame_rate: (30, 1) },
        ..SceneConfig::default()
    });
    let pictures = numbers.iter().zip(0..).map(|(number, index)| {
        let mut picture = scene.picture(index);
        barcode::draw(&mut picture, *number);
        scale(&picture, small)
    });
    let path = folder.write("drawn.y4m", small, pictures);
    coded(&path, 100, numbers.len(), &folder)
        .iter()
        .map(|picture| barcode::read(&scale(picture, Size::FULL_HD)))
        .collect()
}

#[test]
fn numbers_in_order_are_read_from_every_picture_of_180_lines_at_100_kbps() {
    if !ffmpeg_is_here() {
        return;
    }
    let numbers: Vec<u64> = (1_000_000..1_000_024).collect();
    let wanted: Vec<Option<u64>> = numbers.iter().copied().map(Some).collect();
    assert_eq!(read_back("barcode-180", Size::new(320, 180), &numbers), wanted);
}

#[test]
fn numbers_in_order_are_read_from_every_picture_of_360_lines_at_100_kbps() {
    if !ffmpeg_is_here() {
        return;
    }
    let numbers: Vec<u64> = (0..24).collect();
    let wanted: Vec<Option<u64>> = numbers.iter().copied().map(Some).collect();
    assert_eq!(read_back("barcode-360", Size::new(640, 360), &numbers), wanted);
}

#[test]
fn numbers_without_order_are_read_right_or_not_at_all() {
    if !ffmpeg_is_here() {
        return;
    }
    let mut random = Seed::new(5).random();
    let numbers: Vec<u64> = (0..24).map(|_| random.bits()).collect();
    let read = read_back("barcode-random", Size::new(320, 180), &numbers);
    for (read, number) in read.iter().zip(&numbers) {
        assert!(read.is_none_or(|read| read == *number), "{read:?} is not {number}");
    }
    let right = read.iter().flatten().count();
    println!("{right} of {} read", numbers.len());
    assert!(right >= 22, "only {right} of {} could be read", numbers.len());
}
