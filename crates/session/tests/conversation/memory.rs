//! What a thread has allocated and not given back: a whole conversation lives in one.

#![allow(unsafe_code)] // An allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static HELD: Cell<i64> = const { Cell::new(0) };
}

/// The system's allocator, counted.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

fn count(bytes: i64) {
    // A thread that ends has no counter any more.
    let _ = HELD.try_with(|held| held.set(held.get() + bytes));
}

// SAFETY: everything is done by the system's allocator, with what the caller gave.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Bytes that this thread holds.
pub fn held() -> i64 {
    HELD.with(Cell::get)
}
