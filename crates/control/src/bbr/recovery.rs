//! After losses: a round of packet conservation, then growth, then the window as it was (specs/bbr.md 4).
//!
//! The window itself stays: recovery bounds it from beside, and is over when something sent after the last loss has
//! arrived. So nothing need be saved and restored.

use thalweg_units::Bytes;

use crate::feedback::{Fate, Feedback};
use crate::packet::PacketId;

/// No recovery, or one.
#[derive(Debug, Clone, Default)]
pub(super) struct Recovery(Option<Bound>);

#[derive(Debug, Clone, Copy)]
struct Bound {
    window: Bytes,
    /// It is over when something newer has arrived.
    ends_after: PacketId,
    /// As much leaves as arrives, and no more.
    conserving: bool,
}

impl Recovery {
    /// What may be in flight; `None` outside recovery.
    pub(super) fn window(&self) -> Option<Bytes> {
        self.0.map(|bound| bound.window)
    }

    /// Takes feedback. `newest` is the last packet sent, `round_began` whether this feedback begins a
    /// round. Whether recovery begins with it: a round is then to be counted from here.
    pub(super) fn on_feedback(
        &mut self,
        feedback: &Feedback<'_>,
        newest: PacketId,
        round_began: bool,
        min: Bytes,
    ) -> bool {
        let lost = feedback.reports.iter().any(|report| report.fate == Fate::Lost);
        let arrived = feedback.arrived_bytes();
        let kept = (feedback.in_flight + arrived).max(min);
        let Some(bound) = &mut self.0 else {
            if lost {
                self.0 = Some(Bound { window: kept, ends_after: newest, conserving: true });
            }
            return lost;
        };
        bound.conserving &= !round_began;
        if lost {
            bound.ends_after = newest;
            bound.window = bound.window.saturating_sub(feedback.lost_bytes());
        } else if feedback
            .reports
            .iter()
            .any(|report| report.arrival().is_some() && report.packet.id > bound.ends_after)
        {
            self.0 = None;
            return false;
        }
        if !bound.conserving {
            bound.window += arrived;
        }
        bound.window = bound.window.max(kept);
        false
    }

    /// No feedback arrived for long, everything in flight counts as lost: `window` until there is progress.
    pub(super) fn on_feedback_timeout(&mut self, window: Bytes, newest: PacketId) {
        self.0 = Some(Bound { window, ends_after: newest, conserving: false });
    }
}
