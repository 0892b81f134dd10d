//! Memory that is used again.
//!
//! A frame takes a few buffers of megabytes and gives them back soon after. An allocator returns such to the system,
//! and has to be handed each page anew when they are written: at 720p that was a quarter of an encoder's time. So the
//! buffers given back last are kept, a few of them, whatever thread they come from.

use std::sync::{Mutex, PoisonError};

/// How many elements a buffer may be larger than what is asked for: a kept picture is not to cost more than its pixels.
const SLACK: usize = 4096;

/// Buffers with room for more elements are not kept: a stream may say in a few bytes that it is of enormous pictures.
const LARGEST: usize = 1 << 24;

/// Buffers that are not in use.
#[derive(Debug)]
pub struct Pool<T> {
    buffers: Mutex<Vec<Vec<T>>>,
    /// How many are kept at most.
    max: usize,
}

impl<T> Pool<T> {
    /// A pool that keeps at most so many buffers.
    pub const fn new(max: usize) -> Self {
        Self { buffers: Mutex::new(Vec::new()), max }
    }

    /// A buffer with room for `length` elements or a few more. It may have elements: any of those it had before.
    pub fn take(&self, length: usize) -> Vec<T> {
        self.take_of(length, length + SLACK)
    }

    /// A buffer with room for at least `length` elements and at most so many, if there is one, and for `length` if not.
    fn take_of(&self, length: usize, max: usize) -> Vec<T> {
        let mut buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |buffer: &Vec<T>| (length..=max).contains(&buffer.capacity());
        match buffers.iter().rposition(fits) {
            Some(index) => buffers.remove(index),
            None => Vec::with_capacity(length),
        }
    }

    /// Gives a buffer back.
    pub fn give(&self, buffer: Vec<T>) {
        if buffer.capacity() > LARGEST {
            return;
        }
        let mut buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        // The one that has been waiting for longest is of the size that is asked for least.
        if buffers.len() == self.max {
            buffers.remove(0);
        }
        buffers.push(buffer);
    }
}

/// A list that is filled and soon done with, in a buffer that goes back to its pool.
#[derive(Debug)]
pub struct Scratch<T: 'static> {
    list: Vec<T>,
    pool: &'static Pool<T>,
}

impl<T> Scratch<T> {
    /// An empty list with room for `length` elements or more: how many it will have need not be known.
    pub fn with_capacity(pool: &'static Pool<T>, length: usize) -> Self {
        let mut scratch = Self::used(pool, length);
        scratch.list.clear();
        scratch
    }

    /// The same with the elements it had when it was given back, to be written over.
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

/// Of pictures, with and without borders. A stream's coder takes up to a dozen at a time.
static BYTES: Pool<u8> = Pool::new(12);

/// Bytes that go back to where they can be used again.
#[derive(Debug, PartialEq, Eq, Default)]
pub struct Bytes(Vec<u8>);

impl Bytes {
    /// No bytes, with room for `length`.
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

    /// So many bytes, whichever.
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
