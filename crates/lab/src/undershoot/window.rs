//! A ratio within a window of time.

use thalweg_units::{ConfigError, Span, Time, check};

use super::check_ratio;

/// A window of time in which an encoder produces this share of its target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Output relative to the target, 0.01 to 1.
    pub ratio: f64,
    /// Start, since the start of the run; not negative.
    pub from: Span,
    /// End, since the start of the run, later than `from`; `None` for the end of the run.
    pub until: Option<Span>,
}

impl Window {
    /// The whole run.
    pub const fn always(ratio: f64) -> Window {
        Window { ratio, from: Span::ZERO, until: None }
    }
}

/// The ratio from each time on.
pub(super) fn steps(windows: &[Window]) -> Result<Vec<(Time, f64)>, ConfigError> {
    check("undershoot", "no window").is(!windows.is_empty(), "at least one, such as 0.6@30s-60s, or none")?;
    let mut steps: Vec<(Time, f64)> = Vec::with_capacity(2 * windows.len());
    let mut free_from = Some(Span::ZERO);
    for window in windows {
        let Window { ratio, from, until } = *window;
        check_ratio("undershoot", ratio)?;
        check("undershoot", window).is(free_from.is_some_and(|free| from >= free) && until.is_none_or(|until| until > from), "a window that begins at 0 or later, with or after the end of the one before, and ends after it begins, such as \
                         0.6@30s-60s,0.8@70s-90s")?;
        steps.push((Time::ZERO + from, ratio));
        steps.extend(until.map(|until| (Time::ZERO + until, 1.0)));
        free_from = until;
    }
    Ok(steps)
}
