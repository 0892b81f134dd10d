//! Loads and stores of arrays of 16-bit coefficients.
#![allow(unsafe_code)] // Loads and stores through pointers.

use std::arch::x86_64::*;

/// The eight coefficients from `half * 8` on.
#[inline]
#[target_feature(enable = "sse2")]
pub fn load_8(coefficients: &[i16; 16], half: usize) -> __m128i {
    assert!(half < 2);
    // SAFETY: half an array of sixteen is eight.
    unsafe { _mm_loadu_si128(coefficients.as_ptr().add(8 * half).cast()) }
}

/// The four coefficients of a row; the rest of the vector is 0.
#[inline]
#[target_feature(enable = "sse2")]
pub fn load_4(coefficients: &[i16; 16], row: usize) -> __m128i {
    assert!(row < 4);
    // SAFETY: the row is inside the array.
    unsafe { _mm_loadl_epi64(coefficients.as_ptr().add(4 * row).cast()) }
}

/// All sixteen.
#[inline]
#[target_feature(enable = "avx2")]
pub fn load_16(coefficients: &[i16; 16]) -> __m256i {
    // SAFETY: the array is as large as the vector.
    unsafe { _mm256_loadu_si256(coefficients.as_ptr().cast()) }
}

/// All sixteen numbers of an unsigned table.
#[inline]
#[target_feature(enable = "avx2")]
pub fn load_16_unsigned(numbers: &[u16; 16]) -> __m256i {
    // SAFETY: the array is as large as the vector.
    unsafe { _mm256_loadu_si256(numbers.as_ptr().cast()) }
}

/// Eight numbers of an unsigned table, from `half * 8` on.
#[inline]
#[target_feature(enable = "sse2")]
pub fn load_8_unsigned(numbers: &[u16; 16], half: usize) -> __m128i {
    assert!(half < 2);
    // SAFETY: half an array of sixteen is eight.
    unsafe { _mm_loadu_si128(numbers.as_ptr().add(8 * half).cast()) }
}

/// Stores eight coefficients from `half * 8` on.
#[inline]
#[target_feature(enable = "sse2")]
pub fn store_8(coefficients: &mut [i16; 16], half: usize, values: __m128i) {
    assert!(half < 2);
    // SAFETY: half an array of sixteen is eight.
    unsafe { _mm_storeu_si128(coefficients.as_mut_ptr().add(8 * half).cast(), values) }
}

/// Stores all sixteen.
#[inline]
#[target_feature(enable = "avx2")]
pub fn store_16(coefficients: &mut [i16; 16], values: __m256i) {
    // SAFETY: the array is as large as the vector.
    unsafe { _mm256_storeu_si256(coefficients.as_mut_ptr().cast(), values) }
}

/// The bytes of a table, for a shuffle.
#[inline]
#[target_feature(enable = "sse2")]
pub fn bytes(table: &[u8; 16]) -> __m128i {
    // SAFETY: the array is as large as the vector.
    unsafe { _mm_loadu_si128(table.as_ptr().cast()) }
}

/// Stores four 32-bit sums.
#[inline]
#[target_feature(enable = "sse2")]
pub fn sums(values: __m128i) -> [u32; 4] {
    let mut sums = [0; 4];
    // SAFETY: the array is as large as the vector.
    unsafe { _mm_storeu_si128(sums.as_mut_ptr().cast(), values) };
    sums
}
