//! Instants and durations.

use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};
use core::str::FromStr;

use crate::parse::{Notation, ParseQuantityError, write_scaled};

/// An instant: nanoseconds since the start of the run.
///
/// Sender and receiver may count from different starts. A receiver's clock is a `Time` too, and only differences
/// between instants of the same clock are meaningful.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than every instant that occurs: the wake-up time of a component that waits for nothing.
    pub const NEVER: Time = Time(u64::MAX);

    /// An instant `nanos` ns after the start.
    pub const fn from_nanos(nanos: u64) -> Time {
        Time(nanos)
    }

    /// An instant `micros` µs after the start.
    pub const fn from_micros(micros: u64) -> Time {
        Time(micros * 1_000)
    }

    /// An instant `millis` ms after the start.
    pub const fn from_millis(millis: u64) -> Time {
        Time(millis * 1_000_000)
    }

    /// An instant `seconds` s after the start, to the nearest nanosecond; negative values become the start.
    pub fn from_secs_f64(seconds: f64) -> Time {
        Time(libm::round(seconds.max(0.0) * 1e9) as u64)
    }

    /// Nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Whole milliseconds since the start, rounded down: the clock that link emulation runs on.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }

    /// Seconds since the start.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The time since the start as a span.
    pub const fn since_start(self) -> Span {
        Span::from_nanos(if self.0 > i64::MAX as u64 { i64::MAX } else { self.0 as i64 })
    }

    /// Returns true if this is an actual instant and not [`Time::NEVER`].
    pub const fn is_set(self) -> bool {
        self.0 != u64::MAX
    }
}

