//! Splits a frame into pieces of about equal size.

use core::ops::Range;

/// Splits `length` bytes into the fewest pieces of at most `max` (at least 1) bytes, whose sizes differ by at most one
/// byte, the larger ones last: the result of libwebrtc's `SplitAboutEqually` (`rtp_format.cc`) without reductions. A
/// length of zero gives no pieces.
pub(crate) fn about_equal(length: usize, max: usize) -> impl ExactSizeIterator<Item = Range<usize>> {
    let count = length.div_ceil(max);
    // The last `larger` pieces have one byte more than the others.
    let (each, larger) = length.checked_div(count).map_or((0, 0), |each| (each, length % count));
    let start = move |index: usize| index * each + index.saturating_sub(count - larger);
    (0..count).map(move |index| start(index)..start(index + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_follow_each_other_and_differ_by_a_byte_at_most(length in 0usize..5000, max in 1usize..1500) {
            let pieces: Vec<_> = about_equal(length, max).collect();
            prop_assert_eq!(pieces.len(), length.div_ceil(max));
            let mut at = 0;
            for piece in &pieces {
                prop_assert_eq!(piece.start, at);
                at = piece.end;
            }
            prop_assert_eq!(at, length);
            let sizes: Vec<usize> = pieces.iter().map(Range::len).collect();
            prop_assert!(sizes.is_sorted() && sizes.iter().all(|size| *size <= max));
            prop_assert!(sizes.last().unwrap_or(&0) - sizes.first().unwrap_or(&0) <= 1);
        }
    }
}
