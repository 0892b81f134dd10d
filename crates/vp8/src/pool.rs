//! Pools of reusable buffers.
//!
//! A frame needs a few buffers of megabytes for a short time. An allocator returns such buffers to the system, which
//! must provide each page again when it is written: at 720p that was a quarter of an encoder's time. So a few of the
//! last buffers are kept, from any thread.

use std::sync::{Mutex, PoisonError};

/// Number of elements by which a buffer may exceed the requested length: a kept picture should not cost more than its
/// pixels.
const SLACK: usize = 4096;

/// Larger buffers are not kept: a few bytes of a stream can announce enormous pictures.
const LARGEST: usize = 1 << 24;

/// Unused buffers.
#[derive(Debug)]
pub struct Pool<T> {
    buffers: Mutex<Vec<Vec<T>>>,
    /// Maximum number of kept buffers.
    max: usize,
}

impl<T> Pool<T> {
    /// A pool that keeps at most `max` buffers.
    pub const fn new(max: usize) -> Self {
        Self { buffers: Mutex::new(Vec::new()), max }
    }

    /// A buffer with a capacity of `length` elements or slightly more. It may contain old elements.
    pub fn take(&self, length: usize) -> Vec<T> {
        self.take_of(length, length + SLACK)
    }

    /// A buffer with a capacity of at least `length` and at most `max` elements, if there is one, else a new one of
    /// `length`.
    fn take_of(&self, length: usize, max: usize) -> Vec<T> {
        let mut buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |buffer: &Vec<T>| (length..=max).contains(&buffer.capacity());
        match buffers.iter().rposition(fits) {
            Some(index) => buffers.remove(index),
            None => Vec::with_capacity(length),
        }
    }

    /// Returns a buffer to the pool.
    pub fn give(&self, buffer: Vec<T>) {
        if buffer.capacity() > LARGEST {
            return;
        }
        let mut buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        // The buffer that was unused for longest is probably of the least requested size.
        if buffers.len() == self.max {
            buffers.remove(0);
        }
        buffers.push(buffer);
    }
}

/// A short-lived list in a buffer that goes back to its pool.
#[derive(Debug)]
pub struct Scratch<T: 'static> {
    list: Vec<T>,
    pool: &'static Pool<T>,
}

impl<T> Scratch<T> {
    /// An empty list with a capacity of at least `length`; it may grow beyond that.
    pub fn with_capacity(pool: &'static Pool<T>, length: usize) -> Self {
        let mut scratch = Self::used(pool, length);
        scratch.list.clear();
        scratch
    }

    /// The same with the old elements of the buffer, to be overwritten.
    pub fn used(pool: &'static Pool<T>, length: usize) -> Self {
        Self { list: pool.take_of(length, usize::MAX), pool }
    }
}

impl<T> std::ops::Deref for Scratch<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.list
    }
}

impl<T> std::ops::DerefMut for Scratch<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.list
    }
}

impl<T> Drop for Scratch<T> {
    fn drop(&mut self) {
        self.pool.give(std::mem::take(&mut self.list));
    }
}

/// Buffers of pictures, with and without borders. A stream's coder uses up to a dozen at a time.
static BYTES: Pool<u8> = Pool::new(12);

/// Bytes in a pooled buffer.
#[derive(Debug, PartialEq, Eq, Default)]
pub struct Bytes(Vec<u8>);

impl Bytes {
    /// No bytes, with a capacity of `length`.
    pub fn with_capacity(length: usize) -> Self {
        let mut buffer = BYTES.take(length);
        buffer.clear();
        Self(buffer)
    }

    /// A copy of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let mut copy = Self::with_capacity(bytes.len());
        copy.extend_from_slice(bytes);
        copy
    }

    /// `length` arbitrary bytes.
    pub fn any(length: usize) -> Self {
        let mut buffer = BYTES.take(length);
        buffer.resize(length, 0);
        Self(buffer)
    }
}

impl std::ops::Deref for Bytes {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.0
    }
}

impl std::ops::DerefMut for Bytes {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }
}

impl Clone for Bytes {
    fn clone(&self) -> Self {
        Self::of(self)
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        BYTES.give(std::mem::take(&mut self.0));
    }
}

#[cfg(test)]
mod tests {
    use super::{Pool, Scratch};

    #[test]
    fn a_buffer_given_back_is_taken_again_where_it_fits() {
        let pool = Pool::new(2);
        pool.give(Vec::<u8>::with_capacity(10_000));
        assert_eq!(pool.take(5_000).capacity(), 5_000);
        assert_eq!(pool.take(10_001).capacity(), 10_001);
        assert_eq!(pool.take(6_000).capacity(), 10_000);
        assert_eq!(pool.take(6_000).capacity(), 6_000);
    }

    #[test]
    fn a_list_that_grew_is_taken_again_empty() {
        static POOL: Pool<u8> = Pool::new(1);
        let mut list = Scratch::with_capacity(&POOL, 10);
        list.resize(20_000, 7);
        let capacity = list.capacity();
        drop(list);
        let list = Scratch::with_capacity(&POOL, 10);
        assert_eq!((list.len(), list.capacity()), (0, capacity));
    }

    #[test]
    fn no_more_are_kept_than_said() {
        let pool = Pool::new(2);
        [10_000, 20_000, 30_000].into_iter().for_each(|length| pool.give(Vec::<u8>::with_capacity(length)));
        assert_eq!(pool.take(9_000).capacity(), 9_000);
        pool.give(Vec::with_capacity(super::LARGEST + 1));
        assert_eq!((pool.take(19_000).capacity(), pool.take(29_000).capacity()), (20_000, 30_000));
    }
}
