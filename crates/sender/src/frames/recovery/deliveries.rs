//! What a standard receiver has decoded, as far as reports of arrivals prove it.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

use thalweg_control::Feedback;
use thalweg_units::Time;

/// How many frames without a verdict are remembered: four seconds of 60 a second, more than are ever under way.
const REMEMBERED: usize = 256;

#[derive(Debug, Clone, Copy)]
struct Sent {
    frame: u64,
    /// The frame that must be decoded before it.
    needs: Option<u64>,
    missing: u16,
    /// When the last of its packets that are known to have arrived did.
    arrived: Option<Time>,
    /// The newest frame queued when it was known to be whole: no later one can have been there before it.
    rivals: u64,
}

/// Frames, whole or not, and what follows from that.
///
/// A receiver decodes a frame as soon as it is whole and what it refers to was decoded, and none that is older than one
/// it has decoded. Reports may be lost or overtake one another, so of a frame that could be decoded it must also be
/// known that no later one which does without it was decoded first.
#[derive(Debug, Clone, Default)]
pub(super) struct Deliveries {
    /// Not known to be decoded, in order.
    sent: VecDeque<Sent>,
    /// When frames were decoded at the latest, by the receiver's clock.
    decoded: BTreeMap<u64, Time>,
    newest: u64,
}

impl Deliveries {
    pub(super) fn on_queued(&mut self, frame: u64, needs: Option<u64>, packets: u16) {
        self.newest = frame;
        self.sent.push_back(Sent { frame, needs, missing: packets, arrived: None, rivals: frame });
        if self.sent.len() > REMEMBERED {
            self.sent.pop_front();
        }
    }

    /// Takes feedback on packets.
    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let arrival = |report: &thalweg_control::Report| Some((report.arrival()?, report.packet.place?.frame));
        let mut arrivals: Vec<(Time, u64)> = feedback.reports.iter().filter_map(arrival).collect();
        arrivals.sort_unstable();
        for (at, frame) in arrivals {
            let Ok(index) = self.sent.binary_search_by_key(&frame, |sent| sent.frame) else { continue };
            let sent = &mut self.sent[index];
            sent.missing = sent.missing.saturating_sub(1);
            sent.arrived = sent.arrived.max(Some(at));
            sent.rivals = self.newest;
        }
        while let Some((index, at)) = (0..self.sent.len()).find_map(|index| Some((index, self.decoded_at(index)?))) {
            self.decoded.insert(self.sent[index].frame, at);
            // What was sent before it can no longer be decoded, if it was not.
            self.sent.drain(..=index);
        }
    }

    /// When a frame was decoded, if it is sure that it was.
    fn decoded_at(&self, index: usize) -> Option<Time> {
        let sent = self.sent[index];
        let whole = sent.arrived.filter(|_| sent.missing == 0)?;
        let at = match sent.needs {
            Some(needed) => whole.max(*self.decoded.get(&needed)?),
            None => whole,
        };
        let mut followers = BTreeSet::from([sent.frame]);
        for later in self.sent.range(index + 1..).take_while(|later| later.frame <= sent.rivals) {
            if later.needs.is_some_and(|needed| followers.contains(&needed)) {
                followers.insert(later.frame);
            } else if later.arrived <= Some(at) {
                return None;
            }
        }
        Some(at)
    }

    /// Whether a frame was decoded; `None` while that is open.
    pub(super) fn verdict(&self, frame: u64) -> Option<bool> {
        if self.decoded.contains_key(&frame) {
            return Some(true);
        }
        if self.sent.iter().any(|sent| sent.frame == frame) { None } else { Some(false) }
    }

    /// Of the frames decoded only this one will be referred to, and the newest.
    pub(super) fn forget_others(&mut self, frame: Option<u64>) {
        let Some(newest) = self.decoded.last_key_value().map(|(newest, _)| *newest) else { return };
        let needed: BTreeSet<u64> = self.sent.iter().filter_map(|sent| sent.needs).collect();
        self.decoded.retain(|decoded, _| Some(*decoded) == frame || *decoded == newest || needed.contains(decoded));
    }
}

#[cfg(test)]
impl Deliveries {
    /// How many frames anything is remembered of.
    pub(super) fn remembered(&self) -> usize {
        self.sent.len() + self.decoded.len()
    }
}
