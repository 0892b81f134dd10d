//! How much the path's queue holds, from losses that are its doing.
//!
//! Random loss is not congestion, and takes packets alike whether much or little is under way. A full queue takes those
//! that were sent when much was. So losses are counted apart for packets that met a long queue and for those that met a
//! short one; only where the former are lost far more often does what may be queued shrink.

use thalweg_units::{Bytes, Span, Time};

use crate::estimate::WindowedMax;
use crate::feedback::{Cause, Fate, Feedback};
use crate::packet::MSS;

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
/// The factor on the limit after a loss, and when it is back where packets were lost: it grows as CUBIC's window does (RFC 9438,
/// where the factor is 0.7), slowly about there and ever faster beyond.
const DECREASE: f64 = 0.8;
const BACK: Span = Span::from_secs(6);
/// No limit is less: so many packets fit into any queue.
const FEWEST: u64 = 2;

/// See the module.
#[derive(Debug, Clone, Default)]
pub(super) struct Overflow {
    longest: WindowedMax<Bytes>,
    /// The shares of lost packets among those that met a short queue and a long one.
    lost: [f64; 2],
    /// The bytes that were queued when packets were lost last, and when that was.
    overflowed: Option<(Bytes, Time)>,
    now: Time,
}

impl Overflow {
    /// The most bytes that may be queued; `None` where the queue is not known to have lost any.
    pub(super) fn limit(&self) -> Option<Bytes> {
        let (queue, at) = self.overflowed?;
        let away = (self.now - at).ratio(BACK) - 1.0;
        Some(queue.scale(1.0 + (1.0 - DECREASE) * away * away * away))
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
            // Less than the packet itself is no queue.
            let least = report.packet.size.max(self.longest.get().unwrap_or(Bytes::MAX).scale(LONG));
            let is_long = queue >= least;
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
        // Beside a flow that fills the queue it grows as that one's window does, by a packet in a round trip (RFC 5681).
        let more = contended.scale((now - self.now).ratio(round_trip));
        self.now = now;
        // Far above what anything queued, it limits nothing.
        let longest = self.longest.get().unwrap_or_default();
        self.overflowed = self.overflowed.map(|(queue, at)| (queue + more, at));
        if self.limit().is_some_and(|limit| limit >= longest * 2) {
            self.overflowed = None;
        }
        let [short, long] = self.lost;
        let may = self.overflowed.is_none_or(|(_, at)| now - at > round_trip);
        if let Some(queue) = highest_lost.filter(|_| may && long > TIMES * short + MORE) {
            let queue = self.limit().map_or(queue, |limit| limit.min(queue)).max(MSS * FEWEST);
            self.overflowed = Some((queue, now));
        }
    }
}
