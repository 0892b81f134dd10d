//! Prediction of whole blocks from the pixels above and to the left (RFC 6386 sections 12.2 and 12.3).

pub use super::subblock::{SubblockEdges, predict_subblock};

use crate::image::PlanesMut;
use crate::syntax::BlockMode;

/// Value used for the pixels above the frame.
pub(super) const ABOVE_FRAME: u8 = 127;
/// Value used for the pixels to the left of the frame.
pub(super) const LEFT_OF_FRAME: u8 = 129;

/// Predicts the luma of a macroblock.
#[inline]
pub fn predict_luma(planes: &mut PlanesMut<'_>, column: usize, row: usize, mode: BlockMode) {
    predict::<16>(planes.y, planes.stride, column, row, mode);
}

/// Predicts both chroma planes of a macroblock.
#[inline]
pub fn predict_chroma(planes: &mut PlanesMut<'_>, column: usize, row: usize, mode: BlockMode) {
    let stride = planes.stride / 2;
    predict::<8>(planes.u, stride, column, row, mode);
    predict::<8>(planes.v, stride, column, row, mode);
}

/// Predicts a square block of a plane.
fn predict<const SIDE: usize>(plane: &mut [u8], stride: usize, column: usize, row: usize, mode: BlockMode) {
    let at = row * SIDE * stride + column * SIDE;
    match mode {
        BlockMode::Dc => {
            let mean = mean::<SIDE>(plane, stride, column, row);
            rows::<SIDE>(plane, at, stride).for_each(|pixels| *pixels = [mean; SIDE]);
        }
        BlockMode::Vertical => {
            let above = above::<SIDE>(plane, at, stride, row);
            rows::<SIDE>(plane, at, stride).for_each(|pixels| *pixels = above);
        }
        BlockMode::Horizontal => {
            let left = left::<SIDE>(plane, at, stride, column);
            rows::<SIDE>(plane, at, stride).zip(left).for_each(|(pixels, left)| *pixels = [left; SIDE]);
        }
        BlockMode::TrueMotion => {
            let corner = i16::from(corner(plane, at, stride, column, row));
            let (above, left) = (above::<SIDE>(plane, at, stride, row), left::<SIDE>(plane, at, stride, column));
            for (pixels, left) in rows::<SIDE>(plane, at, stride).zip(left) {
                let difference = i16::from(left) - corner;
                for (pixel, above) in pixels.iter_mut().zip(above) {
                    *pixel = (i16::from(above) + difference).clamp(0, 255) as u8;
                }
            }
        }
    }
}

/// The mean of those pixels above and to the left that are in the frame.
fn mean<const SIDE: usize>(plane: &[u8], stride: usize, column: usize, row: usize) -> u8 {
    let at = row * SIDE * stride + column * SIDE;
    let sum = |pixels: [u8; SIDE]| pixels.into_iter().map(u32::from).sum::<u32>();
    let side = SIDE as u32;
    let mean = match (row > 0, column > 0) {
        (false, false) => 128,
        (true, false) => (sum(above(plane, at, stride, row)) + side / 2) / side,
        (false, true) => (sum(left(plane, at, stride, column)) + side / 2) / side,
        (true, true) => (sum(above(plane, at, stride, row)) + sum(left(plane, at, stride, column)) + side) / (2 * side),
    };
    mean as u8
}

/// The rows of a block.
fn rows<const SIDE: usize>(plane: &mut [u8], at: usize, stride: usize) -> impl Iterator<Item = &mut [u8; SIDE]> {
    plane[at..].chunks_mut(stride).take(SIDE).map(|row| row.first_chunk_mut().expect("a plane has whole blocks"))
}

/// The pixels above a block.
fn above<const SIDE: usize>(plane: &[u8], at: usize, stride: usize, row: usize) -> [u8; SIDE] {
    if row == 0 {
        return [ABOVE_FRAME; SIDE];
    }
    *plane[at - stride..].first_chunk().expect("a plane has whole blocks")
}

/// The pixels to the left of a block.
fn left<const SIDE: usize>(plane: &[u8], at: usize, stride: usize, column: usize) -> [u8; SIDE] {
    if column == 0 {
        return [LEFT_OF_FRAME; SIDE];
    }
    let plane = &plane[at - 1..at + (SIDE - 1) * stride];
    std::array::from_fn(|row| plane[row * stride])
}

/// The pixel above and to the left of a block.
fn corner(plane: &[u8], at: usize, stride: usize, column: usize, row: usize) -> u8 {
    match (column, row) {
        (_, 0) => ABOVE_FRAME,
        (0, _) => LEFT_OF_FRAME,
        _ => plane[at - stride - 1],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::{Image, Size};

    fn predicted(column: usize, row: usize, mode: BlockMode) -> Vec<u8> {
        let mut image = Image::filled(Size::new(32, 32).unwrap(), 0, 0, 0);
        let planes = image.planes_mut();
        planes.u.iter_mut().enumerate().for_each(|(i, pixel)| *pixel = (i % 16 * 3 + i / 16) as u8);
        predict::<8>(planes.u, 16, column, row, mode);
        planes.u[row * 8 * 16 + column * 8..].chunks(16).take(8).flat_map(|row| row[..8].to_vec()).collect()
    }

    #[test]
    fn what_is_outside_the_frame_is_127_above_and_129_to_the_left() {
        assert_eq!(predicted(0, 0, BlockMode::Dc), [128; 64]);
        assert_eq!(predicted(1, 0, BlockMode::Vertical), [127; 64]);
        assert_eq!(predicted(0, 1, BlockMode::Horizontal), [129; 64]);
        assert_eq!(predicted(0, 0, BlockMode::TrueMotion), [129; 64]);
    }

    #[test]
    fn means_are_of_the_sides_there_are_and_round_up_a_half() {
        // Above is 3 x + 7 for x of 0 to 7 or 8 to 15; to the left is 21 + y for y of 8 to 15.
        assert_eq!(predicted(0, 1, BlockMode::Dc), [18; 64]);
        assert_eq!(predicted(1, 0, BlockMode::Dc), [25; 64]);
        assert_eq!(predicted(1, 1, BlockMode::Dc), [37; 64]);
    }

    #[test]
    fn true_motion_continues_a_gradient() {
        let expected: Vec<u8> = (0..64).map(|i| ((8 + i % 8) * 3 + 8 + i / 8) as u8).collect();
        assert_eq!(predicted(1, 1, BlockMode::TrueMotion), expected);
    }
}
