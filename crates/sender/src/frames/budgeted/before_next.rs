//! Frames of a slow camera that are shown before the next picture is taken.
//!
//! Where the way is short a frame that takes the path a whole interval is shown when the next picture is taken, or just
//! after it: one picture stands for two of the camera's and the next for none. A frame that takes no more than what is left
//! of the interval is always there before, at a lower latency, for a sixth to two fifths of the bits.

use thalweg_control::Feedback;
use thalweg_control::estimate::WindowedMin;
use thalweg_units::Span;

use crate::frames::policy::View;

/// Longer than a queue stays that a margin wants (docs/thalweg.md).
const MEMORY: Span = Span::from_secs(10);
/// A picture is decoded in this part of the time that it is encoded in (720p by `CodecTime::default()`).
const DECODING: f64 = 0.31;
/// Delays change from frame to frame.
const SPARE: Span = Span::from_millis(5);
/// The way as a share of the round trip. How the two ways share it is not known: of a round trip of 20 ms a way of all of it
/// takes no more than this and `SPARE`, where half lost 4 dB on the screen with 20 ms there and 2 ms back.
const WAY: f64 = 0.75;

/// The empty path, as far as it is known.
#[derive(Debug, Clone, Default)]
pub(super) struct BeforeNext {
    round_trip: WindowedMin<Span>,
}

impl BeforeNext {
    /// Takes feedback on packets.
    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        if let Some(round_trip) = feedback.reports.iter().filter_map(|report| feedback.rtt_sample(report)).min() {
            self.round_trip.add(feedback.now, round_trip, MEMORY);
        }
    }

    /// The time that is left for a frame's bytes, of a picture that is encoded for `encoding`; `None` before any arrived.
    pub(super) fn left(&self, view: &View, encoding: Span) -> Option<Span> {
        let way = self.round_trip.get()?.scale(WAY);
        let codecs = encoding.scale(1.0 + DECODING);
        Some(view.interval - view.picture_age - way - view.limits.jitter - codecs - SPARE)
    }
}
