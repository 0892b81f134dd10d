//! The six-tap filters for blocks of up to eight columns, whose rows are half a vector.
//!
//! The first and the last of the six taps form a pair, and so do the second and the third, and the fourth and the
//! fifth: thereby the two in the middle, which in one sum could exceed 16 bits, are separate. The three sums are then
//! added, the last with saturation. A saturated value is far beyond white anyway, so the result is exact.
//!
//! Rows are filtered horizontally when they are loaded, and vertically as soon as six of them are available.

use std::arch::x86_64::*;

use super::super::super::Fraction;
use super::super::super::fraction::SIX_TAPS;
use super::super::coefficients::bytes;
use super::super::pixels::{Pixels, PixelsMut};
use super::{copy, load, starting, store, two_taps};

/// After multiplication by this, `pmulhrsw` divides by 128 and rounds to the nearest, halves up: (256 n + 2^14) / 2^15
/// = (n + 64) / 128.
pub const ONE_128TH: i16 = 256;

/// A filter's taps in the three pairs, for every pair of bytes.
#[derive(Clone, Copy)]
struct Taps {
    outer: __m128i,
    left: __m128i,
    right: __m128i,
}

impl Taps {
    #[inline]
    #[target_feature(enable = "sse2")]
    fn of(eighths: usize) -> Self {
        let [a, b, c, d, e, f] = SIX_TAPS[eighths];
        Self { outer: two_taps(a, f), left: two_taps(b, c), right: two_taps(d, e) }
    }

    /// Eight filtered pixels, in both halves, from the bytes of the three pairs.
    #[inline]
    #[target_feature(enable = "sse4.1")]
    fn filter(&self, [outer, left, right]: [__m128i; 3]) -> __m128i {
        let sum = _mm_add_epi16(_mm_maddubs_epi16(outer, self.outer), _mm_maddubs_epi16(left, self.left));
        let sum = _mm_adds_epi16(sum, _mm_maddubs_epi16(right, self.right));
        let filtered = _mm_mulhrs_epi16(sum, _mm_set1_epi16(ONE_128TH));
        _mm_packus_epi16(filtered, filtered)
    }
}

/// Positions in a vector of the bytes of the three pairs, for eight adjacent pixels.
pub struct Places([[u8; 16]; 3]);

impl Places {
    /// The places, given the position of each of the thirteen columns that eight filtered pixels need.
    pub const fn new(columns: [u8; 13]) -> Self {
        let mut places = [[0; 16]; 3];
        let pairs = [[0, 5], [1, 2], [3, 4]];
        let mut i = 0;
        while i < 3 * 16 {
            let (pair, pixel, side) = (i / 16, i % 16 / 2, i % 2);
            places[pair][i % 16] = columns[pixel + pairs[pair][side]];
            i += 1;
        }
        Self(places)
    }

    /// The places, as vectors.
    #[inline]
    #[target_feature(enable = "sse2")]
    pub fn vectors(&self) -> [__m128i; 3] {
        [bytes(&self.0[0]), bytes(&self.0[1]), bytes(&self.0[2])]
    }
}

/// Eight columns are loaded as the first eight and the last eight of thirteen.
const PLACES_8: Places = Places::new([0, 1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 14, 15]);
/// Four columns are loaded as the first eight and the last eight of nine; further positions are not used.
const PLACES_4: Places = Places::new([0, 1, 2, 3, 4, 5, 6, 7, 15, 15, 15, 15, 15]);

/// The horizontal filter.
#[derive(Clone, Copy)]
struct Across {
    taps: Taps,
    places: [__m128i; 3],
}

impl Across {
    #[inline]
    #[target_feature(enable = "sse4.1")]
    fn new<const COLUMNS: usize>(eighths: usize) -> Self {
        let places = if COLUMNS == 4 { PLACES_4 } else { PLACES_8 };
        Self { taps: Taps::of(eighths), places: places.vectors() }
    }

    /// Filters a row.
    #[inline]
    #[target_feature(enable = "sse4.1")]
    fn filter<const READ: usize, const ROWS: usize>(&self, reference: &Pixels<READ, ROWS>, row: usize) -> __m128i {
        let pixels = _mm_unpacklo_epi64(reference.load_8(row, 0), reference.load_8(row, READ - 8));
        self.taps.filter(self.places.map(|places| _mm_shuffle_epi8(pixels, places)))
    }
}

/// Filters vertically; `row` gives each row from two above the block on.
#[inline]
#[target_feature(enable = "sse4.1")]
fn filter_down<const COLUMNS: usize, const ROWS: usize>(
    eighths: usize,
    row: impl Fn(usize) -> __m128i,
    prediction: &mut PixelsMut<COLUMNS, ROWS>,
) {
    let taps = Taps::of(eighths);
    let [mut a, mut b, mut c, mut d, mut e] = [row(0), row(1), row(2), row(3), row(4)];
    for i in 0..ROWS {
        let f = row(i + 5);
        let pairs = [_mm_unpacklo_epi8(a, f), _mm_unpacklo_epi8(b, c), _mm_unpacklo_epi8(d, e)];
        store(prediction, i, taps.filter(pairs));
        (a, b, c, d, e) = (b, c, d, e, f);
    }
}

/// The kernel for blocks of 4 or 8 columns. `COLUMNS_READ` and `ROWS_READ` are five larger than the block.
#[target_feature(enable = "sse4.1")]
pub fn sixtap<const COLUMNS: usize, const ROWS: usize, const COLUMNS_READ: usize, const ROWS_READ: usize>(
    reference: &[u8],
    at: usize,
    reference_stride: usize,
    fraction: Fraction,
    prediction: &mut [u8],
    stride: usize,
) {
    let mut prediction = PixelsMut::<COLUMNS, ROWS>::of(prediction, stride);
    let starting = |left, above| starting(reference, at, reference_stride, left, above);
    match (fraction.x(), fraction.y()) {
        (0, 0) => copy(&Pixels::<COLUMNS, ROWS>::of(starting(0, 0), reference_stride), &mut prediction),
        (x, 0) => {
            let reference = Pixels::<COLUMNS_READ, ROWS>::of(starting(2, 0), reference_stride);
            let across = Across::new::<COLUMNS>(x);
            (0..ROWS).for_each(|row| store(&mut prediction, row, across.filter(&reference, row)));
        }
        (0, y) => {
            let reference = Pixels::<COLUMNS, ROWS_READ>::of(starting(0, 2), reference_stride);
            filter_down(y, |row| load(&reference, row), &mut prediction);
        }
        (x, y) => {
            let reference = Pixels::<COLUMNS_READ, ROWS_READ>::of(starting(2, 2), reference_stride);
            let across = Across::new::<COLUMNS>(x);
            filter_down(y, |row| across.filter(&reference, row), &mut prediction);
        }
    }
}

/// The kernel for 16x16 pixels, eight columns at a time.
#[target_feature(enable = "sse4.1")]
pub fn sixtap_16x16(
    reference: &[u8],
    at: usize,
    reference_stride: usize,
    fraction: Fraction,
    prediction: &mut [u8],
    stride: usize,
) {
    sixtap::<8, 16, 13, 21>(reference, at, reference_stride, fraction, prediction, stride);
    sixtap::<8, 16, 13, 21>(reference, at + 8, reference_stride, fraction, &mut prediction[8..], stride);
}
