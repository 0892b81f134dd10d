//! A cursor over borrowed bytes that tracks its offset for error messages.

use crate::ParseError;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, at: 0 }
    }

    /// A reader of `bytes`, which start at offset `at` of the input.
    pub(crate) fn placed(bytes: &'a [u8], at: usize) -> Reader<'a> {
        Reader { bytes, at }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn left(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    pub(crate) fn take(&mut self, what: &'static str, count: usize) -> Result<&'a [u8], ParseError> {
        let Some((head, tail)) = self.bytes.split_at_checked(count) else {
            return Err(ParseError::Short { what, at: self.at, needed: count, found: self.bytes.len() });
        };
        self.bytes = tail;
        self.at += count;
        Ok(head)
    }

    /// An unsigned number of `count` bytes (at most 8), most significant byte first.
    fn number(&mut self, what: &'static str, count: usize) -> Result<u64, ParseError> {
        Ok(self.take(what, count)?.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    pub(crate) fn u8(&mut self, what: &'static str) -> Result<u8, ParseError> {
        Ok(self.number(what, 1)? as u8)
    }

    pub(crate) fn u16(&mut self, what: &'static str) -> Result<u16, ParseError> {
        Ok(self.number(what, 2)? as u16)
    }

    pub(crate) fn u24(&mut self, what: &'static str) -> Result<u32, ParseError> {
        Ok(self.number(what, 3)? as u32)
    }

    pub(crate) fn u32(&mut self, what: &'static str) -> Result<u32, ParseError> {
        Ok(self.number(what, 4)? as u32)
    }

    pub(crate) fn u64(&mut self, what: &'static str) -> Result<u64, ParseError> {
        self.number(what, 8)
    }
}
