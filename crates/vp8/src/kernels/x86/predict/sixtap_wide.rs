//! The six-tap filters for blocks of sixteen columns: as in [`sixtap`](super::sixtap), with eight in each half of a
//! vector.

use std::arch::x86_64::*;

use super::super::super::Fraction;
use super::super::super::fraction::SIX_TAPS;
use super::super::pixels::{Pixels, PixelsMut};
use super::sixtap::{ONE_128TH, Places};
use super::{copy, starting, two_taps};

/// A filter's taps in the three pairs, for every pair of bytes.
#[derive(Clone, Copy)]
struct Taps([__m256i; 3]);

impl Taps {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn of(eighths: usize) -> Self {
        let [a, b, c, d, e, f] = SIX_TAPS[eighths];
        Self([two_taps(a, f), two_taps(b, c), two_taps(d, e)].map(|taps| _mm256_broadcastsi128_si256(taps)))
    }

    /// Eight filtered pixels in each half, twice, from the bytes of the three pairs.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn filter(&self, [outer, left, right]: [__m256i; 3]) -> __m256i {
        let sum = _mm256_add_epi16(_mm256_maddubs_epi16(outer, self.0[0]), _mm256_maddubs_epi16(left, self.0[1]));
        let sum = _mm256_adds_epi16(sum, _mm256_maddubs_epi16(right, self.0[2]));
        let filtered = _mm256_mulhrs_epi16(sum, _mm256_set1_epi16(ONE_128TH));
        _mm256_packus_epi16(filtered, filtered)
    }
}

/// The first sixteen of twenty-one columns; the left eight pixels need the first thirteen.
const LEFT_PLACES: Places = Places::new([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
/// The last sixteen of twenty-one columns; the right eight pixels need the last thirteen.
const RIGHT_PLACES: Places = Places::new([3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);

/// A wide vector from two halves.
#[inline]
#[target_feature(enable = "avx2")]
fn halves(left: __m128i, right: __m128i) -> __m256i {
    _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(left), right)
}

/// The horizontal filter.
#[derive(Clone, Copy)]
struct Across {
    taps: Taps,
    places: [__m256i; 3],
}

impl Across {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(eighths: usize) -> Self {
        let (left, right) = (LEFT_PLACES.vectors(), RIGHT_PLACES.vectors());
        Self { taps: Taps::of(eighths), places: [0, 1, 2].map(|i| halves(left[i], right[i])) }
    }

    /// Filters a row.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn filter<const ROWS: usize>(&self, reference: &Pixels<21, ROWS>, row: usize) -> __m256i {
        let pixels = halves(reference.load_16(row, 0), reference.load_16(row, 5));
        self.taps.filter(self.places.map(|places| _mm256_shuffle_epi8(pixels, places)))
    }
}

/// Stores a row whose pixels are at the start of each half.
#[inline]
#[target_feature(enable = "avx2")]
fn store(prediction: &mut PixelsMut<16, 16>, row: usize, pixels: __m256i) {
    let together = _mm256_permute4x64_epi64::<0b10_00>(pixels);
    prediction.store_16(row, 0, _mm256_castsi256_si128(together));
}

/// Filters vertically; `row` gives each row from two above the block on.
#[inline]
#[target_feature(enable = "avx2")]
fn filter_down(eighths: usize, row: impl Fn(usize) -> __m256i, prediction: &mut PixelsMut<16, 16>) {
    let taps = Taps::of(eighths);
    let [mut a, mut b, mut c, mut d, mut e] = [row(0), row(1), row(2), row(3), row(4)];
    for i in 0..16 {
        let f = row(i + 5);
        let pairs = [_mm256_unpacklo_epi8(a, f), _mm256_unpacklo_epi8(b, c), _mm256_unpacklo_epi8(d, e)];
        store(prediction, i, taps.filter(pairs));
        (a, b, c, d, e) = (b, c, d, e, f);
    }
}

/// The kernel for 16x16 pixels.
#[target_feature(enable = "avx2")]
pub fn sixtap_16x16(
    reference: &[u8],
    at: usize,
    reference_stride: usize,
    fraction: Fraction,
    prediction: &mut [u8],
    stride: usize,
) {
    let mut prediction = PixelsMut::<16, 16>::of(prediction, stride);
    let starting = |left, above| starting(reference, at, reference_stride, left, above);
    match (fraction.x(), fraction.y()) {
        (0, 0) => copy(&Pixels::<16, 16>::of(starting(0, 0), reference_stride), &mut prediction),
        (x, 0) => {
            let reference = Pixels::<21, 16>::of(starting(2, 0), reference_stride);
            let across = Across::new(x);
            (0..16).for_each(|row| store(&mut prediction, row, across.filter(&reference, row)));
        }
        (0, y) => {
            let reference = Pixels::<16, 21>::of(starting(0, 2), reference_stride);
            let spread =
                |row| _mm256_permute4x64_epi64::<0b01_01_00_00>(_mm256_castsi128_si256(reference.load_16(row, 0)));
            filter_down(y, spread, &mut prediction);
        }
        (x, y) => {
            let reference = Pixels::<21, 21>::of(starting(2, 2), reference_stride);
            let across = Across::new(x);
            filter_down(y, |row| across.filter(&reference, row), &mut prediction);
        }
    }
}
