//! Bit rates.

use core::fmt;
use core::ops::{Add, Sub};
use core::str::FromStr;

use crate::parse::{Notation, ParseQuantityError, write_scaled};
use crate::{Bytes, Span};

/// A bit rate, in bits per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Rate(u64);

impl Rate {
    /// 0 bit/s.
    pub const ZERO: Rate = Rate(0);
    /// The largest rate: faster than every path.
    pub const MAX: Rate = Rate(u64::MAX);

    /// `bps` bit/s.
    pub const fn from_bps(bps: u64) -> Rate {
        Rate(bps)
    }

    /// `kbps` kbit/s (1 kbit = 1000 bits).
    pub const fn from_kbps(kbps: u64) -> Rate {
        Rate(kbps * 1_000)
    }

    /// `mbps` Mbit/s, to the nearest bit/s; negative values become zero.
    pub fn from_mbps_f64(mbps: f64) -> Rate {
        Rate::from_bps_f64(mbps * 1e6)
    }

    /// `bps` bit/s, to the nearest integer; negative values and NaN become zero.
    pub fn from_bps_f64(bps: f64) -> Rate {
        Rate(libm::round(bps).max(0.0) as u64)
    }

    /// Bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Bits per second as a float, for ratios.
    pub const fn as_bps_f64(self) -> f64 {
        self.0 as f64
    }

    /// Kilobits per second.
    pub fn as_kbps_f64(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// Megabits per second.
    pub fn as_mbps_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// The amount of data transferred in `span`, rounded down; zero for a negative span.
    pub fn over(self, span: Span) -> Bytes {
        if span <= Span::ZERO {
            return Bytes::ZERO;
        }
        let bits = u128::from(self.0) * span.as_nanos() as u128;
        Bytes::new(u64::try_from(bits / 8_000_000_000).unwrap_or(u64::MAX))
    }

    /// The time that `bytes` take at this rate, to the nearest nanosecond; [`Span::MAX`] at rate zero.
    pub fn time_for(self, bytes: Bytes) -> Span {
        if self.0 == 0 {
            return if bytes == Bytes::ZERO { Span::ZERO } else { Span::MAX };
        }
        let nanos = (u128::from(bytes.bits()) * 1_000_000_000 + u128::from(self.0 / 2)) / u128::from(self.0);
        Span::from_nanos(i64::try_from(nanos).unwrap_or(i64::MAX))
    }

    /// This rate times `factor`, to the nearest bit/s.
    pub fn scale(self, factor: f64) -> Rate {
        Rate::from_bps_f64(self.0 as f64 * factor)
    }

    /// The difference, or zero when `other` is larger.
    pub const fn saturating_sub(self, other: Rate) -> Rate {
        Rate(self.0.saturating_sub(other.0))
    }
}

impl Add for Rate {
    type Output = Rate;
    fn add(self, other: Rate) -> Rate {
        Rate(self.0.saturating_add(other.0))
    }
}

impl Sub for Rate {
    type Output = Rate;
    /// Saturates at zero.
    fn sub(self, other: Rate) -> Rate {
        self.saturating_sub(other)
    }
}

/// Defined here because the module of `Bytes` does not depend on rates.
impl Bytes {
    /// The rate that transfers this amount in `span`; zero for an empty or negative span.
    pub fn per(self, span: Span) -> Rate {
        if span <= Span::ZERO {
            return Rate::ZERO;
        }
        let bits = u128::from(self.bits()) * 1_000_000_000;
        Rate::from_bps(u64::try_from(bits / span.as_nanos() as u128).unwrap_or(u64::MAX))
    }
}

impl core::iter::Sum for Rate {
    fn sum<I: Iterator<Item = Rate>>(iter: I) -> Rate {
        iter.fold(Rate::ZERO, Add::add)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("Gbps", 1_000_000_000), ("Mbps", 1_000_000), ("kbps", 1_000), ("bps", 1)];
        write_scaled(f, i128::from(self.0), &units)
    }
}

impl FromStr for Rate {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Rate, ParseQuantityError> {
        const NOTATION: Notation = Notation {
            kind: "a bit rate",
            suffixes: &[
                ("kbit/s", 1e3),
                ("Mbit/s", 1e6),
                ("Gbit/s", 1e9),
                ("bit/s", 1.0),
                // As tc(8) and ffmpeg have them.
                ("kbit", 1e3),
                ("Mbit", 1e6),
                ("Gbit", 1e9),
                ("kbps", 1e3),
                ("Mbps", 1e6),
                ("Gbps", 1e9),
                ("bps", 1.0),
                ("k", 1e3),
                ("M", 1e6),
                ("G", 1e9),
            ],
            units: "bps, kbps, Mbps, Gbps",
            example: "1.5Mbps or 500kbps",
        };
        NOTATION.parse_unsigned(text).map(Rate)
    }
}

#[cfg(feature = "serde")]
crate::parse::serde_as_text!(Rate);

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use proptest::prelude::*;

    #[test]
    fn sixty_kilobytes_in_eighty_milliseconds_are_six_megabits_per_second() {
        assert_eq!(Bytes::new(60_000).per(Span::from_millis(80)), Rate::from_kbps(6000));
        assert_eq!(Bytes::new(60_000).per(Span::ZERO), Rate::ZERO);
    }

    #[test]
    fn the_pacing_gaps_of_the_vidaptive_spec_come_out() {
        let rate = Rate::from_kbps(6000);
        assert_eq!(rate.time_for(Bytes::new(1200)), Span::from_micros(1600));
        assert_eq!(rate.time_for(Bytes::new(200)), Span::from_nanos(266_667));
    }

    #[test]
    fn rates_are_read_and_written_with_their_unit() {
        for (text, kbps) in [("1M", 1000), ("1.5M", 1500), ("500k", 500), ("2G", 2_000_000)] {
            assert_eq!(text.parse(), Ok(Rate::from_kbps(kbps)));
        }
        for (text, bps) in [("1.5Mbps", 1_500_000), ("500kbps", 500_000), ("4.95Mbps", 4_950_000), ("7bps", 7)] {
            assert_eq!(text.parse(), Ok(Rate::from_bps(bps)));
            assert_eq!(Rate::from_bps(bps).to_string(), text);
        }
        assert_eq!("2 Mbit/s".parse(), Ok(Rate::from_kbps(2000)));
        let message = "fast".parse::<Rate>().unwrap_err().to_string();
        assert!(message.contains("'fast'") && message.contains("1.5Mbps"), "{message}");
    }

    proptest! {
        #[test]
        fn every_rate_survives_being_written_and_read(bps in 0u64..1_000_000_000_000) {
            let rate = Rate::from_bps(bps);
            let back: Rate = rate.to_string().parse().unwrap();
            prop_assert_eq!(back, rate);
        }

        #[test]
        fn sending_for_the_time_an_amount_takes_sends_that_amount(bps in 1_000u64..1_000_000_000, bytes in 1u64..1_000_000) {
            let rate = Rate::from_bps(bps);
            let sent = rate.over(rate.time_for(Bytes::new(bytes)));
            prop_assert!(sent.get().abs_diff(bytes) <= 1, "{} of {}", sent, bytes);
        }
    }
}
