//! The normal filter, on vectors of sixteen positions along an edge.
//!
//! Pixels are processed as signed bytes, and every sum saturates as one, exactly like the standard's clamps. Where the
//! standard adds three times a difference at once, three saturating additions of it give the same value, since all have
//! the same sign.

use std::arch::x86_64::*;

use super::super::super::EdgeLimits;

/// The limits, for every position.
#[derive(Clone, Copy)]
pub struct Limits {
    edge: __m128i,
    interior: __m128i,
    high_variance: __m128i,
}

impl Limits {
    #[inline]
    #[target_feature(enable = "sse2")]
    pub fn new(limits: EdgeLimits) -> Self {
        Self {
            edge: _mm_set1_epi8(limits.edge as i8),
            interior: _mm_set1_epi8(limits.interior as i8),
            high_variance: _mm_set1_epi8(limits.high_variance as i8),
        }
    }
}

/// All ones where a byte does not exceed a limit.
#[inline]
#[target_feature(enable = "sse2")]
fn is_within(values: __m128i, limit: __m128i) -> __m128i {
    _mm_cmpeq_epi8(_mm_subs_epu8(values, limit), _mm_setzero_si128())
}

#[inline]
#[target_feature(enable = "sse2")]
fn absolute_difference(a: __m128i, b: __m128i) -> __m128i {
    _mm_or_si128(_mm_subs_epu8(a, b), _mm_subs_epu8(b, a))
}

/// Where the step across an edge, from the two pixels before and the two after it, is small enough to be an artefact.
#[inline]
#[target_feature(enable = "sse2")]
pub fn is_edge_within([p1, p0, q0, q1]: [__m128i; 4], edge: __m128i) -> __m128i {
    let (inner, outer) = (absolute_difference(p0, q0), absolute_difference(p1, q1));
    let half_outer = _mm_and_si128(_mm_srli_epi16::<1>(outer), _mm_set1_epi8(0x7f));
    is_within(_mm_adds_epu8(_mm_adds_epu8(inner, inner), half_outer), edge)
}

/// All ones where pixels are filtered, and where their edge has no high variance. The masks are computed separately
/// because the compiler inlines two small functions where it would call one large one, through memory.
#[derive(Clone, Copy)]
pub struct Masks {
    is_filtered: __m128i,
    is_flat: __m128i,
}

/// The masks of eight pixels across an edge.
#[inline]
#[target_feature(enable = "sse2")]
pub fn masks([p3, p2, p1, p0, q0, q1, q2, q3]: [__m128i; 8], limits: Limits) -> Masks {
    let nearest = _mm_max_epu8(absolute_difference(p1, p0), absolute_difference(q1, q0));
    let further = _mm_max_epu8(absolute_difference(p2, p1), absolute_difference(q2, q1));
    let furthest = _mm_max_epu8(absolute_difference(p3, p2), absolute_difference(q3, q2));
    let is_smooth = is_within(_mm_max_epu8(nearest, _mm_max_epu8(further, furthest)), limits.interior);
    let is_flat = is_within(nearest, limits.high_variance);
    Masks { is_filtered: _mm_and_si128(is_smooth, is_edge_within([p1, p0, q0, q1], limits.edge)), is_flat }
}

/// Converts pixels to signed bytes, or back.
#[inline]
#[target_feature(enable = "sse2")]
pub fn flip(pixels: __m128i) -> __m128i {
    _mm_xor_si128(pixels, _mm_set1_epi8(-128))
}

/// Signed bytes divided by eight, rounded down.
#[inline]
#[target_feature(enable = "sse2")]
fn eighths(values: __m128i) -> __m128i {
    let sign = _mm_set1_epi8(0x10);
    let unsigned = _mm_and_si128(_mm_srli_epi16::<3>(values), _mm_set1_epi8(0x1f));
    _mm_sub_epi8(_mm_xor_si128(unsigned, sign), sign)
}

/// The filter step of an edge, from the difference of the pixels next to it and `outer`, the contribution of those
/// beyond.
#[inline]
#[target_feature(enable = "sse2")]
pub fn step(outer: __m128i, p0: __m128i, q0: __m128i) -> __m128i {
    let inner = _mm_subs_epi8(q0, p0);
    _mm_adds_epi8(_mm_adds_epi8(_mm_adds_epi8(outer, inner), inner), inner)
}

