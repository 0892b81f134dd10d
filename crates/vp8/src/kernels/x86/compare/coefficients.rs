//! The error between coefficients.

use std::arch::x86_64::*;

use super::super::super::Block;
use super::super::coefficients::load_8;

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
