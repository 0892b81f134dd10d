//! Values with bounds that several commands share.

use thalweg_units::Span;

/// The longest run: a week of virtual time.
const MAX_DURATION: Span = Span::from_secs(7 * 86_400);
/// The longest one-way delay: by way of the Moon and back it is 2.6 s.
const MAX_DELAY: Span = Span::from_secs(60);

/// The duration of a run.
pub(super) fn duration(text: &str) -> Result<Span, String> {
    let span: Span = text.parse().map_err(|error: thalweg_units::ParseQuantityError| error.to_string())?;
    let fits = span > Span::ZERO && span <= MAX_DURATION;
    fits.then_some(span)
        .ok_or(format!("{span} is no duration of a run: above 0 and at most a week, as in 60s, 5m or 1h"))
}

/// The delay of a path.
pub(super) fn delay(text: &str) -> Result<Span, String> {
    let span: Span = text.parse().map_err(|error: thalweg_units::ParseQuantityError| error.to_string())?;
    let fits = span >= Span::ZERO && span <= MAX_DELAY;
    fits.then_some(span).ok_or(format!("{span} is no one-way delay: from 0 to {MAX_DELAY}, as in 25ms"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_and_delays_have_bounds_that_the_error_names() {
        assert_eq!(duration("5m"), Ok(Span::from_secs(300)));
        assert_eq!(delay("0"), Ok(Span::ZERO));
        for wrong in ["-5s", "0s", "1000h"] {
            assert!(duration(wrong).unwrap_err().contains("as in 60s"), "{wrong}");
        }
        for wrong in ["-1ms", "1000000s"] {
            assert!(delay(wrong).unwrap_err().contains("from 0 to"), "{wrong}");
        }
    }
}
