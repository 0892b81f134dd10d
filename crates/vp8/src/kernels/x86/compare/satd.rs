//! Sums of absolute Hadamard transforms of 4x4 differences, two or four blocks at a time.
//!
//! The transform's last step and the absolute values are combined: `|a + b| + |a - b|` is twice the larger of `|a|` and
//! `|b|`. That maximum is computed both at the position of `a` and at that of `b`, so that adding up all positions
//! doubles it.

use std::arch::x86_64::*;

use super::super::pixels::Pixels;

// The kernels load each row explicitly: a closure passed to `map` may remain a call, since it is compiled for more
// instructions than `map`.

/// The sum, in four parts, for four rows of 16-bit differences, two blocks wide.
#[inline]
#[target_feature(enable = "sse4.1")]
fn of_four_rows([a, b, c, d]: [__m128i; 4]) -> __m128i {
    let (ab, a_b, cd, c_d) = (_mm_add_epi16(a, b), _mm_sub_epi16(a, b), _mm_add_epi16(c, d), _mm_sub_epi16(c, d));
    let down = [_mm_add_epi16(ab, cd), _mm_sub_epi16(ab, cd), _mm_add_epi16(a_b, c_d), _mm_sub_epi16(a_b, c_d)];
    let signs = _mm_setr_epi16(1, 1, -1, -1, 1, 1, -1, -1);
    let neighbours = _mm_setr_epi8(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
    let [a, b, c, d] = down.map(|row| {
        let two_on = _mm_shuffle_epi32::<0b10_11_00_01>(row);
        let across = _mm_abs_epi16(_mm_add_epi16(_mm_sign_epi16(row, signs), two_on));
        _mm_max_epi16(across, _mm_shuffle_epi8(across, neighbours))
    });
    // Each is at most 2040.
    let sums = _mm_add_epi16(_mm_add_epi16(a, b), _mm_add_epi16(c, d));
    _mm_madd_epi16(sums, _mm_set1_epi16(1))
}

/// [`of_four_rows`], four blocks wide.
#[inline]
#[target_feature(enable = "avx2")]
fn of_four_wide_rows([a, b, c, d]: [__m256i; 4]) -> __m256i {
    let (ab, a_b) = (_mm256_add_epi16(a, b), _mm256_sub_epi16(a, b));
    let (cd, c_d) = (_mm256_add_epi16(c, d), _mm256_sub_epi16(c, d));
    let down =
        [_mm256_add_epi16(ab, cd), _mm256_sub_epi16(ab, cd), _mm256_add_epi16(a_b, c_d), _mm256_sub_epi16(a_b, c_d)];
    let signs = _mm256_setr_epi16(1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1, 1, 1, -1, -1);
    let neighbours = _mm256_broadcastsi128_si256(_mm_setr_epi8(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
    let [a, b, c, d] = down.map(|row| {
        let two_on = _mm256_shuffle_epi32::<0b10_11_00_01>(row);
        let across = _mm256_abs_epi16(_mm256_add_epi16(_mm256_sign_epi16(row, signs), two_on));
        _mm256_max_epi16(across, _mm256_shuffle_epi8(across, neighbours))
    });
    let sums = _mm256_add_epi16(_mm256_add_epi16(a, b), _mm256_add_epi16(c, d));
    _mm256_madd_epi16(sums, _mm256_set1_epi16(1))
}

/// The sum of a vector's four 32-bit numbers.
#[inline]
#[target_feature(enable = "sse2")]
fn sum_of_32(sums: __m128i) -> u32 {
    let halves = _mm_add_epi32(sums, _mm_unpackhi_epi64(sums, sums));
    _mm_cvtsi128_si32(_mm_add_epi32(halves, _mm_shuffle_epi32::<1>(halves))) as u32
}

/// The sum of the two halves of a wide vector.
#[inline]
#[target_feature(enable = "avx2")]
fn halves_of_32(sums: __m256i) -> __m128i {
    _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums))
}

/// The differences of pixels in the low halves of two vectors.
#[inline]
#[target_feature(enable = "sse4.1")]
fn difference(pixels: __m128i, others: __m128i) -> __m128i {
    _mm_sub_epi16(_mm_cvtepu8_epi16(pixels), _mm_cvtepu8_epi16(others))
}

/// The differences of pixels in two vectors.
#[inline]
#[target_feature(enable = "avx2")]
fn wide_difference(pixels: __m128i, others: __m128i) -> __m256i {
    _mm256_sub_epi16(_mm256_cvtepu8_epi16(pixels), _mm256_cvtepu8_epi16(others))
}

/// For blocks of 8 or 16 columns, 8 at a time.
#[target_feature(enable = "sse4.1")]
pub fn satd<const COLUMNS: usize, const ROWS: usize>(
    block: &[u8],
    block_stride: usize,
    reference: &[u8],
    reference_stride: usize,
) -> u32 {
    let block = Pixels::<COLUMNS, ROWS>::of(block, block_stride);
    let reference = Pixels::<COLUMNS, ROWS>::of(reference, reference_stride);
    let mut sums = _mm_setzero_si128();
    for row in (0..ROWS).step_by(4) {
        for column in (0..COLUMNS).step_by(8) {
            sums = _mm_add_epi32(
                sums,
                of_four_rows([
                    difference(block.load_8(row, column), reference.load_8(row, column)),
                    difference(block.load_8(row + 1, column), reference.load_8(row + 1, column)),
                    difference(block.load_8(row + 2, column), reference.load_8(row + 2, column)),
                    difference(block.load_8(row + 3, column), reference.load_8(row + 3, column)),
                ]),
            );
        }
    }
    sum_of_32(sums) / 2
}

#[target_feature(enable = "sse4.1")]
pub fn satd_4x4(block: &[u8], block_stride: usize, reference: &[u8], reference_stride: usize) -> u32 {
    let block = Pixels::<4, 4>::of(block, block_stride);
    let reference = Pixels::<4, 4>::of(reference, reference_stride);
    // The other half of the vectors is 0 and adds 0.
    let sums = of_four_rows([
        difference(block.load_4(0, 0), reference.load_4(0, 0)),
        difference(block.load_4(1, 0), reference.load_4(1, 0)),
        difference(block.load_4(2, 0), reference.load_4(2, 0)),
        difference(block.load_4(3, 0), reference.load_4(3, 0)),
    ]);
    sum_of_32(sums) / 2
}

#[target_feature(enable = "avx2")]
pub fn satd_16x16_avx2(block: &[u8], block_stride: usize, reference: &[u8], reference_stride: usize) -> u32 {
    let block = Pixels::<16, 16>::of(block, block_stride);
    let reference = Pixels::<16, 16>::of(reference, reference_stride);
    let mut sums = _mm256_setzero_si256();
    for row in (0..16).step_by(4) {
        sums = _mm256_add_epi32(
            sums,
            of_four_wide_rows([
                wide_difference(block.vector(row), reference.vector(row)),
                wide_difference(block.vector(row + 1), reference.vector(row + 1)),
                wide_difference(block.vector(row + 2), reference.vector(row + 2)),
                wide_difference(block.vector(row + 3), reference.vector(row + 3)),
            ]),
        );
    }
    sum_of_32(halves_of_32(sums)) / 2
}

#[target_feature(enable = "avx2")]
pub fn satd_8x8_avx2(block: &[u8], block_stride: usize, reference: &[u8], reference_stride: usize) -> u32 {
    let block = Pixels::<8, 8>::of(block, block_stride);
    let reference = Pixels::<8, 8>::of(reference, reference_stride);
    // Loaded as two rows each, and paired differently: a row of the upper blocks with one of the lower ones.
    let a = wide_difference(block.vector(0), reference.vector(0));
    let b = wide_difference(block.vector(2), reference.vector(2));
    let c = wide_difference(block.vector(4), reference.vector(4));
    let d = wide_difference(block.vector(6), reference.vector(6));
    let sums = of_four_wide_rows([
        _mm256_permute2x128_si256::<0x20>(a, c),
        _mm256_permute2x128_si256::<0x31>(a, c),
        _mm256_permute2x128_si256::<0x20>(b, d),
        _mm256_permute2x128_si256::<0x31>(b, d),
    ]);
    sum_of_32(halves_of_32(sums)) / 2
}
