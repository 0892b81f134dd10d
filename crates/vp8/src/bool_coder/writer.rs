//! Encodes bools to bytes.

use super::{EVEN, Probability};

/// Number of bits written after the last bool, for readers that look ahead: as many as libvpx writes.
const FLUSHED_BITS: u32 = 32;

/// When this many bits are held, 32 of them are written out. The 16 that stay may be the last, which [`Writer::finish`]
/// drops; the maximum of 55 bits, the byte that the next bool adds to, and the carry fit into 64.
const MAX_HELD: u32 = 48;

/// Writes bools to bytes, the same ones as libvpx.
#[derive(Debug, Clone)]
pub struct Writer {
    bytes: Vec<u8>,
    interval: Interval,
    /// Length of the bytes before the first bool.
    start: usize,
}

/// The shift that brings each interval width to 128 or more: faster than counting zeros on processors without an
/// instruction for it.
const SHIFTS: [u8; 256] = {
    let mut shifts = [7; 256];
    let mut range = 1;
    while range < 256 {
        shifts[range] = (range as u8).leading_zeros() as u8;
        range += 1;
    }
    shifts
};

/// The interval of the bools so far.
#[derive(Debug, Clone, Copy)]
struct Interval {
    /// Its lower end, as far as it is not written yet; the lowest byte corresponds to `range`, and a carry may precede
    /// it.
    low: u64,
    /// Its width, 128 to 255.
    range: u32,
    /// Number of bits of `low` before its last eight.
    held: u32,
}

impl Interval {
    /// The subinterval of a bool.
    #[inline(always)]
    const fn after(self, probability: Probability, bool: bool) -> Self {
        let split = 1 + (((self.range - 1) * probability as u32) >> 8);
        let (low, range) = if bool { (self.low + split as u64, self.range - split) } else { (self.low, split) };
        let shift = SHIFTS[(range & 0xff) as usize] as u32;
        Self { low: low << shift, range: range << shift, held: self.held + shift }
    }
}

/// Writes many bools to a [`Writer`], with the interval kept in registers.
#[derive(Debug)]
pub struct Burst<'a> {
    writer: &'a mut Writer,
    interval: Interval,
}

impl Burst<'_> {
    /// Writes a bool that is false with this probability.
    #[inline(always)]
    pub fn bool(&mut self, probability: Probability, bool: bool) {
        self.interval = self.interval.after(probability, bool);
        if self.interval.held >= MAX_HELD {
            self.interval = self.writer.give(self.interval, 4);
        }
    }

    /// Writes a bool at even odds.
    #[inline(always)]
    pub fn flag(&mut self, bool: bool) {
        self.bool(EVEN, bool);
    }
}

impl Default for Writer {
    fn default() -> Self {
        Self::new()
    }
}

impl Writer {
    /// An empty writer.
    #[must_use]
    pub const fn new() -> Self {
        Self::behind(Vec::new())
    }

    /// A writer that appends to bytes. A carry never changes these.
    #[must_use]
    pub const fn behind(bytes: Vec<u8>) -> Self {
        let start = bytes.len();
        Self { bytes, interval: Interval { low: 0, range: 255, held: 0 }, start }
    }

    /// Writes a bool that is false with this probability.
    #[inline(always)]
    pub fn bool(&mut self, probability: Probability, bool: bool) {
        self.interval = self.interval.after(probability, bool);
        if self.interval.held >= MAX_HELD {
            self.interval = self.give(self.interval, 4);
        }
    }

