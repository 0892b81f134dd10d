//! Durations on the wire: whole microseconds, not negative.

use thalweg_units::Span;

use crate::WriteError;

/// The whole microseconds in `span`, at most `max`.
///
/// # Errors
/// A negative `span`; `what` is then "microseconds by which something lies below zero".
pub(crate) fn whole(what: &'static str, span: Span, max: u32) -> Result<u32, WriteError> {
    WriteError::check(what, span.as_nanos().min(0).unsigned_abs().div_ceil(1_000), 0, 0)?;
    Ok((span.as_nanos() / 1_000).min(max.into()) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn microseconds_are_cut_to_whole_ones_and_to_the_most() {
        let whole = |nanos, max| whole("microseconds below zero", Span::from_nanos(nanos), max);
        assert_eq!((whole(0, 10), whole(999, 10), whole(1_999, 10)), (Ok(0), Ok(0), Ok(1)));
        assert_eq!((whole(10_000, 10), whole(11_000, 10), whole(i64::MAX, u32::MAX)), (Ok(10), Ok(10), Ok(u32::MAX)));
    }

    #[test]
    fn below_zero_is_refused_even_by_a_nanosecond() {
        for (nanos, micros) in [(-1, 1), (-1_000, 1), (-1_001, 2), (i64::MIN, 9_223_372_036_854_776)] {
            let error = WriteError { what: "microseconds below zero", found: micros, min: 0, max: 0 };
            assert_eq!(whole("microseconds below zero", Span::from_nanos(nanos), 10), Err(error));
        }
    }
}
