//! Loops over samples, compiled for more than the oldest processor.
//!
//! A kernel is ordinary safe Rust over fixed-size arrays, marked `#[inline(always)]`, that the compiler turns into vector
//! instructions. [`widest`] compiles it a second time for processors with AVX2 and picks at run time. Both do the same
//! arithmetic in the same order, in whole numbers or in IEEE operations that the compiler may not fuse or reorder, so the
//! result is the same to the bit whatever is picked (the tests compare the two).

/// Runs `work` with the widest vector instructions that this processor has. `work` and all it calls must be
/// `#[inline(always)]` to gain.
#[inline(always)]
pub(crate) fn widest<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}

/// A chunk as an array of a length the compiler knows; `chunk` comes from `chunks_exact`.
#[inline(always)]
pub(crate) fn array<T, const N: usize>(chunk: &[T]) -> &[T; N] {
    chunk.first_chunk().expect("a chunk has the length it was cut to")
}