    /// Writes the bools of `write`, faster than one by one.
    #[inline(always)]
    pub fn burst(&mut self, write: impl FnOnce(&mut Burst<'_>)) {
        let interval = self.interval;
        let mut burst = Burst { writer: self, interval };
        write(&mut burst);
        self.interval = burst.interval;
    }

    /// Writes a bool at even odds.
    #[inline]
    pub fn flag(&mut self, bool: bool) {
        self.bool(EVEN, bool);
    }

    /// Writes the lowest `bits` of a number, the most significant first: `L(n)` of the RFC.
    pub fn literal(&mut self, bits: u32, value: u32) {
        for bit in (0..bits).rev() {
            self.flag(value >> bit & 1 == 1);
        }
    }

    /// Writes a magnitude of some bits and a sign.
    pub fn signed(&mut self, bits: u32, value: i8) {
        self.literal(bits, u32::from(value.unsigned_abs()));
        self.flag(value < 0);
    }

    /// Writes whether there is a value, and the value if there is.
    pub fn optional<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            write(self, value);
        }
    }

    /// Number of bits of the bools so far, without those that [`finish`](Self::finish) adds.
    #[must_use]
    pub const fn bits(&self) -> usize {
        (self.bytes.len() - self.start) * 8 + self.interval.held as usize
    }

    /// The bytes, after the last bool.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        self.literal(FLUSHED_BITS, 0);
        // libvpx does not write the last 16 to 23 bits, which are all zero.
        let bytes = (self.bits() - 16) / 8;
        self.give(self.interval, bytes - (self.bytes.len() - self.start));
        self.bytes
    }

    /// Writes out the first bytes (at most 4) of an interval's held bits. Returns the remaining interval.
    #[inline(never)]
    fn give(&mut self, Interval { low, range, held }: Interval, bytes: usize) -> Interval {
        let kept = held + 8 - 8 * bytes as u32;
        let given = low >> kept;
        if given >> (8 * bytes) != 0 {
            self.carry();
        }
        self.bytes.extend_from_slice(&(given as u32).to_be_bytes()[4 - bytes..]);
        Interval { low: low & ((1 << kept) - 1), range, held: held - 8 * bytes as u32 }
    }

    /// Adds one to the written bytes, as to one number.
    #[cold]
    fn carry(&mut self) {
        for byte in self.bytes[self.start..].iter_mut().rev() {
            *byte = byte.wrapping_add(1);
            if *byte != 0 {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Reader;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_is_a_byte_and_even_bools_are_their_bits() {
        assert_eq!(Writer::new().finish(), [0]);
        let mut writer = Writer::new();
        writer.literal(32, 0x1234_5678);
        let bytes = writer.finish();
        assert_eq!(Reader::new(&bytes).literal(32), 0x1234_5678);
    }

    #[test]
    fn a_reader_is_past_the_end_once_it_takes_bits_that_are_not_there() {
        assert!(Reader::new(&[]).is_past_end());
        let mut reader = Reader::new(&[0, 0, 0]);
        // At even odds each false bool takes one bit; the first takes none, as the range is 255 of 256.
        let before = (0..100).take_while(|_| !reader.is_past_end() && !reader.flag()).count();
        assert_eq!(before, 18);
        assert_eq!(reader.literal(32), 0);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            bools in prop::collection::vec((any::<u8>(), any::<bool>()), 0..2000),
            signed in -63i8..64,
        ) {
            let mut writer = Writer::new();
            bools.iter().for_each(|&(probability, bool)| writer.bool(probability.max(1), bool));
            writer.signed(6, signed);
            writer.optional(Some(5), |writer, value| writer.literal(4, value));
            writer.optional(None::<u32>, |writer, value| writer.literal(4, value));
            let bytes = writer.finish();
            let mut reader = Reader::new(&bytes);
            for &(probability, bool) in &bools {
                prop_assert_eq!(reader.bool(probability.max(1)), bool);
            }
            prop_assert_eq!(reader.signed(6), signed);
            prop_assert_eq!(reader.optional(|reader| reader.literal(4)), Some(5));
            prop_assert_eq!(reader.optional(|reader| reader.literal(4)), None);
            prop_assert!(!reader.is_past_end());
        }

        #[test]
        fn improbable_bools_carry_through_all_bytes(length in 0usize..300) {
            let mut writer = Writer::new();
            (0..length).for_each(|_| writer.bool(1, true));
            writer.bool(255, true);
            (0..length).for_each(|_| writer.bool(255, true));
            let bytes = writer.finish();
            let mut reader = Reader::new(&bytes);
            prop_assert!((0..length).all(|_| reader.bool(1)));
            prop_assert!(reader.bool(255));
            prop_assert!((0..length).all(|_| reader.bool(255)));
        }
    }
}
