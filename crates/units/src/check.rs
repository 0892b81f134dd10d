//! Checks of configuration values. Each error states how to correct the value.

use alloc::format;
use alloc::string::String;
use core::fmt::Display;
use core::ops::{Bound, RangeBounds};

use crate::ConfigError;

/// A value and the name of its field, ready to check: [`Check::within`] a range, or [`Check::is`] for any other
/// condition.
///
/// ```
/// use thalweg_units::{Span, above_to, check};
///
/// let refused = check("smoothing.gain", f64::NAN).within(above_to(0.0, 1.0), "0.5").unwrap_err();
/// assert_eq!(refused.to_string(), "smoothing.gain is NaN, must be above 0 and at most 1, such as 0.5");
/// assert_eq!(check("window", Span::from_secs(1)).within(Span::from_millis(1).., "5s"), Ok(()));
/// ```
pub fn check<T: Display>(field: &str, value: T) -> Check<'_, T> {
    Check { field, value }
}

/// See [`check`].
#[derive(Debug)]
#[must_use = "a check refuses nothing by itself"]
pub struct Check<'a, T> {
    field: &'a str,
    value: T,
}

impl<T: Display> Check<'_, T> {
    /// Passes if `holds`, the condition that must be true. State what the value must be, not what it must not be, so
    /// that a NaN is refused. `range` describes the condition in words, preferably with an example.
    ///
    /// # Errors
    /// When `holds` is false.
    pub fn is(self, holds: bool, range: impl Display) -> Result<(), ConfigError> {
        if holds { Ok(()) } else { Err(ConfigError::out_of_range(self.field, self.value, range)) }
    }

    /// Passes if the value is inside `range`; `example` is a valid value for the error message.
    ///
    /// # Errors
    /// When it is outside, or a NaN.
    pub fn within(self, range: impl RangeBounds<T>, example: &str) -> Result<(), ConfigError>
    where
        T: PartialOrd,
    {
        let holds = range.contains(&self.value);
        if holds { Ok(()) } else { self.is(false, format!("{}, such as {example}", in_words(&range))) }
    }
}

fn in_words<T: Display>(range: &impl RangeBounds<T>) -> String {
    let from = match range.start_bound() {
        Bound::Included(from) => format!("at least {from}"),
        Bound::Excluded(from) => format!("above {from}"),
        Bound::Unbounded => String::new(),
    };
    let to = match (range.start_bound(), range.end_bound()) {
        (Bound::Included(from), Bound::Included(to)) => return format!("{from} to {to}"),
        (_, Bound::Included(to)) => format!("at most {to}"),
        (_, Bound::Excluded(to)) => format!("below {to}"),
        (_, Bound::Unbounded) => return from,
    };
    if from.is_empty() { to } else { format!("{from} and {to}") }
}

/// The range of values greater than `from`.
pub fn above<T>(from: T) -> (Bound<T>, Bound<T>) {
    (Bound::Excluded(from), Bound::Unbounded)
}

/// The range of values greater than `from` and at most `to`.
pub fn above_to<T>(from: T, to: T) -> (Bound<T>, Bound<T>) {
    (Bound::Excluded(from), Bound::Included(to))
}

/// The range of values greater than `from` and less than `to`.
pub fn between<T>(from: T, to: T) -> (Bound<T>, Bound<T>) {
    (Bound::Excluded(from), Bound::Excluded(to))
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    fn refused(range: impl RangeBounds<f64>, value: f64) -> String {
        check("gain", value).within(range, "the default").unwrap_err().to_string()
    }

    #[test]
    fn every_kind_of_range_refuses_what_is_outside_it_and_says_where_it_ends() {
        assert_eq!(refused(1.0..=2.0, 2.5), "gain is 2.5, must be 1 to 2, such as the default");
        assert_eq!(refused(1.0..2.0, 2.0), "gain is 2, must be at least 1 and below 2, such as the default");
        assert_eq!(refused(..2.0, 3.0), "gain is 3, must be below 2, such as the default");
        assert_eq!(
            refused(0.0..f64::INFINITY, f64::INFINITY),
            "gain is inf, must be at least 0 and below inf, such as the default"
        );
        assert_eq!(refused(above(0.0), 0.0), "gain is 0, must be above 0, such as the default");
        assert_eq!(refused(above_to(0.0, 1.0), 1.5), "gain is 1.5, must be above 0 and at most 1, such as the default");
        assert_eq!(refused(between(0.0, 1.0), 1.0), "gain is 1, must be above 0 and below 1, such as the default");
        assert_eq!(refused(0.5.., f64::NAN), "gain is NaN, must be at least 0.5, such as the default");
    }

    #[test]
    fn what_is_inside_passes() {
        for range in [(Bound::Included(1.0), Bound::Included(1.0)), above_to(0.0, 1.0), between(0.0, 2.0), above(0.5)] {
            assert_eq!(check("gain", 1.0).within(range, "1"), Ok(()));
        }
        assert_eq!(check("gains", "1 and 2").is(true, "ascending"), Ok(()));
        assert_eq!(
            check("gains", "2 and 1").is(false, "ascending").unwrap_err().to_string(),
            "gains is 2 and 1, must be ascending"
        );
    }
}
