//! Exponential-Golomb codes in parameter sets and slice headers (ITU-T H.264 sections 7.2 and 9.1).

use alloc::vec::Vec;

use crate::bits::BitReader;

/// Max number of leading zeros of a code whose number fits into 32 bits.
const MAX_ZEROS: usize = 31;

/// The content of a NAL unit without emulation prevention bytes (section 7.4.1).
pub(super) fn unescaped(unit: &[u8]) -> Vec<u8> {
    let (mut bytes, mut zeros) = (Vec::with_capacity(unit.len()), 0);
    for byte in unit {
        if zeros >= 2 && *byte == 3 {
            zeros = 0;
            continue;
        }
        zeros = if *byte == 0 { zeros + 1 } else { 0 };
        bytes.push(*byte);
    }
    bytes
}

/// Reads codes; each is `None` at the end of the bytes.
pub(super) struct Codes<'a>(BitReader<'a>);

impl<'a> Codes<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Codes<'a> {
        Codes(BitReader::new(bytes))
    }

    /// `u(count)`, of up to 32.
    pub(super) fn bits(&mut self, count: usize) -> Option<u32> {
        self.0.bits("code", count).ok()
    }

    /// `u(1)`.
    pub(super) fn flag(&mut self) -> Option<bool> {
        self.0.flag("flag").ok()
    }

    /// `ue(v)`: leading zeros, a one, and as many bits as there were zeros; `None` beyond 31 zeros.
    pub(super) fn unsigned(&mut self) -> Option<u32> {
        let mut zeros = 0;
        while !self.flag()? {
            zeros += 1;
            if zeros > MAX_ZEROS {
                return None;
            }
        }
        Some((1 << zeros) - 1 + self.bits(zeros)?)
    }

    /// `se(v)`: 0, 1, -1, 2, -2 and so on (section 9.1.1).
    pub(super) fn signed(&mut self) -> Option<i64> {
        let code = i64::from(self.unsigned()?);
        Some(if code % 2 == 1 { code / 2 + 1 } else { -code / 2 })
    }
}

/// The number at the beginning of `bytes`, `ue(v)` of section 9.1; `None` if they are too short or it does not fit into
/// 32 bits.
pub fn exponential_golomb(bytes: &[u8]) -> Option<u32> {
    Codes::new(bytes).unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_codes_of_the_standards_table_are_read() {
        // Table 9-2: 1, 010, 011, 00100, ..., 0001010.
        let codes = [0b1000_0000, 0b0100_0000, 0b0110_0000, 0b0010_0000, 0b0010_1000, 0b0011_0000, 0b0011_1000];
        for (value, code) in (0..).zip(codes) {
            assert_eq!(exponential_golomb(&[code]), Some(value));
        }
        assert_eq!(exponential_golomb(&[0b0001_0100]), Some(9));
        assert_eq!(exponential_golomb(&[0, 0, 0x80, 0, 0x80]), Some(65_536), "16 zeros, a one, 16 bits");
        assert_eq!(exponential_golomb(&[0, 0, 0, 1, 0xff, 0xff, 0xff, 0xfe]), Some(u32::MAX - 1), "31 zeros");
        assert_eq!(exponential_golomb(&[0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff]), None, "32 zeros");
        assert_eq!(exponential_golomb(&[0b0000_0100]), None);
        assert_eq!(exponential_golomb(&[]), None);
    }

    #[test]
    fn signed_codes_alternate() {
        // Table 9-3, the codes of 0 to 4 one after another.
        let mut codes = Codes::new(&[0b1010_0110, 0b0100_0010, 0b1000_0000]);
        assert_eq!([(); 5].map(|()| codes.signed()), [0, 1, -1, 2, -2].map(Some));
    }

    #[test]
    fn a_three_behind_two_zeros_is_left_out() {
        assert_eq!(unescaped(&[3, 0, 0, 3, 1, 0, 0, 3, 3, 0, 0, 3]), [3, 0, 0, 1, 0, 0, 3, 0, 0]);
    }
}
