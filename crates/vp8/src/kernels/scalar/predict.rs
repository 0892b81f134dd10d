//! Reading a reference between its pixels.

use super::super::Fraction;
use super::super::fraction::SIX_TAPS;

/// The most rows a first pass leaves for the second: 16 and the five that six taps need beside.
const MOST_ROWS: usize = 21;

pub fn sixtap<const COLUMNS: usize, const ROWS: usize>(
    reference: &[u8],
    at: usize,
    reference_stride: usize,
    fraction: Fraction,
    prediction: &mut [u8],
    stride: usize,
) {
    // A pass whose fraction is 0 is the identity (its filter is 128 at one place), so that leaving it out is exact.
    let (above, rows) = if fraction.y() == 0 { (0, ROWS) } else { (2, ROWS + 5) };
    let first = at - above * reference_stride;
    let mut across = [[0; COLUMNS]; MOST_ROWS];
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
    let mut across = [[0; COLUMNS]; MOST_ROWS];
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

/// A pixel some eighths of the way from one to another.
#[inline(always)]
fn between(near: u8, far: u8, eighths: usize) -> u8 {
    let eighths = eighths as u16;
    ((u16::from(near) * (8 - eighths) + u16::from(far) * eighths + 4) >> 3) as u8
}
