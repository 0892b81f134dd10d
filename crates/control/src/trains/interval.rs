//! The time between two frames.

use thalweg_units::{Span, Time};

/// What is assumed before two frames were seen: 30 a second.
const ASSUMED: Span = Span::from_nanos(33_333_333);
/// Closer than this are no two pictures, farther apart than this the source paused.
const PLAUSIBLE: (Span, Span) = (Span::from_millis(4), Span::from_millis(250));

/// Given, or the smoothed time between first packets (gain 1/8).
#[derive(Debug, Clone)]
pub(super) struct Interval {
    given: Option<Span>,
    smoothed: Option<Span>,
    last: Option<(u64, Time)>,
}

impl Interval {
    pub(super) fn new(given: Option<Span>) -> Interval {
        Interval { given, smoothed: None, last: None }
    }

    pub(super) fn get(&self) -> Span {
        self.given.or(self.smoothed).unwrap_or(ASSUMED)
    }

    /// A frame's first packet left.
    pub(super) fn on_frame(&mut self, frame: u64, at: Time) {
        if let Some((last, before)) = self.last
            && let frames @ 1.. = frame.saturating_sub(last).min(1000)
        {
            let interval = (at - before) / frames as i64;
            if interval >= PLAUSIBLE.0 && interval <= PLAUSIBLE.1 {
                self.smoothed = Some(self.smoothed.map_or(interval, |smoothed| smoothed + (interval - smoothed) / 8));
            }
        }
        self.last = Some((frame, at));
    }
}
