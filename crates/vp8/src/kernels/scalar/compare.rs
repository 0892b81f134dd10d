//! Difference metrics of two blocks.

use super::super::{Block, Moments};

/// The rows of two blocks, side by side.
fn rows<'a, const COLUMNS: usize, const ROWS: usize>(
    block: &'a [u8],
    block_stride: usize,
    reference: &'a [u8],
    reference_stride: usize,
) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
    (0..ROWS).map(move |row| (&block[row * block_stride..][..COLUMNS], &reference[row * reference_stride..][..COLUMNS]))
}

pub fn sad<const COLUMNS: usize, const ROWS: usize>(
    block: &[u8],
    block_stride: usize,
    reference: &[u8],
    reference_stride: usize,
) -> u32 {
    rows::<COLUMNS, ROWS>(block, block_stride, reference, reference_stride)
        .map(|(a, b)| a.iter().zip(b).map(|(a, b)| u32::from(a.abs_diff(*b))).sum::<u32>())
        .sum()
}

pub fn sad_at<const COLUMNS: usize, const ROWS: usize>(
    block: &[u8],
    block_stride: usize,
    reference: &[u8],
    at: [usize; 4],
    reference_stride: usize,
) -> [u32; 4] {
    at.map(|at| sad::<COLUMNS, ROWS>(block, block_stride, &reference[at..], reference_stride))
}

pub fn sse<const COLUMNS: usize, const ROWS: usize>(
    block: &[u8],
    block_stride: usize,
    reference: &[u8],
    reference_stride: usize,
) -> u32 {
    moments::<COLUMNS, ROWS>(block, block_stride, reference, reference_stride).squares
}

pub fn moments<const COLUMNS: usize, const ROWS: usize>(
    block: &[u8],
    block_stride: usize,
    reference: &[u8],
    reference_stride: usize,
) -> Moments {
    let mut moments = Moments::default();
    for (a, b) in rows::<COLUMNS, ROWS>(block, block_stride, reference, reference_stride) {
        for (a, b) in a.iter().zip(b) {
            let difference = i32::from(*a) - i32::from(*b);
            moments.sum += difference;
            moments.squares += (difference * difference) as u32;
        }
    }
    moments
}

pub fn satd<const COLUMNS: usize, const ROWS: usize>(
    block: &[u8],
    block_stride: usize,
    reference: &[u8],
    reference_stride: usize,
) -> u32 {
    let mut sum = 0;
    for top in (0..ROWS).step_by(4) {
        for left in (0..COLUMNS).step_by(4) {
            let (block, reference) = (&block[top * block_stride + left..], &reference[top * reference_stride + left..]);
            let mut transformed = [[0; 4]; 4];
            for (row, (a, b)) in rows::<4, 4>(block, block_stride, reference, reference_stride).enumerate() {
                transformed[row] = hadamard(std::array::from_fn(|i| i32::from(a[i]) - i32::from(b[i])));
            }
            for column in 0..4 {
                let down = hadamard(transformed.map(|row| row[column]));
                sum += down.iter().map(|value| value.unsigned_abs()).sum::<u32>();
            }
        }
    }
    sum / 2
}

/// Hadamard transform of four values, in no particular order.
fn hadamard([a, b, c, d]: [i32; 4]) -> [i32; 4] {
    let (sum, difference, other_sum, other_difference) = (a + b, a - b, c + d, c - d);
    [sum + other_sum, sum - other_sum, difference + other_difference, difference - other_difference]
}

pub fn sse_row(row: &[u8], other: &[u8]) -> u64 {
    // 65536 squares are the most whose sum is certain to fit 32 bits.
    let runs = row.chunks(1 << 16).zip(other.chunks(1 << 16));
    runs.map(|(a, b)| u64::from(a.iter().zip(b).map(|(a, b)| u32::from(a.abs_diff(*b)).pow(2)).sum::<u32>())).sum()
}

pub fn coefficient_error(coefficients: &Block, restored: &Block) -> u64 {
    let squares = coefficients.iter().zip(restored).map(|(a, b)| u64::from(a.saturating_sub(*b).unsigned_abs()).pow(2));
    squares.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_differ_by_a_constant_have_known_differences() {
        let (block, reference) = ([100; 256], [93; 256]);
        assert_eq!(sad::<16, 16>(&block, 16, &reference, 16), 7 * 256);
        assert_eq!(sse::<16, 8>(&block, 16, &reference, 16), 49 * 128);
        let moments = moments::<8, 8>(&block, 16, &reference, 16);
        assert_eq!(moments, Moments { sum: 7 * 64, squares: 49 * 64 });
        assert_eq!(satd::<16, 16>(&block, 16, &reference, 16), 8 * 7 * 16);
        assert_eq!(sse_row(&block, &reference[..100]), 4900);
    }

    #[test]
    fn one_pixel_that_differs_spreads_over_all_of_its_blocks_transform() {
        let (mut block, reference) = ([50; 64], [50; 64]);
        block[9] = 60;
        assert_eq!(satd::<8, 8>(&block, 8, &reference, 8), 16 * 10 / 2);
        assert_eq!(sad::<8, 8>(&block, 8, &reference, 8), 10);
    }

    #[test]
    fn the_largest_differences_are_summed_without_loss() {
        let (white, black) = ([255; 256], [0; 256]);
        assert_eq!(sad::<16, 16>(&white, 16, &black, 16), 65_280);
        assert_eq!(moments::<16, 16>(&black, 16, &white, 16), Moments { sum: -65_280, squares: 16_646_400 });
        assert_eq!(sse_row(&vec![255; 300_000], &vec![0; 300_000]), 19_507_500_000);
        assert_eq!(coefficient_error(&[i16::MIN; 16], &[i16::MAX; 16]), 16 << 30);
    }
}