/// The changes of the pixels before and after an edge: an eighth of the step, with halves rounded up on one side and
/// down on the other.
#[inline]
#[target_feature(enable = "sse2")]
pub fn moves(step: __m128i) -> (__m128i, __m128i) {
    (eighths(_mm_adds_epi8(step, _mm_set1_epi8(3))), eighths(_mm_adds_epi8(step, _mm_set1_epi8(4))))
}

/// Filters the edge of a subblock inside a macroblock: changes the middle four of eight pixels across it.
#[inline]
#[target_feature(enable = "sse2")]
pub fn subblock([_, _, p1, p0, q0, q1, _, _]: [__m128i; 8], Masks { is_filtered, is_flat }: Masks) -> [__m128i; 4] {
    let (p1, p0, q0, q1) = (flip(p1), flip(p0), flip(q0), flip(q1));
    let outer = _mm_andnot_si128(is_flat, _mm_subs_epi8(p1, q1));
    let (of_p, of_q) = moves(_mm_and_si128(step(outer, p0, q0), is_filtered));
    // Half of it, rounded up: the rounding average of unsigned bytes, with half of their offset from signed ones.
    let half = flip(_mm_avg_epu8(flip(of_q), _mm_set1_epi8(-128)));
    let of_outer = _mm_and_si128(half, is_flat);
    let filtered =
        [_mm_adds_epi8(p1, of_outer), _mm_adds_epi8(p0, of_p), _mm_subs_epi8(q0, of_q), _mm_subs_epi8(q1, of_outer)];
    filtered.map(|pixels| flip(pixels))
}

/// Filters the edge of a macroblock: changes the middle six of eight pixels across it.
#[inline]
#[target_feature(enable = "sse4.1")]
pub fn macroblock(pixels: [__m128i; 8], Masks { is_filtered, is_flat }: Masks) -> [__m128i; 6] {
    let [_, p2, p1, p0, q0, q1, q2, _] = pixels.map(|pixels| flip(pixels));
    let step = _mm_and_si128(step(_mm_subs_epi8(p1, q1), p0, q0), is_filtered);
    // With high variance only the pixels next to the edge, as inside; a step of zero is not rounded up.
    let (of_p, of_q) = moves(_mm_andnot_si128(is_flat, step));
    let (p0, q0) = (_mm_adds_epi8(p0, of_p), _mm_subs_epi8(q0, of_q));
    // Elsewhere about 3/7, 2/7 and 1/7 of the step, larger nearer to the edge: (27 step + 63) / 128 and so on, from
    // pairs of bytes of the step and 1.
    let step = _mm_and_si128(step, is_flat);
    let one = _mm_set1_epi8(1);
    let (low, high) = (_mm_unpacklo_epi8(step, one), _mm_unpackhi_epi8(step, one));
    let [near, middle, far] = [27, 18, 9].map(|share| {
        let share = _mm_set1_epi16(share | 63 << 8);
        let (low, high) = (_mm_maddubs_epi16(share, low), _mm_maddubs_epi16(share, high));
        _mm_packs_epi16(_mm_srai_epi16::<7>(low), _mm_srai_epi16::<7>(high))
    });
    let filtered = [
        _mm_adds_epi8(p2, far),
        _mm_adds_epi8(p1, middle),
        _mm_adds_epi8(p0, near),
        _mm_subs_epi8(q0, near),
        _mm_subs_epi8(q1, middle),
        _mm_subs_epi8(q2, far),
    ];
    filtered.map(|pixels| flip(pixels))
}

/// The simple filter: changes the middle two of four pixels across an edge.
#[inline]
#[target_feature(enable = "sse2")]
pub fn simple(pixels: [__m128i; 4], edge: __m128i) -> [__m128i; 2] {
    let is_filtered = is_edge_within(pixels, edge);
    let [p1, p0, q0, q1] = pixels.map(|pixels| flip(pixels));
    let (of_p, of_q) = moves(_mm_and_si128(step(_mm_subs_epi8(p1, q1), p0, q0), is_filtered));
    [flip(_mm_adds_epi8(p0, of_p)), flip(_mm_subs_epi8(q0, of_q))]
}
