//! Prediction of 4x4 luma subblocks from the pixels around them (RFC 6386 section 12.3).

use super::intra::{ABOVE_FRAME, LEFT_OF_FRAME};
use crate::syntax::SubblockMode;

/// The pixels around a macroblock's luma that its subblocks are predicted from, before any of it is reconstructed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SubblockEdges {
    /// The corner, the sixteen pixels above, and the four after these, which the subblocks of the right column use in
    /// every row.
    above: [u8; 21],
    left: [u8; 16],
}

impl SubblockEdges {
    /// The pixels around the macroblock in a column and row of a plane of luma, whose rows are `stride` apart.
    #[must_use]
    pub fn of(plane: &[u8], stride: usize, column: usize, row: usize) -> Self {
        let at = row * 16 * stride + column * 16;
        let mut edges = Self { above: [ABOVE_FRAME; 21], left: [LEFT_OF_FRAME; 16] };
        if row > 0 {
            let above = &plane[at - stride..at];
            edges.above[1..17].copy_from_slice(&above[..16]);
            edges.above[0] = if column > 0 { plane[at - stride - 1] } else { LEFT_OF_FRAME };
            // At the right end of a row the last pixel above is repeated.
            match above.get(16..20) {
                Some(after) if (column + 1) * 16 < stride => edges.above[17..].copy_from_slice(after),
                _ => edges.above[17..].fill(above[15]),
            }
        }
        if column > 0 {
            let plane = &plane[at - 1..at + 15 * stride];
            edges.left = std::array::from_fn(|row| plane[row * stride]);
        }
        edges
    }

    /// The thirteen pixels around a subblock: from the lowest on the left up to the corner, and on to the eighth above.
    fn around(&self, plane: &[u8], at: usize, stride: usize, subblock: usize) -> [u8; 13] {
        let (x, y) = (subblock % 4, subblock / 4);
        let at = at + 4 * y * stride + 4 * x;
        let mut around = [0; 13];
        if y == 0 {
            around[4..].copy_from_slice(&self.above[4 * x..][..9]);
        } else {
            around[4] = if x == 0 { self.left[4 * y - 1] } else { plane[at - stride - 1] };
            around[5..9].copy_from_slice(&plane[at - stride..][..4]);
            let after = if x == 3 { &self.above[17..] } else { &plane[at - stride + 4..][..4] };
            around[9..].copy_from_slice(after);
        }
        for row in 0..4 {
            around[3 - row] = if x == 0 { self.left[4 * y + row] } else { plane[at + row * stride - 1] };
        }
        around
    }
}

/// Predicts a subblock (0 to 15 in raster order) of the macroblock whose first pixel is at index `at` of a luma plane.
/// The subblocks before it must be reconstructed.
#[inline]
pub fn predict_subblock(
    plane: &mut [u8],
    at: usize,
    stride: usize,
    edges: &SubblockEdges,
    subblock: usize,
    mode: SubblockMode,
) {
    let predicted = predict(&edges.around(plane, at, stride, subblock), mode);
    let at = at + subblock / 4 * 4 * stride + subblock % 4 * 4;
    for (row, predicted) in predicted.iter().enumerate() {
        plane[at + row * stride..][..4].copy_from_slice(predicted);
    }
}

