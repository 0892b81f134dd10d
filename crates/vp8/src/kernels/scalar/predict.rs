//! Interpolation in a reference.

use super::super::Fraction;
use super::super::fraction::SIX_TAPS;

/// Maximum number of rows between the first and the second pass: 16 plus the five that six taps need.
const MAX_ROWS: usize = 21;

pub fn sixtap<const COLUMNS: usize, const ROWS: usize>(
    reference: &[u8],
    at: usize,
    reference_stride: usize,
    fraction: Fraction,
    prediction: &mut [u8],
    stride: usize,
) {
    // A pass with fraction 0 is the identity (its filter is 128 at one position), so skipping it is exact.
    let (above, rows) = if fraction.y() == 0 { (0, ROWS) } else { (2, ROWS + 5) };
    let first = at - above * reference_stride;
    let mut across = [[0; COLUMNS]; MAX_ROWS];
    for (row, filtered) in across[..rows].iter_mut().enumerate() {
        let start = first + row * reference_stride;
        if fraction.x() == 0 {
            filtered.copy_from_slice(&reference[start..start + COLUMNS]);
        } else {
            let source = &reference[start - 2..start + COLUMNS + 3];
            let taps = SIX_TAPS[fraction.x()];
            *filtered = std::array::from_fn(|column| six_taps(taps, |tap| source[column + tap]));
        }
    }
    for row in 0..ROWS {
        let predicted: &mut [u8; COLUMNS] = (&mut prediction[row * stride..][..COLUMNS]).try_into().unwrap();
        if fraction.y() == 0 {
            *predicted = across[row];
        } else {
            let taps = SIX_TAPS[fraction.y()];
            *predicted = std::array::from_fn(|column| six_taps(taps, |tap| across[row + tap][column]));
        }
    }
}

/// One filtered pixel.
#[inline(always)]
fn six_taps(taps: [i8; 6], pixel: impl Fn(usize) -> u8) -> u8 {
    let sum: i32 = (0..6).map(|tap| i32::from(taps[tap]) * i32::from(pixel(tap))).sum();
    ((sum + 64) >> 7).clamp(0, 255) as u8
}

pub fn bilinear<const COLUMNS: usize, const ROWS: usize>(
    reference: &[u8],
    at: usize,
    reference_stride: usize,
    fraction: Fraction,
    prediction: &mut [u8],
    stride: usize,
) {
    let rows = if fraction.y() == 0 { ROWS } else { ROWS + 1 };
    let mut across = [[0; COLUMNS]; MAX_ROWS];
    for (row, filtered) in across[..rows].iter_mut().enumerate() {
        let start = at + row * reference_stride;
        if fraction.x() == 0 {
            filtered.copy_from_slice(&reference[start..start + COLUMNS]);
        } else {
            let source = &reference[start..start + COLUMNS + 1];
            *filtered = std::array::from_fn(|column| between(source[column], source[column + 1], fraction.x()));
        }
    }
    for row in 0..ROWS {
        let predicted: &mut [u8; COLUMNS] = (&mut prediction[row * stride..][..COLUMNS]).try_into().unwrap();
        if fraction.y() == 0 {
            *predicted = across[row];
        } else {
            let (upper, lower) = (&across[row], &across[row + 1]);
            *predicted = std::array::from_fn(|column| between(upper[column], lower[column], fraction.y()));
        }
    }
}

/// A pixel `eighths` of the way from one to another.
#[inline(always)]
fn between(near: u8, far: u8, eighths: usize) -> u8 {
    let eighths = eighths as u16;
    ((u16::from(near) * (8 - eighths) + u16::from(far) * eighths + 4) >> 3) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filters_taps_add_up_to_one() {
        for (eighths, taps) in SIX_TAPS.iter().enumerate().skip(1) {
            assert_eq!(taps.iter().map(|tap| i32::from(*tap)).sum::<i32>(), 128, "{eighths} eighths");
            let mirrored: Vec<i8> = SIX_TAPS[8 - eighths].iter().rev().copied().collect();
            assert_eq!(taps[..], mirrored);
        }
    }

    #[test]
    fn a_flat_reference_is_flat_between_its_pixels() {
        for value in [0, 1, 100, 254, 255] {
            for (x, y) in (0..64).map(|i| (i / 8, i % 8)) {
                let reference = [value; 24 * 24];
                let (mut six, mut two) = ([7; 256], [7; 256]);
                sixtap::<16, 16>(&reference, 2 * 24 + 2, 24, Fraction::of_vector(x, y), &mut six, 16);
                bilinear::<16, 16>(&reference, 0, 24, Fraction::of_vector(x, y), &mut two, 16);
                assert_eq!((six, two), ([value; 256], [value; 256]), "{x}/8 {y}/8");
            }
        }
    }

    #[test]
    fn a_step_between_pixels_is_filtered_by_the_taps_beside_it() {
        // Black up to column 5, 200 from there on. Half a pixel further, around the step, the factors are 3 - 16, 3 -
        // 16 + 77 and so on of 128, rounded; negative values are clamped.
        let reference: Vec<u8> = (0..12 * 6).map(|i| if i % 12 < 6 { 0 } else { 200 }).collect();
        let mut prediction = [0; 16];
        sixtap::<4, 4>(&reference, 2 * 12 + 4, 12, Fraction::of_vector(4, 0), &mut prediction, 4);
        assert_eq!(prediction[..4], [0, 100, 220, 195]);
        // Vertically it is the same.
        let turned: Vec<u8> = (0..12 * 6).map(|i| if i / 6 < 6 { 0 } else { 200 }).collect();
        let mut down = [0; 16];
        sixtap::<4, 4>(&turned, 4 * 6 + 2, 6, Fraction::of_vector(0, 4), &mut down, 4);
        assert_eq!([down[0], down[4], down[8], down[12]], [0, 100, 220, 195]);
    }

    #[test]
    fn bilinear_prediction_is_the_weighted_mean_of_neighbours() {
        let reference = [10, 20, 30, 40, 50, 90, 100, 110, 120, 130, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1];
        let mut prediction = [0; 16];
        bilinear::<4, 4>(&reference, 0, 5, Fraction::of_vector(3, 0), &mut prediction, 4);
        assert_eq!(prediction[..2], [14, 24]); // 13.75 and 23.75
        bilinear::<4, 4>(&reference, 0, 5, Fraction::of_vector(3, 2), &mut prediction, 4);
        assert_eq!(prediction[0], 34); // of 14 and 94
    }
}
