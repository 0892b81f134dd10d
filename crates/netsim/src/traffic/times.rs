//! Checks of the times and counts of cross traffic.

use alloc::format;

use thalweg_units::{ConfigError, Span, check};

/// # Errors
/// When there are no flows, or they would end before they begin.
pub(super) fn check_flows(kind: &str, count: u16, times: (Span, Option<Span>)) -> Result<(), ConfigError> {
    check(&format!("{kind}.count"), count).within(1..=1000, "1")?;
    check_times(kind, times)
}

/// # Errors
/// When it would begin before the run, or end before it begins.
pub(super) fn check_times(kind: &str, (from, until): (Span, Option<Span>)) -> Result<(), ConfigError> {
    check(&format!("{kind}.from"), from).within(Span::ZERO.., "0s")?;
    let Some(until) = until else { return Ok(()) };
    check(&format!("{kind}.until"), until).is(until > from, format_args!("later than {kind}.from"))
}
