//! What an ordinary receiver has decoded, as far as reports of arrivals tell.

use alloc::collections::{BTreeSet, VecDeque};
use alloc::vec::Vec;

use thalweg_control::{Fate, Feedback};
use thalweg_units::Time;

/// How many frames without a verdict are remembered: more than are ever under way.
const REMEMBERED: usize = 1024;

#[derive(Debug, Clone, Copy)]
struct Sent {
    frame: u64,
    /// The frame that must be decoded before it.
    needs: Option<u64>,
    missing: u16,
}

/// Frames, whole or not, and what follows from that.
///
/// A receiver decodes a frame as soon as it is whole and what it refers to was decoded, and none that is older than one it has
/// decoded.
#[derive(Debug, Clone, Default)]
pub(super) struct Deliveries {
    /// Not known to be decoded, in order.
    sent: VecDeque<Sent>,
    decoded: BTreeSet<u64>,
}

impl Deliveries {
    pub(super) fn on_queued(&mut self, frame: u64, needs: Option<u64>, packets: u16) {
        self.sent.push_back(Sent { frame, needs, missing: packets });
        if self.sent.len() > REMEMBERED {
            self.sent.pop_front();
        }
    }

    /// Takes news of packets; says whether any of a frame was lost.
    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>) -> bool {
        let mut arrivals: Vec<(Time, u64)> = Vec::new();
        let mut lost = false;
        for report in feedback.reports {
            let Some(place) = report.packet.place else { continue };
            match report.fate {
                Fate::Arrived { at, .. } => arrivals.push((at, place.frame)),
                Fate::Lost => lost = true,
            }
        }
        arrivals.sort_unstable();
        for (_, frame) in arrivals {
            if let Some(sent) = self.sent.iter_mut().find(|sent| sent.frame == frame) {
                sent.missing = sent.missing.saturating_sub(1);
                if sent.missing == 0 {
                    self.decode_what_is_whole();
                }
            }
        }
        lost
    }

    fn decode_what_is_whole(&mut self) {
        let ready = |sent: &Sent, decoded: &BTreeSet<u64>| {
            sent.missing == 0 && sent.needs.is_none_or(|needed| decoded.contains(&needed))
        };
        while let Some(index) = self.sent.iter().position(|sent| ready(sent, &self.decoded)) {
            self.decoded.insert(self.sent[index].frame);
            // What was sent before it can no longer be decoded.
            self.sent.drain(..=index);
        }
    }

    /// Whether a frame was decoded; `None` while that is open.
    pub(super) fn verdict(&self, frame: u64) -> Option<bool> {
        if self.decoded.contains(&frame) {
            return Some(true);
        }
        if self.sent.iter().any(|sent| sent.frame == frame) { None } else { Some(false) }
    }

    /// No frame before this one will be asked about or referred to, but for the newest one decoded.
    pub(super) fn forget_before(&mut self, frame: u64) {
        if let Some(newest) = self.decoded.last().copied() {
            self.decoded.retain(|decoded| *decoded >= frame.min(newest));
        }
    }
}
