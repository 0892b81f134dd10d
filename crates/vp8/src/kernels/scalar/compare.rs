//! Difference metrics of two blocks.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_differ_by_a_constant_have_known_differences() {
        let (block, reference) = ([100; 256], [93; 256]);
        assert_eq!(sad::<16, 16>(&block, 16, &reference, 16), 7 * 256);
        assert_eq!(satd::<16, 16>(&block, 16, &reference, 16), 8 * 7 * 16);
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
    }
}
