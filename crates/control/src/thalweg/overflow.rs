//! How much the path's queue holds, from losses that are its doing.
//!
//! Random loss is not congestion, and takes packets alike whether much or little is under way. A full queue takes those
//! that were sent when much was. So losses are counted apart for packets that met a long queue and for those that met a
//! short one; only where the former are lost far more often does what may be queued shrink.

use thalweg_units::{Bytes, Span, Time};

use crate::estimate::WindowedMax;
use crate::feedback::{Cause, Fate, Feedback};

/// The window of the longest queue that packets passed.
const MEMORY: Span = Span::from_secs(10);
/// A queue is long from this share of the longest.
const LONG: f64 = 0.7;
/// The weight of a packet in the shares of losses.
const GAIN: f64 = 1.0 / 128.0;
/// Losses are the queue's doing if a long one loses this many times as much as a short one ...
const TIMES: f64 = 2.0;
/// ... and this much more: BBRv2's threshold of loss.
const MORE: f64 = 0.02;
/// The factor on the limit after a loss (CUBIC's beta is 0.7, RFC 9438).
const DECREASE: f64 = 0.8;
/// How fast the limit grows again, a second. Beside a flow that fills the queue it grows as that one's window does, by
/// a packet in a round trip (RFC 5681).
const GROWTH: f64 = 0.03;

/// See the module.
#[derive(Debug, Clone, Default)]
pub(super) struct Overflow {
    longest: WindowedMax<Bytes>,
    /// The shares of lost packets among those that met a short queue and a long one.
    lost: [f64; 2],
    limit: Option<Bytes>,
    /// When the limit last changed.
    changed: Option<Time>,
    decreased: Option<Time>,
}

impl Overflow {
    /// The most bytes that may be queued; `None` where the queue is not known to have lost any.
    pub(super) fn limit(&self) -> Option<Bytes> {
        self.limit
    }

    /// Takes feedback; `carries` is what the path carries in `round_trip`, and `contended` a packet where another flow
    /// fills the queue, or none.
    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>, carries: Bytes, round_trip: Span, contended: Bytes) {
        let now = feedback.now;
        if feedback.cause == Cause::FeedbackTimeout {
            return;
        }
        let mut highest_lost = None;
        for report in feedback.reports {
            let queue = report.packet.in_flight.saturating_sub(carries);
            let is_long = self.longest.get().is_some_and(|longest| queue >= longest.scale(LONG));
            // A mark is answered by the cap around this controller (`crate::ecn::Capped`): it says nothing of the queue's length.
            let is_lost = match report.fate {
                Fate::Lost => true,
                Fate::Arrived { was_lost: true, .. } => continue,
                Fate::Arrived { .. } => false,
            };
            let share = &mut self.lost[usize::from(is_long)];
            *share += GAIN * (f64::from(u8::from(is_lost)) - *share);
            if !is_lost {
                self.longest.add(now, queue, MEMORY);
            } else if is_long {
                highest_lost = highest_lost.max(Some(queue));
            }
        }
        let since = self.changed.map_or(Span::ZERO, |changed| now - changed);
        self.changed = Some(now);
        // Far above what anything queued, it limits nothing.
        let longest = self.longest.get().unwrap_or_default();
        let grown = self
            .limit
            .map(|limit| limit + limit.scale(GROWTH * since.as_secs_f64()) + contended.scale(since.ratio(round_trip)));
        self.limit = grown.filter(|limit| *limit < longest * 2);
        let [short, long] = self.lost;
        let may = self.decreased.is_none_or(|at| now - at > round_trip);
        if let Some(queue) = highest_lost.filter(|_| may && long > TIMES * short + MORE) {
            self.limit = Some(self.limit.map_or(queue, |limit| limit.min(queue)).scale(DECREASE));
            self.decreased = Some(now);
        }
    }
}
