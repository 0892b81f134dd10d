//! The absolute send time of a packet.

use thalweg_units::Time;

use super::wrong_length;
use crate::ParseError;

/// When a packet was sent, in 2^-18 s modulo 64 s (24 bits).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AbsoluteSendTime(u32);

impl AbsoluteSendTime {
    /// The time `time`, rounded down to the tick of 3.8 µs.
    pub fn at(time: Time) -> AbsoluteSendTime {
        let ticks = (u128::from(time.as_nanos()) << 18) / 1_000_000_000;
        AbsoluteSendTime((ticks & 0xff_ffff) as u32)
    }

    /// The 24 bits.
    pub fn ticks(self) -> u32 {
        self.0
    }

    /// Parses the 3 bytes.
    ///
    /// # Errors
    /// Any other length.
    pub fn parse(data: &[u8]) -> Result<AbsoluteSendTime, ParseError> {
        match *data {
            [a, b, c] => Ok(AbsoluteSendTime(u32::from_be_bytes([0, a, b, c]))),
            _ => Err(wrong_length("absolute send time", data, 3, 3)),
        }
    }

    /// Serialises the extension.
    pub fn to_bytes(self) -> [u8; 3] {
        let [_, a, b, c] = self.0.to_be_bytes();
        [a, b, c]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_send_time_counts_quarter_millionths_of_a_second_and_wraps_at_64_s() {
        assert_eq!(AbsoluteSendTime::at(Time::from_millis(1000)).to_bytes(), [0x04, 0, 0]);
        assert_eq!(AbsoluteSendTime::at(Time::from_millis(500)).ticks(), 1 << 17);
        assert_eq!(AbsoluteSendTime::at(Time::from_millis(64_250)).ticks(), 1 << 16);
        assert_eq!(AbsoluteSendTime::parse(&[0x04, 0, 0]), Ok(AbsoluteSendTime::at(Time::from_millis(65_000))));
        assert!(AbsoluteSendTime::parse(&[0; 4]).is_err());
    }

    proptest! {
        #[test]
        fn every_24_bits_are_a_send_time(bytes: [u8; 3]) {
            prop_assert_eq!(AbsoluteSendTime::parse(&bytes).unwrap().to_bytes(), bytes);
        }
    }
}
