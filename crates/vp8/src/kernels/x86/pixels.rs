//! Loads and stores of blocks of pixels: all pointers of these kernels are here.
//!
//! A block is checked against its slice once, when it is made. After that a load is checked only against the block's
//! own size, which is known at compile time, so that nothing of the check remains in a kernel's loops.
#![allow(unsafe_code)] // Loads and stores through pointers.

use std::arch::x86_64::*;
use std::marker::PhantomData;

/// A larger stride is rejected, so that no product below overflows: VP8's largest frame is 16383 wide.
const LARGEST_STRIDE: usize = 1 << 24;

/// Panics unless a block fits a slice of `length` pixels at its start.
#[inline(always)]
fn check<const COLUMNS: usize, const ROWS: usize>(length: usize, stride: usize) {
    if stride > LARGEST_STRIDE || (ROWS - 1) * stride + COLUMNS > length {
        refuse(length, stride, COLUMNS, ROWS);
    }
}

/// Panics, in a separate function to keep the kernel small.
#[cold]
#[inline(never)]
fn refuse(length: usize, stride: usize, columns: usize, rows: usize) -> ! {
    panic!("a block of {columns}x{rows} pixels whose rows are {stride} apart is not inside a slice of {length}")
}

/// A block, read-only.
#[derive(Clone, Copy)]
pub struct Pixels<'a, const COLUMNS: usize, const ROWS: usize> {
    first: *const u8,
    stride: usize,
    slice: PhantomData<&'a [u8]>,
}

impl<'a, const COLUMNS: usize, const ROWS: usize> Pixels<'a, COLUMNS, ROWS> {
    /// The block at the start of a slice.
    #[inline(always)]
    pub fn of(slice: &'a [u8], stride: usize) -> Self {
        check::<COLUMNS, ROWS>(slice.len(), stride);
        Self { first: slice.as_ptr(), stride, slice: PhantomData }
    }

    /// The blocks that start at each of four indices of a slice; checking the last index is sufficient.
    #[inline(always)]
    pub fn at(slice: &'a [u8], [a, b, c, d]: [usize; 4], stride: usize) -> [Self; 4] {
        check::<COLUMNS, ROWS>(slice.len().saturating_sub(a.max(b).max(c.max(d))), stride);
        let block = |at| {
            // SAFETY: `at` is no further in the slice than the index after which it has room for a block.
            Self { first: unsafe { slice.as_ptr().add(at) }, stride, slice: PhantomData }
        };
        [block(a), block(b), block(c), block(d)]
    }

    /// Pointer to `pixels` pixels of a row.
    #[inline(always)]
    fn pointer(&self, row: usize, column: usize, pixels: usize) -> *const u8 {
        assert!(row < ROWS && column + pixels <= COLUMNS);
        // SAFETY: the place is inside the block by this assertion, and the block inside its slice by `check`.
        unsafe { self.first.add(row * self.stride + column) }
    }

    /// Four pixels; the rest of the vector is 0.
    #[inline]
    #[target_feature(enable = "sse2")]
    pub fn load_4(&self, row: usize, column: usize) -> __m128i {
        // SAFETY: `pointer` is at 4 pixels of the slice.
        unsafe { _mm_cvtsi32_si128(self.pointer(row, column, 4).cast::<i32>().read_unaligned()) }
    }

    /// Eight pixels; the rest of the vector is 0.
    #[inline]
    #[target_feature(enable = "sse2")]
    pub fn load_8(&self, row: usize, column: usize) -> __m128i {
        // SAFETY: `pointer` is at 8 pixels of the slice.
        unsafe { _mm_loadl_epi64(self.pointer(row, column, 8).cast()) }
    }

    /// Sixteen pixels.
    #[inline]
    #[target_feature(enable = "sse2")]
    pub fn load_16(&self, row: usize, column: usize) -> __m128i {
        // SAFETY: `pointer` is at 16 pixels of the slice.
        unsafe { _mm_loadu_si128(self.pointer(row, column, 16).cast()) }
    }
}

impl<const ROWS: usize> Pixels<'_, 16, ROWS> {
    /// Number of the block's rows that one vector holds.
    pub const ROWS_A_VECTOR: usize = 1;

    /// The row.
    #[inline]
    #[target_feature(enable = "sse2")]
    pub fn vector(&self, row: usize) -> __m128i {
        self.load_16(row, 0)
    }
}

impl<const ROWS: usize> Pixels<'_, 8, ROWS> {
    /// Number of the block's rows that one vector holds.
    pub const ROWS_A_VECTOR: usize = 2;

    /// The row and the one after it.
    #[inline]
    #[target_feature(enable = "sse2")]
    pub fn vector(&self, row: usize) -> __m128i {
        _mm_unpacklo_epi64(self.load_8(row, 0), self.load_8(row + 1, 0))
    }
}

/// A block, mutable.
pub struct PixelsMut<'a, const COLUMNS: usize, const ROWS: usize> {
    first: *mut u8,
    stride: usize,
    slice: PhantomData<&'a mut [u8]>,
}

impl<'a, const COLUMNS: usize, const ROWS: usize> PixelsMut<'a, COLUMNS, ROWS> {
    /// The block at the start of a slice.
    #[inline(always)]
    pub fn of(slice: &'a mut [u8], stride: usize) -> Self {
        check::<COLUMNS, ROWS>(slice.len(), stride);
        Self { first: slice.as_mut_ptr(), stride, slice: PhantomData }
    }

    /// The block's present pixels, read-only.
    #[inline(always)]
    pub fn read(&self) -> Pixels<'_, COLUMNS, ROWS> {
        Pixels { first: self.first, stride: self.stride, slice: PhantomData }
    }

    /// Pointer to `pixels` pixels of a row.
    #[inline(always)]
    fn pointer(&mut self, row: usize, column: usize, pixels: usize) -> *mut u8 {
        assert!(row < ROWS && column + pixels <= COLUMNS);
        // SAFETY: the place is inside the block by this assertion, and the block inside its slice by `check`.
        unsafe { self.first.add(row * self.stride + column) }
    }

    /// Stores the low four bytes of a vector.
    #[inline]
    #[target_feature(enable = "sse2")]
    pub fn store_4(&mut self, row: usize, column: usize, pixels: __m128i) {
        // SAFETY: `pointer` is at 4 pixels of the slice, which `self` borrows for itself alone.
        unsafe { self.pointer(row, column, 4).cast::<i32>().write_unaligned(_mm_cvtsi128_si32(pixels)) }
    }

    /// Stores the low eight bytes of a vector.
    #[inline]
    #[target_feature(enable = "sse2")]
    pub fn store_8(&mut self, row: usize, column: usize, pixels: __m128i) {
        // SAFETY: `pointer` is at 8 pixels of the slice, which `self` borrows for itself alone.
        unsafe { _mm_storel_epi64(self.pointer(row, column, 8).cast(), pixels) }
    }

    /// Stores a vector.
    #[inline]
    #[target_feature(enable = "sse2")]
    pub fn store_16(&mut self, row: usize, column: usize, pixels: __m128i) {
        // SAFETY: `pointer` is at 16 pixels of the slice, which `self` borrows for itself alone.
        unsafe { _mm_storeu_si128(self.pointer(row, column, 16).cast(), pixels) }
    }
}
