//! Bit fields that are not whole bytes.

use alloc::vec::Vec;

use crate::ParseError;

/// Reads bits, most significant bit first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BitReader<'a> {
    bytes: &'a [u8],
    /// Number of bits read.
    at: usize,
}

impl<'a> BitReader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> BitReader<'a> {
        BitReader { bytes, at: 0 }
    }

    /// `f(count)` of at most 32 bits.
    ///
    /// # Errors
    /// When fewer bits are left.
    pub(crate) fn bits(&mut self, what: &'static str, count: usize) -> Result<u32, ParseError> {
        if self.at + count > 8 * self.bytes.len() {
            let (at, found) = (self.at / 8, self.bytes.len() - self.at / 8);
            return Err(ParseError::Short { what, at, needed: (self.at % 8 + count).div_ceil(8), found });
        }
        let value = (self.at..self.at + count).fold(0, |value, at| {
            let bit = self.bytes[at / 8] >> (7 - at % 8) & 1;
            value << 1 | u32::from(bit)
        });
        self.at += count;
        Ok(value)
    }

    pub(crate) fn flag(&mut self, what: &'static str) -> Result<bool, ParseError> {
        Ok(self.bits(what, 1)? == 1)
    }

    /// `ns(count)`: one of this many values, at least 1, in as few bits as distinguish them.
    ///
    /// # Errors
    /// When fewer bits are left.
    pub(crate) fn one_of(&mut self, what: &'static str, count: u32) -> Result<u32, ParseError> {
        let (width, short) = widths(count);
        let value = self.bits(what, width - 1)?;
        if value < short {
            return Ok(value);
        }
        Ok((value << 1) - short + self.bits(what, 1)?)
    }
}

/// Bits of the longer codes of `ns(count)`, and the number of values whose code is one bit shorter.
fn widths(count: u32) -> (usize, u32) {
    let width = count.ilog2() + 1;
    (width as usize, (1u32 << width).saturating_sub(count))
}

/// Writes bits, most significant bit first.
#[derive(Debug, Default)]
pub(crate) struct BitWriter {
    bytes: Vec<u8>,
    /// Number of bits written.
    at: usize,
}

impl BitWriter {
    /// Writes the low `count` bits of `value`.
    pub(crate) fn bits(&mut self, value: u32, count: usize) {
        for place in (0..count).rev() {
            if self.at.is_multiple_of(8) {
                self.bytes.push(0);
            }
            if let Some(last) = self.bytes.last_mut() {
                *last |= ((value >> place & 1) as u8) << (7 - self.at % 8);
            }
            self.at += 1;
        }
    }

    pub(crate) fn flag(&mut self, is: bool) {
        self.bits(is.into(), 1);
    }

    /// Writes `value` as `ns(count)`; it must be below `count`.
    pub(crate) fn one_of(&mut self, value: u32, count: u32) {
        let (width, short) = widths(count);
        if value < short {
            self.bits(value, width - 1);
        } else {
            self.bits(value + short, width);
        }
    }

    /// The bytes; the last one is filled up with zeros.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut out = BitWriter::default();
        out.bits(5, 3);
        out.flag(true);
        out.bits(0x1234, 16);
        let bytes = out.finish();
        assert_eq!(bytes, [0xb1, 0x23, 0x40]);
        let mut reader = BitReader::new(&bytes);
        assert_eq!(
            (reader.bits("three", 3), reader.flag("flag"), reader.bits("word", 16)),
            (Ok(5), Ok(true), Ok(0x1234))
        );
        assert_eq!(reader.bits("five", 5), Err(ParseError::Short { what: "five", at: 2, needed: 2, found: 1 }));
    }

    #[test]
    fn one_of_five_takes_two_bits_or_three() {
        // AV1 section 4.10.7: with 5 values, 0 to 2 have two bits, 3 and 4 three.
        let code = |value| {
            let mut out = BitWriter::default();
            out.one_of(value, 5);
            (out.at, out.finish()[0])
        };
        let codes = [(2, 0b0000_0000), (2, 0b0100_0000), (2, 0b1000_0000), (3, 0b1100_0000), (3, 0b1110_0000)];
        for (value, expected) in (0..).zip(codes) {
            assert_eq!(code(value), expected, "{value}");
        }
    }

    #[test]
    fn one_of_any_number_comes_back_and_of_one_takes_nothing() {
        for count in 1..70 {
            for value in 0..count {
                let mut out = BitWriter::default();
                out.one_of(value, count);
                out.bits(1, 1);
                let bytes = out.finish();
                let mut reader = BitReader::new(&bytes);
                assert_eq!(
                    (reader.one_of("value", count), reader.bits("end", 1)),
                    (Ok(value), Ok(1)),
                    "{value} of {count}"
                );
                assert!(count > 1 || bytes == [0x80]);
            }
        }
    }
}
