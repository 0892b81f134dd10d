//! Common names for operations on 16-bit numbers in narrow and in wide vectors, so that a transform is written once:
//! `narrow` has rows of two blocks in a vector, `wide` rows of four.

/// Eight numbers a vector.
pub mod narrow {
    pub use std::arch::x86_64::{
        __m128i as Vector, _mm_add_epi16 as add, _mm_add_epi32 as add_32, _mm_andnot_si128 as where_not,
        _mm_cmpeq_epi16 as equal, _mm_madd_epi16 as multiply_pairs, _mm_mulhi_epi16 as multiply_high,
        _mm_or_si128 as or, _mm_packs_epi32 as pack_32, _mm_set1_epi16 as all, _mm_set1_epi32 as all_32,
        _mm_slli_epi16 as shift_left, _mm_srai_epi16 as shift_right, _mm_srai_epi32 as shift_right_32,
        _mm_sub_epi16 as subtract, _mm_unpackhi_epi16 as interleave_high, _mm_unpackhi_epi32 as interleave_high_32,
        _mm_unpackhi_epi64 as interleave_high_64, _mm_unpacklo_epi16 as interleave_low,
        _mm_unpacklo_epi32 as interleave_low_32, _mm_unpacklo_epi64 as interleave_low_64,
    };
}

/// Sixteen numbers a vector.
pub mod wide {
    pub use std::arch::x86_64::{
        __m256i as Vector, _mm256_add_epi16 as add, _mm256_add_epi32 as add_32, _mm256_andnot_si256 as where_not,
        _mm256_cmpeq_epi16 as equal, _mm256_madd_epi16 as multiply_pairs, _mm256_mulhi_epi16 as multiply_high,
        _mm256_or_si256 as or, _mm256_packs_epi32 as pack_32, _mm256_set1_epi16 as all, _mm256_set1_epi32 as all_32,
        _mm256_slli_epi16 as shift_left, _mm256_srai_epi16 as shift_right, _mm256_srai_epi32 as shift_right_32,
        _mm256_sub_epi16 as subtract, _mm256_unpackhi_epi16 as interleave_high,
        _mm256_unpackhi_epi32 as interleave_high_32, _mm256_unpackhi_epi64 as interleave_high_64,
        _mm256_unpacklo_epi16 as interleave_low, _mm256_unpacklo_epi32 as interleave_low_32,
        _mm256_unpacklo_epi64 as interleave_low_64,
    };
}

/// Makes `transpose` for one vector width: the columns of each block in four rows.
macro_rules! transpose {
    ($feature:literal) => {
        #[inline]
        #[target_feature(enable = $feature)]
        fn transpose([a, b, c, d]: [Vector; 4]) -> [Vector; 4] {
            // Two blocks make one half of a wide vector, or a whole narrow one: "left" and "right".
            let (left_ab, left_cd) = (interleave_low(a, b), interleave_low(c, d));
            let (right_ab, right_cd) = (interleave_high(a, b), interleave_high(c, d));
            let (left_01, left_23) = (interleave_low_32(left_ab, left_cd), interleave_high_32(left_ab, left_cd));
            let (right_01, right_23) = (interleave_low_32(right_ab, right_cd), interleave_high_32(right_ab, right_cd));
            [
                interleave_low_64(left_01, right_01),
                interleave_high_64(left_01, right_01),
                interleave_low_64(left_23, right_23),
                interleave_high_64(left_23, right_23),
            ]
        }
    };
}
pub(super) use transpose;
