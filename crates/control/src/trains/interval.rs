//! The frame interval.

use thalweg_units::{Span, Time};

/// Assumed until two frames were seen: 30 frames a second.
const ASSUMED: Span = Span::from_nanos(33_333_333);
/// Plausible frame intervals: two pictures are never closer, and at a larger distance the source paused.
const PLAUSIBLE: (Span, Span) = (Span::from_millis(4), Span::from_millis(250));

/// The configured interval, or the smoothed time between first packets of frames (gain 1/8).
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

    /// Records that a frame's first packet left.
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