impl Add<Span> for Time {
    type Output = Time;
    /// Saturates at the start and at [`Time::NEVER`].
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add_signed(span.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Sub<Span> for Time {
    type Output = Time;
    fn sub(self, span: Span) -> Time {
        Time(self.0.saturating_add_signed(span.0.saturating_neg()))
    }
}

impl Sub<Time> for Time {
    type Output = Span;
    /// How long after `earlier` this instant is; negative if it is before.
    fn sub(self, earlier: Time) -> Span {
        if self.0 >= earlier.0 {
            Span(i64::try_from(self.0 - earlier.0).unwrap_or(i64::MAX))
        } else {
            Span(i64::try_from(earlier.0 - self.0).map_or(i64::MIN, |nanos| -nanos))
        }
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_set() { write!(f, "{:.6}s", self.as_secs_f64()) } else { f.write_str("never") }
    }
}

/// A duration of either sign, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(i64);

impl Span {
    /// A duration of zero.
    pub const ZERO: Span = Span(0);
    /// The longest span: longer than every duration that occurs.
    pub const MAX: Span = Span(i64::MAX);

    /// A span of `nanos` ns.
    pub const fn from_nanos(nanos: i64) -> Span {
        Span(nanos)
    }

    /// A span of `micros` µs.
    pub const fn from_micros(micros: i64) -> Span {
        Span(micros * 1_000)
    }

    /// A span of `millis` ms.
    pub const fn from_millis(millis: i64) -> Span {
        Span(millis * 1_000_000)
    }

    /// A span of `seconds` s.
    pub const fn from_secs(seconds: i64) -> Span {
        Span(seconds * 1_000_000_000)
    }

    /// A span of `seconds` s, to the nearest nanosecond.
    pub fn from_secs_f64(seconds: f64) -> Span {
        Span(libm::round(seconds * 1e9) as i64)
    }

    /// A span of `millis` ms, to the nearest nanosecond.
    pub fn from_millis_f64(millis: f64) -> Span {
        Span(libm::round(millis * 1e6) as i64)
    }

    /// The time between two pictures at `frames_per_second`.
    pub fn of_frame(frames_per_second: f64) -> Span {
        Span::from_secs_f64(1.0 / frames_per_second)
    }

    /// Nanoseconds.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// Whole milliseconds, rounded towards zero.
    pub const fn as_millis(self) -> i64 {
        self.0 / 1_000_000
    }

    /// This span without the part of a millisecond, for messages to people: 2102105.688us is 2.102s.
    #[must_use]
    pub const fn whole_millis(self) -> Span {
        Span::from_millis(self.as_millis())
    }

    /// Milliseconds.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The absolute value.
    pub const fn abs(self) -> Span {
        Span(self.0.saturating_abs())
    }

    /// This span times `factor`, to the nearest nanosecond.
    pub fn scale(self, factor: f64) -> Span {
        Span(libm::round(self.0 as f64 * factor) as i64)
    }

    /// This span as a multiple of `unit`.
    pub fn ratio(self, unit: Span) -> f64 {
        self.0 as f64 / unit.0 as f64
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}

impl Sub for Span {
    type Output = Span;
    fn sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
}

impl SubAssign for Span {
    fn sub_assign(&mut self, other: Span) {
        *self = *self - other;
    }
}

impl Neg for Span {
    type Output = Span;
    fn neg(self) -> Span {
        Span(self.0.saturating_neg())
    }
}

impl Mul<i64> for Span {
    type Output = Span;
    fn mul(self, factor: i64) -> Span {
        Span(self.0.saturating_mul(factor))
    }
}

impl Div<i64> for Span {
    type Output = Span;
    fn div(self, divisor: i64) -> Span {
        Span(self.0 / divisor)
    }
}

impl core::iter::Sum for Span {
    fn sum<I: Iterator<Item = Span>>(iter: I) -> Span {
        iter.fold(Span::ZERO, Add::add)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];
        if self.0 == 0 { f.write_str("0ms") } else { write_scaled(f, i128::from(self.0), &units) }
    }
}

impl FromStr for Span {
    type Err = ParseQuantityError;
    fn from_str(text: &str) -> Result<Span, ParseQuantityError> {
        const NOTATION: Notation = Notation {
            kind: "a duration",
            suffixes: &[
                ("ns", 1.0),
                ("us", 1e3),
                ("µs", 1e3),
                ("ms", 1e6),
                ("min", 60e9),
                ("s", 1e9),
                ("m", 60e9),
                ("h", 3600e9),
            ],
            units: "ns, us, ms, s, m, h",
            example: "20ms or 1.5s",
        };
        NOTATION.parse(text).map(|nanos| Span(nanos as i64))
    }
}

#[cfg(feature = "serde")]
crate::parse::serde_as_text!(Span);

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_span_without_parts_of_a_millisecond_is_short_to_read() {
        assert_eq!(Span::from_nanos(2_102_105_688).to_string(), "2102105.688us");
        assert_eq!(Span::from_nanos(2_102_105_688).whole_millis().to_string(), "2.102s");
    }

    #[test]
    fn subtracting_a_later_instant_gives_a_negative_span() {
        assert_eq!(Time::from_millis(5) - Time::from_millis(8), Span::from_millis(-3));
        assert_eq!(Time::from_millis(8) - Time::from_millis(5), Span::from_millis(3));
    }

    #[test]
    fn arithmetic_at_the_ends_saturates_instead_of_wrapping() {
        assert_eq!(Time::from_millis(1) - Span::from_millis(5), Time::ZERO);
        assert_eq!(Time::NEVER + Span::from_secs(1), Time::NEVER);
        assert_eq!(Time::NEVER - Time::ZERO, Span::MAX);
    }

    #[test]
    fn spans_are_read_and_written_with_their_unit() {
        for (text, span) in [
            ("20ms", Span::from_millis(20)),
            ("1.5s", Span::from_millis(1500)),
            ("250us", Span::from_micros(250)),
            ("-3ms", Span::from_millis(-3)),
        ] {
            assert_eq!(text.parse(), Ok(span));
            assert_eq!(span.to_string(), text);
        }
        for (text, seconds) in [("2 min", 120), ("5m", 300), ("1.5h", 5400)] {
            assert_eq!(text.parse(), Ok(Span::from_secs(seconds)));
        }
        assert_eq!("33.333333ms".parse::<Span>().unwrap().to_string(), "33333.333us");
    }

    #[test]
    fn a_duration_without_a_unit_is_refused_with_an_example() {
        let message = "20".parse::<Span>().unwrap_err().to_string();
        assert!(message.contains("'20'") && message.contains("20ms"), "{message}");
    }
}
