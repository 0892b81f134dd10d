//! A number drawn on a captured picture, by which a receiver on a real link knows which picture is displayed, as in
//! Salsify's evaluation (Fouladi et al., NSDI 2018).
//!
//! Two squares of 8x8 black and white cells, in the upper left and the lower right corner, together 128 of the 80x45 cells that
//! a picture is divided into: 3.6 % of it. A cell of a 320x180 picture has 4x4 samples, one transform block of VP8, and one of a
//! 1280x720 picture is a macroblock.
//!
//! Each bit is in both squares, in the second one at another place and, for half of the bits, inverted by a fixed
//! pattern. Content that is not a barcode does not agree in all 64 bits, nor does a picture whose upper part is from
//! another moment than its lower part. The bits are the Gray code of the number: only one bit changes from one picture
//! to the next, which costs an encoder almost nothing.

use std::ops::Range;

use thalweg_units::Size;

use crate::picture::{Picture, Plane};

/// Cells that a picture is divided into, horizontally and vertically.
const GRID: (usize, usize) = (80, 45);
/// Cells on a side of a square.
const SIDE: usize = 8;
/// The luma of cells for 0 and 1: video's black and white.
const BLACK: u8 = 16;
const WHITE: u8 = 235;
/// Which bits are inverted in the second square: half of them, in a pattern that does not occur in pictures.
const INVERTED: u64 = 0x3a6c_9d17_e28b_54c9;
/// Minimum clearness of a bit from its two cells: 0 when they contradict each other, 1 when both are as drawn. At 0.35
/// one cell may be entirely grey if the other is clear, and two contradicting cells are never accepted.
const CLEAR: f64 = 0.35;

/// Draws `number` over the picture's corners. It can be read from pictures of 320x180 and larger; pictures below 80x45
/// are too small, and nothing is drawn.
pub fn draw(picture: &mut Picture, number: u64) {
    let gray = number ^ (number >> 1);
    for bit in 0..64 {
        let [first, second] = cells(bit);
        let set = gray >> bit & 1 == 1;
        paint(picture, first, if set { WHITE } else { BLACK });
        paint(picture, second, if set != inverted(bit) { WHITE } else { BLACK });
    }
}

/// The number drawn on this picture, also after scaling and coding; `None` if no number can be read clearly.
pub fn read(picture: &Picture) -> Option<u64> {
    let Size { width, height } = picture.size();
    if usize::from(width) < GRID.0 || usize::from(height) < GRID.1 {
        return None;
    }
    let mut gray = 0;
    for bit in 0..64 {
        let [first, second] = cells(bit).map(|cell| brightness(picture, cell));
        let both = (first + if inverted(bit) { -second } else { second }) / 2.0;
        if both.abs() < CLEAR {
            return None;
        }
        gray |= u64::from(both > 0.0) << bit;
    }
    // Each bit of the number is the parity of the Gray code's bits from that position up.
    Some([1, 2, 4, 8, 16, 32].into_iter().fold(gray, |number, shift| number ^ (number >> shift)))
}

fn inverted(bit: usize) -> bool {
    INVERTED >> bit & 1 == 1
}

/// The two cells of a bit, by column and row of the grid. The second square is filled from its end, by columns.
fn cells(bit: usize) -> [(usize, usize); 2] {
    let (major, minor) = (bit / SIDE, bit % SIDE);
    [(minor, major), (GRID.0 - 1 - major, GRID.1 - 1 - minor)]
}

/// The range of samples between two positions, given in cells, of `length` samples divided into `cells`.
fn samples(length: usize, cells: usize, from: f64, to: f64) -> Range<usize> {
    let nearest = |place: f64| libm::round(place * length as f64 / cells as f64) as usize;
    nearest(from)..nearest(to)
}

fn paint(picture: &mut Picture, (column, row): (usize, usize), luma: u8) {
    let Size { width, height } = picture.size();
    if usize::from(width) < GRID.0 || usize::from(height) < GRID.1 {
        return;
    }
    for (plane, value) in [(Plane::Y, luma), (Plane::U, 128), (Plane::V, 128)] {
        let (width, height) = Picture::plane_size(picture.size(), plane);
        let columns = samples(width, GRID.0, column as f64, column as f64 + 1.0);
        for y in samples(height, GRID.1, row as f64, row as f64 + 1.0) {
            picture.plane_mut(plane)[y * width..][columns.clone()].fill(value);
        }
    }
}

