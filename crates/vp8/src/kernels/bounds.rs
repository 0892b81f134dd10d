//! The one question every vector kernel asks before it touches memory: is the block inside its slice?

/// Rows further apart than this are refused, so that no product below overflows: VP8's largest frame is 16383 wide.
const LARGEST_STRIDE: usize = 1 << 24;

/// Panics unless a block of `columns` x `rows` fits a slice of `length` pixels at its start.
#[inline(always)]
pub fn check(length: usize, stride: usize, columns: usize, rows: usize) {
    assert!(
        stride <= LARGEST_STRIDE && (rows - 1) * stride + columns <= length,
        "a block of {columns}x{rows} pixels, rows {stride} apart, is not inside a slice of {length}"
    );
}

/// Panics unless a block of `columns` x `rows` whose first pixel is at index `at` lies inside a slice of `length`
/// pixels together with what is read around it: `before` and `after` (columns, rows).
#[inline(always)]
pub fn check_around(
    length: usize,
    at: usize,
    stride: usize,
    (columns, rows): (usize, usize),
    before: (usize, usize),
    after: (usize, usize),
) {
    assert!(
        stride <= LARGEST_STRIDE
            && before.1 * stride + before.0 <= at
            && at <= length
            && (rows - 1 + after.1) * stride + columns + after.0 <= length - at,
        "a block of {columns}x{rows} pixels at {at} with {before:?} before and {after:?} after, rows {stride} apart, \
         is not inside a slice of {length}"
    );
}
