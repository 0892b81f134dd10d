//! Decodes bools from bytes.

use super::{EVEN, Probability};

/// Number of bits in the window.
const WINDOW: i32 = 64;

/// Added to the count of bits at the end of the data, from where zeros are read: more than any frame has.
const ENDLESS: i32 = 1 << 30;

/// Reads bools from a slice. After the end of the slice it reads zeros without limit, as libvpx does; see
/// [`is_past_end`](Self::is_past_end).
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    /// The bytes that are not in the window yet.
    rest: &'a [u8],
    /// The code minus the lower end of the current interval; its first bit is the most significant.
    value: u64,
    /// The width of the current interval, 128 to 255.
    range: u32,
    /// Number of bits in the window beyond the first eight, which the next bool needs; negative when it must be
    /// refilled.
    spare: i32,
}

impl<'a> Reader<'a> {
    /// A reader from the first byte of `bytes`.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        let mut reader = Self { rest: bytes, value: 0, range: 255, spare: -8 };
        reader.fill();
        reader
    }

    /// Returns true if a bool depended on bits after the last byte: the data is truncated or corrupt. (Exactly: if
    /// fewer than eight bits are left. The last bytes of an encoder exist only to prevent this.)
    #[must_use]
    pub const fn is_past_end(&self) -> bool {
        let has_ended = self.spare > WINDOW;
        (has_ended && self.spare < ENDLESS) || (!has_ended && self.rest.is_empty() && self.spare < 0)
    }

    /// The next bool, which is false with this probability.
    #[inline(always)]
    pub fn bool(&mut self, probability: Probability) -> bool {
        if self.spare < 0 {
            self.fill();
        }
        let split = 1 + (((self.range - 1) * u32::from(probability)) >> 8);
        let wide_split = u64::from(split) << (WINDOW - 8);
        let bool = self.value >= wide_split;
        if bool {
            self.range -= split;
            self.value -= wide_split;
        } else {
            self.range = split;
        }
        let shift = self.range.leading_zeros() - 24;
        self.range <<= shift;
        self.value <<= shift;
        self.spare -= shift as i32;
        bool
    }

    /// The next bool, at even odds.
    #[inline(always)]
    pub fn flag(&mut self) -> bool {
        self.bool(EVEN)
    }

    /// An unsigned number of some bits (at most 32), the most significant first: `L(n)` of the RFC.
    pub fn literal(&mut self, bits: u32) -> u32 {
        (0..bits).fold(0, |value, _| value << 1 | u32::from(self.flag()))
    }

    /// A number of at most 8 bits.
    pub fn small(&mut self, bits: u32) -> u8 {
        debug_assert!(bits <= 8);
        self.literal(bits) as u8
    }

    /// A magnitude of some bits (at most 7) and a sign.
    pub fn signed(&mut self, bits: u32) -> i8 {
        let magnitude = self.small(bits) as i8;
        if self.flag() { -magnitude } else { magnitude }
    }

    /// A value that is only present if a flag before it is set.
    pub fn optional<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.flag().then(|| read(self))
    }

    /// Refills the window.
    #[inline(always)]
    fn fill(&mut self) {
        *self = filled(self.rest, self.value, self.range, self.spare);
    }
}

/// A reader with a refilled window. (It is not a method that modifies the reader: without a reference to it, the
/// compiler keeps it in registers.)
#[cold]
#[inline(never)]
fn filled(mut rest: &[u8], mut value: u64, range: u32, mut spare: i32) -> Reader<'_> {
    // The free bits of the window are those after the first `spare + 8`.
    if let Some((bytes, _)) = rest.split_first_chunk::<8>() {
        let held = spare + 8;
        let taken = (WINDOW - held) / 8;
        let bits = u64::from_be_bytes(*bytes) >> (WINDOW - taken * 8) << (WINDOW - taken * 8);
        value |= bits >> held;
        return Reader { rest: &rest[taken as usize..], value, range, spare: spare + taken * 8 };
    }
    while spare < WINDOW - 8 - 7 {
        let Some((&byte, after)) = rest.split_first() else {
            return Reader { rest, value, range, spare: spare + ENDLESS };
        };
        value |= u64::from(byte) << (WINDOW - 16 - spare);
        spare += 8;
        rest = after;
    }
    Reader { rest, value, range, spare }
}
