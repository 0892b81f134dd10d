//! Values from a fuzzer's bytes.

/// Takes numbers from the front of the bytes; zeros when none are left.
pub struct Steps<'a>(pub &'a [u8]);

impl<'a> Steps<'a> {
    /// Returns true if bytes are left.
    pub fn more(&self) -> bool {
        !self.0.is_empty()
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// The next `count` bytes, or fewer when fewer are left.
    pub fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// The next `count` bytes as a number.
    pub fn number(&mut self, count: usize) -> u64 {
        (0..count).fold(0, |value, _| value << 8 | u64::from(self.byte()))
    }
}
