//! Times in which nothing arrives.
//!
//! A path that fades keeps what is sent and delivers it late, so that little is sent until it serves again. A burst of
//! losses takes so many packets, however far apart they are: it is over the sooner, the sooner they are sent. Which of them
//! it is shows only afterwards, so that the last time says what the next one is taken for.

use thalweg_control::{Fate, Feedback};
use thalweg_units::{Bytes, Span, Time};

use crate::frames::policy::View;

/// A time in which nothing arrived was a burst of losses if this many packets or more of it were lost ...
const LEAST_LOST: u32 = 3;
/// ... and for each that arrived this many.
const LOST_PER_ARRIVED: u32 = 2;

/// See the module.
#[derive(Debug, Clone, Default)]
pub(super) struct Silence {
    /// When feedback last reported an arrival, or a frame was queued that nothing was under way before.
    unanswered_since: Option<Time>,
    /// True once anything is known to have arrived.
    has_arrived: bool,
    /// True if nothing was under way at the last picture.
    was_idle: bool,
    /// True if nothing has arrived for too long.
    lasts: bool,
    /// The last time in which nothing arrived, from and to, and how many packets of it were lost and arrived.
    last: Option<(Time, Time)>,
    lost: u32,
    arrived: u32,
}

impl Silence {
    /// Returns true if nothing has arrived for `patience` beyond a round trip although packets are in flight.
    pub(super) fn lasts(&self, view: &View, patience: Span) -> bool {
        // Reports may be as far apart as the round trip with its wait for them.
        let patience = (view.srtt * 2).max(view.srtt + patience);
        let unanswered = self.unanswered_since.is_some_and(|since| view.now - since > patience);
        self.has_arrived && view.in_flight > Bytes::ZERO && unanswered
    }

    /// Takes a picture, and what [`Silence::lasts`] says of it.
    pub(super) fn on_picture(&mut self, view: &View, lasts: bool) {
        self.was_idle = view.in_flight == Bytes::ZERO;
        self.lasts |= lasts;
    }

    /// Returns true if the last one was a burst of losses.
    pub(super) fn was_burst(&self) -> bool {
        self.lost >= LEAST_LOST.max(self.arrived * LOST_PER_ARRIVED)
    }

    /// Takes a frame that was queued.
    pub(super) fn on_queued(&mut self, now: Time) {
        if core::mem::take(&mut self.was_idle) || self.unanswered_since.is_none() {
            self.unanswered_since = Some(now);
        }
    }

    /// Takes feedback.
    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        if feedback.has_arrivals() {
            let since = self.unanswered_since.replace(feedback.now);
            if let Some(since) = since.filter(|_| core::mem::take(&mut self.lasts)) {
                (self.last, self.lost, self.arrived) = (Some((since, feedback.now)), 0, 0);
            }
            self.has_arrived = true;
        }
        let Some((from, to)) = self.last else { return };
        for report in feedback.reports.iter().filter(|report| from <= report.packet.at && report.packet.at < to) {
            match report.fate {
                Fate::Lost => self.lost += 1,
                Fate::Arrived { was_lost, .. } => {
                    self.lost -= u32::from(was_lost && self.lost > 0);
                    self.arrived += 1;
                }
            }
        }
    }
}
