//! Loss recovery: a round of packet conservation, then growth, then the window as it was (specs/bbr.md 4).
//!
//! The window itself is unchanged: recovery is a separate limit, which ends when a packet sent after the last loss has
//! arrived. So nothing has to be saved and restored.

use thalweg_units::Bytes;

use crate::feedback::{Fate, Feedback};
use crate::packet::PacketId;

/// The recovery in progress, if any.
#[derive(Debug, Clone, Default)]
pub(super) struct Recovery(Option<Bound>);

#[derive(Debug, Clone, Copy)]
struct Bound {
    window: Bytes,
    /// Recovery is over when a newer packet has arrived.
    ends_after: PacketId,
    /// Packet conservation: no more bytes leave than arrive.
    conserving: bool,
}

impl Recovery {
    /// The limit on bytes in flight; `None` outside recovery.
    pub(super) fn window(&self) -> Option<Bytes> {
        self.0.map(|bound| bound.window)
    }

    /// Takes feedback. `newest` is the last packet sent, `round_began` whether this feedback begins a round. Returns
    /// whether recovery begins with it: a new round is then counted from here.
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

    /// After a feedback timeout, everything in flight counts as lost: limits the window to `window` until there is
    /// progress.
    pub(super) fn on_feedback_timeout(&mut self, window: Bytes, newest: PacketId) {
        self.0 = Some(Bound { window, ends_after: newest, conserving: false });
    }
}
