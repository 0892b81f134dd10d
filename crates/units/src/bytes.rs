//! Amounts of data.

use core::fmt;
use core::ops::{Add, AddAssign, Mul, Sub, SubAssign};
use core::str::FromStr;

use crate::parse::{Notation, ParseQuantityError, write_scaled};

/// An amount of data in bytes. For a packet: its size on the wire with every header from IP upwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(u64);

impl Bytes {
    /// Zero bytes.
    pub const ZERO: Bytes = Bytes(0);
    /// The largest amount: more than any queue holds.
    pub const MAX: Bytes = Bytes(u64::MAX);

    /// `count` bytes.
    pub const fn new(count: u64) -> Bytes {
        Bytes(count)
    }

    /// The number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The number of bytes as a float, for ratios.
    pub const fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// The number of bits.
    pub const fn bits(self) -> u64 {
        self.0.saturating_mul(8)
    }

    /// This amount times `factor`, to the nearest byte; zero for negative factors.
    pub fn scale(self, factor: f64) -> Bytes {
        Bytes(libm::round(self.0 as f64 * factor).max(0.0) as u64)
    }

    /// The difference, or zero when `other` is larger.
    pub const fn saturating_sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_sub(other.0))
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        *self = *self + other;
    }
}

impl Sub for Bytes {
    type Output = Bytes;
    /// # Panics
    /// In debug builds when `other` is larger: a byte count below zero is a bug in its owner.
    fn sub(self, other: Bytes) -> Bytes {
        debug_assert!(self.0 >= other.0, "{self} minus {other}");
        Bytes(self.0.saturating_sub(other.0))
    }
}

impl SubAssign for Bytes {
    fn sub_assign(&mut self, other: Bytes) {
        *self = *self - other;
    }
}

impl Mul<u64> for Bytes {
    type Output = Bytes;
    fn mul(self, factor: u64) -> Bytes {
        Bytes(self.0.saturating_mul(factor))
    }
}

impl core::iter::Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(iter: I) -> Bytes {
        iter.fold(Bytes::ZERO, Add::add)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(f, i128::from(self.0), &[("MB", 1_000_000), ("kB", 1_000), ("B", 1)])
    }
}

impl FromStr for Bytes {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Bytes, ParseQuantityError> {
        const NOTATION: Notation = Notation {
            kind: "an amount of data",
            suffixes: &[("KiB", 1024.0), ("MiB", 1_048_576.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("B", 1.0)],
            units: "B, kB, MB, KiB, MiB",
            example: "1500B or 64kB",
        };
        NOTATION.parse_unsigned(text).map(Bytes)
    }
}

#[cfg(feature = "serde")]
crate::parse::serde_as_text!(Bytes);

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn amounts_are_read_and_written_with_their_unit() {
        for (text, bytes) in [("1.5kB", 1500), ("64kB", 64_000), ("1.5MB", 1_500_000), ("200B", 200)] {
            assert_eq!(text.parse(), Ok(Bytes::new(bytes)));
            assert_eq!(Bytes::new(bytes).to_string(), text);
        }
        assert_eq!("2KiB".parse(), Ok(Bytes::new(2048)));
        assert!("-1B".parse::<Bytes>().is_err());
    }
}
