//! Loops over samples, compiled for newer vector instructions too.
//!
//! A kernel is ordinary safe Rust over fixed-size arrays, marked `#[inline(always)]`, that the compiler turns into
//! vector instructions. [`widest`] compiles it a second time for processors with AVX2 and chooses at run time. Both
//! versions do the same arithmetic in the same order, in integers or in IEEE operations that the compiler may not fuse
//! or reorder, so the results are identical to the bit (the tests compare the two).

/// Runs `work` with the widest vector instructions of this processor. `work` and everything it calls must be
/// `#[inline(always)]` to benefit.
#[inline(always)]
pub(crate) fn widest<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}

/// A chunk as an array of a length known at compile time; `chunk` comes from `chunks_exact`.
#[inline(always)]
pub(crate) fn array<T, const N: usize>(chunk: &[T]) -> &[T; N] {
    chunk.first_chunk().expect("a chunk has the length it was cut to")
}