/// Brightness of a cell, -1 for black and 1 for white: the mean of its middle, which is least blurred by its
/// neighbours.
fn brightness(picture: &Picture, (column, row): (usize, usize)) -> f64 {
    let (width, height) = Picture::plane_size(picture.size(), Plane::Y);
    let middle = |length, cells, at: usize| {
        let range = samples(length, cells, at as f64 + 0.25, at as f64 + 0.75);
        range.start..range.end.max(range.start + 1)
    };
    let (columns, rows) = (middle(width, GRID.0, column), middle(height, GRID.1, row));
    let count = (columns.len() * rows.len()) as f64;
    let luma = picture.plane(Plane::Y);
    let sum: u32 = rows.flat_map(|y| &luma[y * width..][columns.clone()]).map(|sample| u32::from(*sample)).sum();
    let (black, white) = (f64::from(BLACK), f64::from(WHITE));
    ((f64::from(sum) / count - black) / (white - black) * 2.0 - 1.0).clamp(-1.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scale;
    use crate::source::{Format, Scene, SceneConfig};
    use proptest::prelude::*;
    use thalweg_units::Seed;

    fn scene(size: Size) -> Picture {
        let format = Format { size, frame_rate: (30, 1) };
        Scene::new(SceneConfig { format, ..SceneConfig::default() }).picture(3)
    }

    #[test]
    fn it_takes_3_6_percent_of_the_picture_and_leaves_the_rest() {
        let before = Picture::filled(Size::HD, 100, 90, 90);
        let mut after = before.clone();
        draw(&mut after, 1234);
        let changed = before.data().iter().zip(after.data()).filter(|(a, b)| a != b).count();
        assert_eq!(changed, 2 * 128 * 128 * 3 / 2);
        assert_eq!(format!("{:.1}", 100.0 * changed as f64 / before.data().len() as f64), "3.6");
    }

    #[test]
    fn a_picture_without_one_reads_none() {
        for luma in 0..=255 {
            assert_eq!(read(&Picture::filled(Size::HD, luma, 128, 128)), None);
        }
        assert_eq!(read(&scene(Size::HD)), None);
        assert_eq!(read(&Picture::filled(Size::new(79, 45), 0, 128, 128)), None);
        let mut random = Seed::new(1).random();
        for _ in 0..100 {
            // Every cell black or white at random: the input most similar to a barcode.
            let mut picture = Picture::filled(Size::new(320, 180), 0, 128, 128);
            for cell in (0..64).flat_map(cells) {
                paint(&mut picture, cell, if random.chance(0.5) { WHITE } else { BLACK });
            }
            assert_eq!(read(&picture), None);
        }
    }

    #[test]
    fn a_picture_half_black_and_half_white_reads_none() {
        for upper in [0, 255] {
            let mut picture = Picture::filled(Size::HD, upper, 128, 128);
            let half = picture.plane(Plane::Y).len() / 2;
            picture.plane_mut(Plane::Y)[half..].fill(255 - upper);
            assert_eq!(read(&picture), None);
        }
    }

    #[test]
    fn a_picture_of_two_moments_reads_none() {
        let (mut torn, mut later) = (scene(Size::HD), scene(Size::HD));
        draw(&mut torn, 76);
        draw(&mut later, 77);
        let half = torn.plane(Plane::Y).len() / 2;
        torn.plane_mut(Plane::Y)[half..].copy_from_slice(&later.plane(Plane::Y)[half..]);
        assert_eq!((read(&torn), read(&later)), (None, Some(77)));
    }

    #[test]
    fn a_single_bit_changes_from_one_number_to_the_next() {
        let mut pictures = [Picture::filled(Size::HD, 0, 128, 128), Picture::filled(Size::HD, 0, 128, 128)];
        for number in [0, 7, 255, 65_535, u64::MAX - 1] {
            draw(&mut pictures[0], number);
            draw(&mut pictures[1], number + 1);
            let changed = pictures[0].data().iter().zip(pictures[1].data()).filter(|(a, b)| a != b).count();
            assert_eq!(changed, 2 * 16 * 16, "{number}");
        }
    }

    #[test]
    fn it_survives_scaling_between_180_lines_and_1080_and_odd_sizes() {
        let mut random = Seed::new(2).random();
        let sizes = [(320, 180), (426, 240), (641, 361), (1280, 720), (1920, 1080)];
        for from in sizes {
            for through in sizes {
                let (from, through) = (Size::new(from.0, from.1), Size::new(through.0, through.1));
                let number = random.bits();
                let mut picture = scene(from);
                draw(&mut picture, number);
                let there = scale(&picture, through);
                assert_eq!(read(&there), Some(number), "{from} to {through}");
                assert_eq!(read(&scale(&there, from)), Some(number), "{from} through {through} and back");
            }
        }
    }

    proptest! {
        #[test]
        fn any_number_survives_noise_at_any_size(
            number in any::<u64>(), width in 320u16..700, height in 180u16..400, noise in 0u64..60, seed in any::<u64>()
        ) {
            let mut random = Seed::new(seed).random();
            let mut picture = Picture::filled(Size::new(width, height), 100, 128, 128);
            draw(&mut picture, number);
            for sample in picture.plane_mut(Plane::Y) {
                let difference = random.below(2 * noise + 1) as i16 - noise as i16;
                *sample = (i16::from(*sample) + difference).clamp(0, 255) as u8;
            }
            prop_assert_eq!(read(&picture), Some(number));
        }

        #[test]
        fn reading_anything_of_any_size_never_panics(width in 1u16..300, height in 1u16..200, luma in any::<u8>(), number in any::<u64>()) {
            let mut picture = Picture::filled(Size::new(width, height), luma, 128, 128);
            draw(&mut picture, number);
            if let Some(read) = read(&picture) {
                prop_assert_eq!(read, number);
            }
        }
    }
}
