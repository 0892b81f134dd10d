//! Experience of a flow's viewer so far, counted while it runs.

use thalweg_units::{Bytes, Span, Time};

use crate::metrics::STALL;

/// The frames shown since the flow began.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Viewer {
    /// Frames shown.
    pub frames: u64,
    /// Their payload bytes.
    pub bytes: Bytes,
    /// The sum of their times from capture to display.
    pub latency: Span,
    /// The sum of the PSNR of those that were measured, in dB, and their number.
    pub psnr_db: (f64, u64),
    /// When the last was shown; at first when the flow began.
    last: Time,
    /// When it was captured.
    captured: Time,
    /// The sum of the times for which pictures stood longer than 200 ms, up to the last.
    frozen: Span,
}

impl Viewer {
    pub(super) fn new(begin: Time) -> Viewer {
        Viewer {
            frames: 0,
            bytes: Bytes::ZERO,
            latency: Span::ZERO,
            psnr_db: (0.0, 0),
            last: begin,
            captured: begin,
            frozen: Span::ZERO,
        }
    }

    pub(super) fn on_shown(&mut self, now: Time, captured: Time, size: Bytes, psnr_db: Option<f64>) {
        self.frozen = self.frozen(now);
        self.frames += 1;
        self.bytes += size;
        self.latency += now - captured;
        if let Some(psnr) = psnr_db {
            self.psnr_db = (self.psnr_db.0 + psnr, self.psnr_db.1 + 1);
        }
        (self.last, self.captured) = (now, captured);
    }

    /// The time for which pictures stood longer than 200 ms (`metrics::stall`), up to `now`.
    pub fn frozen(&self, now: Time) -> Span {
        self.frozen + ((now - self.last) - Span::from_secs_f64(STALL)).max(Span::ZERO)
    }

    /// The age of the picture on the screen, since its capture; before the first, since the flow began.
    pub fn age(&self, now: Time) -> Span {
        now - self.captured
    }
}
