//! Sums of differences and of their squares: sixteen-bit differences, multiplied and added in pairs by `pmaddwd`.

use std::arch::x86_64::*;

use super::super::super::{Block, Moments};
use super::super::coefficients::load_8;
use super::super::pixels::Pixels;
use super::{halves_of_32, sum_of_32};

/// Accumulated differences and squared differences: the former with 16 bits per lane, enough for the 32 of a block of
/// 16x16 pixels (but not for [`squares_of_rows`], which does not use them), the latter with 32.
#[derive(Clone, Copy)]
struct Running {
    differences: __m128i,
    squares: __m128i,
}

impl Running {
    #[inline]
    #[target_feature(enable = "sse2")]
    fn new() -> Self {
        Self { differences: _mm_setzero_si128(), squares: _mm_setzero_si128() }
    }

    /// Adds sixteen pixels' differences.
    #[inline]
    #[target_feature(enable = "sse4.1")]
    fn add(&mut self, block: __m128i, reference: __m128i) {
        let zero = _mm_setzero_si128();
        let low = _mm_sub_epi16(_mm_cvtepu8_epi16(block), _mm_cvtepu8_epi16(reference));
        let high = _mm_sub_epi16(_mm_unpackhi_epi8(block, zero), _mm_unpackhi_epi8(reference, zero));
        self.differences = _mm_add_epi16(self.differences, _mm_add_epi16(low, high));
        let squares = _mm_add_epi32(_mm_madd_epi16(low, low), _mm_madd_epi16(high, high));
        self.squares = _mm_add_epi32(self.squares, squares);
    }

    #[inline]
    #[target_feature(enable = "sse4.1")]
    fn moments(self) -> Moments {
        let sums = _mm_madd_epi16(self.differences, _mm_set1_epi16(1));
        Moments { sum: sum_of_32(sums) as i32, squares: sum_of_32(self.squares) }
    }
}

/// Differences and squared differences of a row of sixteen pixels at a time.
#[derive(Clone, Copy)]
struct WideRunning {
    differences: __m256i,
    squares: __m256i,
}

impl WideRunning {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new() -> Self {
        Self { differences: _mm256_setzero_si256(), squares: _mm256_setzero_si256() }
    }

    /// Adds sixteen pixels' differences.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn add(&mut self, block: __m128i, reference: __m128i) {
        let differences = _mm256_sub_epi16(_mm256_cvtepu8_epi16(block), _mm256_cvtepu8_epi16(reference));
        self.differences = _mm256_add_epi16(self.differences, differences);
        self.squares = _mm256_add_epi32(self.squares, _mm256_madd_epi16(differences, differences));
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn moments(self) -> Moments {
        let sums = _mm256_madd_epi16(self.differences, _mm256_set1_epi16(1));
        Moments { sum: sum_of_32(halves_of_32(sums)) as i32, squares: sum_of_32(halves_of_32(self.squares)) }
    }
}

/// Makes the kernels for blocks of a width with the accumulators of an instruction set.
macro_rules! squares {
    ($feature:literal, $running:ident, $columns:literal, $moments:ident, $squares:ident) => {
        #[inline]
        #[target_feature(enable = $feature)]
        pub fn $moments<const ROWS: usize>(
            block: &[u8],
            block_stride: usize,
            reference: &[u8],
            reference_stride: usize,
        ) -> Moments {
            let block = Pixels::<$columns, ROWS>::of(block, block_stride);
            let reference = Pixels::<$columns, ROWS>::of(reference, reference_stride);
            let mut running = $running::new();
            for row in (0..ROWS).step_by(Pixels::<$columns, ROWS>::ROWS_A_VECTOR) {
                running.add(block.vector(row), reference.vector(row));
            }
            running.moments()
        }

        #[target_feature(enable = $feature)]
        pub fn $squares<const ROWS: usize>(
            block: &[u8],
            block_stride: usize,
            reference: &[u8],
            reference_stride: usize,
        ) -> u32 {
            // Inlined, with the unused sum removed.
            $moments::<ROWS>(block, block_stride, reference, reference_stride).squares
        }
    };
}

squares!("sse4.1", Running, 16, moments_16, squares_16);
squares!("sse4.1", Running, 8, moments_8, squares_8);
squares!("sse4.1", Running, 4, moments_4, squares_4);
squares!("avx2", WideRunning, 16, moments_16_avx2, squares_16_avx2);
squares!("avx2", WideRunning, 8, moments_8_avx2, squares_8_avx2);
squares!("avx2", WideRunning, 4, moments_4_avx2, squares_4_avx2);

/// Makes the sum of the squared differences of rows of any length.
macro_rules! squares_of_rows {
    ($feature:literal, $running:ident, $squares_of_rows:ident) => {
        #[target_feature(enable = $feature)]
        pub fn $squares_of_rows(row: &[u8], other: &[u8]) -> u64 {
            let length = row.len().min(other.len());
            let (blocks, rest) = row[..length].as_chunks::<16>();
            let (other_blocks, other_rest) = other[..length].as_chunks::<16>();
            let mut sum: u64 = rest.iter().zip(other_rest).map(|(a, b)| u64::from(a.abs_diff(*b)).pow(2)).sum();
            // Sixteen pixels' squares are below 2^20: those of 4096 pixels fit 32 bits.
            for (blocks, others) in blocks.chunks(4096).zip(other_blocks.chunks(4096)) {
                let mut running = $running::new();
                for (block, other) in blocks.iter().zip(others) {
                    running.add(Pixels::<16, 1>::of(block, 16).vector(0), Pixels::<16, 1>::of(other, 16).vector(0));
                }
                sum += u64::from(running.moments().squares);
            }
            sum
        }
    };
}

squares_of_rows!("sse4.1", Running, squares_of_rows);
squares_of_rows!("avx2", WideRunning, squares_of_rows_avx2);

/// The sum of the squared differences of two blocks of coefficients.
#[target_feature(enable = "sse4.1")]
pub fn coefficient_error(coefficients: &Block, restored: &Block) -> u64 {
    let zero = _mm_setzero_si128();
    let [low, high] = [0, 1].map(|half| {
        let difference = _mm_subs_epi16(load_8(coefficients, half), load_8(restored, half));
        // Up to 2^31 per lane, which fits an unsigned number; two of these need 64 bits.
        let squares = _mm_madd_epi16(difference, difference);
        _mm_add_epi64(_mm_unpacklo_epi32(squares, zero), _mm_unpackhi_epi32(squares, zero))
    });
    let sums = _mm_add_epi64(low, high);
    _mm_cvtsi128_si64(_mm_add_epi64(sums, _mm_unpackhi_epi64(sums, sums))) as u64
}
