//! Time in NTP format (RFC 3550 section 4).

use thalweg_units::{Span, Time};

/// A time in 2^-32 s, 64 bits. RTCP counts from 1900 where it has a wall clock; any other origin is allowed (RFC 3550
/// section 6.4.1), and here it is the origin of [`Time`] unless the caller adds an offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct NtpTime(u64);

impl NtpTime {
    /// The time with these 64 bits: seconds in the upper half, their fraction in the lower.
    pub const fn from_bits(bits: u64) -> NtpTime {
        NtpTime(bits)
    }

    /// The NTP time of `time`, rounded down to 2^-32 s.
    pub fn at(time: Time) -> NtpTime {
        // 2^64 ns are 1.8e10 s: seconds wrap in the upper half as NTP eras do.
        NtpTime(((u128::from(time.as_nanos()) << 32) / 1_000_000_000) as u64)
    }

    /// The 64 bits.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// The middle 32 bits, which reports repeat.
    pub const fn short(self) -> NtpShort {
        NtpShort((self.0 >> 16) as u32)
    }
}

/// The middle bits of an [`NtpTime`], or a duration: units of 2^-16 s (15.3 µs), 32 bits; wraps after 18.2 h.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct NtpShort(u32);

impl NtpShort {
    /// The value with these 32 bits, in 2^-16 s.
    pub const fn from_bits(bits: u32) -> NtpShort {
        NtpShort(bits)
    }

    /// The time `time`, rounded down.
    pub fn at(time: Time) -> NtpShort {
        NtpTime::at(time).short()
    }

    /// The duration `span`, rounded down; zero if negative, and the max of 18.2 h if longer.
    pub fn of(span: Span) -> NtpShort {
        let nanos = u128::try_from(span.as_nanos()).unwrap_or(0);
        NtpShort(u32::try_from((nanos << 16) / 1_000_000_000).unwrap_or(u32::MAX))
    }

    /// The 32 bits.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// As a duration, rounded down to 1 ns.
    pub fn span(self) -> Span {
        Span::from_nanos((i64::from(self.0) * 1_000_000_000) >> 16)
    }

    /// The time from `earlier` to this, for times less than 18.2 h apart; the round-trip time of RFC 3550 section 6.4.1
    /// is `NtpShort::at(now).since(last_report).since(delay)`.
    pub const fn since(self, earlier: NtpShort) -> NtpShort {
        NtpShort(self.0.wrapping_sub(earlier.0))
    }
}

/// `time` in 2^-16 s, rounded down: an [`NtpShort`] that does not wrap.
pub(super) fn units(time: Time) -> u64 {
    ((u128::from(time.as_nanos()) << 16) / 1_000_000_000) as u64
}

/// The time at this many 2^-16 s, rounded down to 1 ns.
pub(super) fn instant(units: u64) -> Time {
    Time::from_nanos(u64::try_from((u128::from(units) * 1_000_000_000) >> 16).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_round_trip_of_rfc_3550_comes_out() {
        // Figure 2: received at 0xb710:8000, last SR 0xb705:2000, delay 5.25 s; the round-trip time is 6.125 s.
        let received = NtpShort::from_bits(0xb710_8000);
        let delay = NtpShort::of(Span::from_millis(5250));
        assert_eq!(delay.bits(), 0x0005_4000);
        assert_eq!(received.since(NtpShort::from_bits(0xb705_2000)).since(delay).span(), Span::from_millis(6125));
    }

    #[test]
    fn half_a_second_is_half_of_the_lower_part() {
        assert_eq!(NtpTime::at(Time::from_millis(1500)).bits(), 0x1_8000_0000);
        assert_eq!(NtpShort::at(Time::from_millis(1500)).bits(), 0x1_8000);
        assert_eq!(NtpShort::of(Span::from_millis(-1)).bits(), 0);
        assert_eq!(NtpShort::of(Span::MAX).bits(), u32::MAX);
    }

    proptest! {
        #[test]
        fn a_duration_loses_less_than_a_tick(nanos in 0i64..65_535_000_000_000) {
            let span = Span::from_nanos(nanos);
            let lost = span - NtpShort::of(span).span();
            prop_assert!(lost >= Span::ZERO && lost <= Span::from_nanos(15_260), "{}", lost);
        }
    }
}
