//! webrtc-rs's instants as times.

use std::time::{Duration, Instant};

use thalweg_units::Time;

/// Counts from the first instant it is shown; earlier ones are that one.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Clock {
    epoch: Option<Instant>,
}

impl Clock {
    pub(crate) fn time(&mut self, instant: Instant) -> Time {
        let epoch = *self.epoch.get_or_insert(instant);
        let since = instant.saturating_duration_since(epoch);
        Time::from_nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
    }

    /// `None` for a time that never comes, and before the first instant.
    pub(crate) fn instant(&self, time: Time) -> Option<Instant> {
        self.epoch.filter(|_| time.is_set())?.checked_add(Duration::from_nanos(time.as_nanos()))
    }
}