/// The four rows predicted from the thirteen pixels around them, the fifth of which is the corner.
fn predict(around: &[u8; 13], mode: SubblockMode) -> [[u8; 4]; 4] {
    let pixel = |i: usize| u16::from(around[i]);
    // The mean of two neighbouring pixels, and the smoothed value at one.
    let two = |i: usize| ((pixel(i) + pixel(i + 1) + 1) >> 1) as u8;
    let weigh = |before: u16, at: u16, after: u16| ((before + 2 * at + after + 2) >> 2) as u8;
    let three = |i: usize| weigh(pixel(i - 1), pixel(i), pixel(i + 1));
    match mode {
        SubblockMode::Dc => {
            let sum: u16 = (0..4).map(pixel).sum::<u16>() + (5..9).map(pixel).sum::<u16>();
            [[((sum + 4) >> 3) as u8; 4]; 4]
        }
        SubblockMode::TrueMotion => {
            let sum = |above: usize, left: usize| i16::from(around[above]) + i16::from(around[left]);
            let corner = i16::from(around[4]);
            std::array::from_fn(|y| std::array::from_fn(|x| (sum(5 + x, 3 - y) - corner).clamp(0, 255) as u8))
        }
        SubblockMode::Vertical => [std::array::from_fn(|x| three(5 + x)); 4],
        SubblockMode::Horizontal => {
            let lowest = weigh(pixel(1), pixel(0), pixel(0));
            [three(3), three(2), three(1), lowest].map(|value| [value; 4])
        }
        SubblockMode::LeftDown => {
            let last = weigh(pixel(11), pixel(12), pixel(12));
            let line: [u8; 7] = std::array::from_fn(|i| if i == 6 { last } else { three(6 + i) });
            std::array::from_fn(|y| std::array::from_fn(|x| line[x + y]))
        }
        SubblockMode::RightDown => std::array::from_fn(|y| std::array::from_fn(|x| three(4 + x - y))),
        SubblockMode::VerticalRight => {
            let (even, odd) = ([two(4), two(5), two(6), two(7)], [three(4), three(5), three(6), three(7)]);
            [even, odd, [three(3), even[0], even[1], even[2]], [three(2), odd[0], odd[1], odd[2]]]
        }
        SubblockMode::VerticalLeft => {
            let (even, odd) = ([two(5), two(6), two(7), two(8)], [three(6), three(7), three(8), three(9)]);
            [even, odd, [even[1], even[2], even[3], three(10)], [odd[1], odd[2], odd[3], three(11)]]
        }
        SubblockMode::HorizontalDown => {
            let line = [two(0), three(1), two(1), three(2), two(2), three(3), two(3), three(4), three(5), three(6)];
            std::array::from_fn(|y| std::array::from_fn(|x| line[6 - 2 * y + x]))
        }
        SubblockMode::HorizontalUp => {
            let lowest = around[0];
            let nearly = weigh(pixel(1), pixel(0), pixel(0));
            let line = [two(2), three(2), two(1), three(1), two(0), nearly, lowest, lowest, lowest, lowest];
            std::array::from_fn(|y| std::array::from_fn(|x| line[2 * y + x]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the lowest to the left, 10 to 13, the corner 20, and above 31 to 38.
    const AROUND: [u8; 13] = [10, 11, 12, 13, 20, 31, 32, 33, 34, 35, 36, 37, 38];

    #[test]
    fn flat_surroundings_are_continued_in_every_mode() {
        for mode in SubblockMode::ALL {
            assert_eq!(predict(&[77; 13], mode), [[77; 4]; 4], "{mode:?}");
        }
    }

    #[test]
    fn diagonals_follow_their_slopes() {
        // By hand from section 12.3's formulas.
        assert_eq!(predict(&AROUND, SubblockMode::LeftDown)[3], [35, 36, 37, 38]);
        assert_eq!(predict(&AROUND, SubblockMode::RightDown)[0], [21, 29, 32, 33]);
        assert_eq!(predict(&AROUND, SubblockMode::RightDown)[3], [11, 12, 15, 21]);
        assert_eq!(predict(&AROUND, SubblockMode::VerticalRight)[2], [15, 26, 32, 33]);
        assert_eq!(predict(&AROUND, SubblockMode::VerticalLeft)[3], [33, 34, 35, 37]);
        assert_eq!(predict(&AROUND, SubblockMode::HorizontalDown)[0], [17, 21, 29, 32]);
        assert_eq!(predict(&AROUND, SubblockMode::HorizontalUp)[1], [12, 11, 11, 10]);
    }

    #[test]
    fn the_right_column_uses_the_pixels_above_the_next_macroblock_in_every_row() {
        let stride = 48;
        let mut plane = vec![0; stride * 32];
        plane[15 * stride..16 * stride].iter_mut().enumerate().for_each(|(x, pixel)| *pixel = x as u8);
        let edges = SubblockEdges::of(&plane, stride, 1, 1);
        assert_eq!(edges.around(&plane, 16 * stride + 16, stride, 15)[9..], [32, 33, 34, 35]);
        let edges = SubblockEdges::of(&plane, stride, 2, 1);
        let above = [43, 44, 45, 46, 47, 47, 47, 47, 47];
        assert_eq!(edges.around(&plane, 16 * stride + 32, stride, 3)[4..], above);
        let edges = SubblockEdges::of(&plane, stride, 0, 0);
        assert_eq!(
            edges.around(&plane, 0, stride, 0),
            [129, 129, 129, 129, 127, 127, 127, 127, 127, 127, 127, 127, 127]
        );
    }
}
