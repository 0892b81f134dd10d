//! Frames that a standard receiver has decoded, as far as reports of arrivals prove it.

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;

use thalweg_control::{Feedback, PacketId};
use thalweg_units::{Span, Time};

use super::super::policy::RepairSent;

/// How many undecided frames are remembered: four seconds at 60 fps, more than are ever in flight.
const REMEMBERED: usize = 256;

#[derive(Debug, Clone)]
struct Sent {
    frame: u64,
    /// The frame that must be decoded before it.
    needs: Option<u64>,
    missing: u16,
    /// The arrival time of its latest packet so far.
    arrived: Option<Time>,
    /// When its packets, and those that may stand for one of them, are known to have arrived.
    arrivals: Vec<Time>,
    /// How many packets left that may stand for one of its own.
    repairs: usize,
    /// The newest frame already queued when this one was known to be complete: no later frame can have been decoded
    /// before it.
    rivals: u64,
}

impl Sent {
    /// Returns true if it was certainly not complete at this time: too few of all its packets may have been there.
    fn is_complete_after(&self, at: Time) -> bool {
        self.arrivals.iter().filter(|arrival| **arrival > at).count() > self.repairs
    }
}

/// Frames, complete or not, and which of them were decoded.
///
/// A receiver decodes a frame as soon as the frame is complete and its reference is decoded, but never a frame older
/// than one it has already decoded. Reports may be lost or reordered, and what FEC recovers is there before it arrives. So
/// for a decodable frame it must also be known that no later frame that can be decoded without it was decoded first.
#[derive(Debug, Clone, Default)]
pub(super) struct Deliveries {
    /// Frames not known to be decoded, in order.
    sent: VecDeque<Sent>,
    /// The latest time, on the receiver's clock, at which each frame was decoded.
    decoded: BTreeMap<u64, Time>,
    /// Packets not known to have arrived that may stand for others, and the first and last frame of those.
    repairs: BTreeMap<PacketId, (u64, u64)>,
    newest: u64,
}

impl Deliveries {
    pub(super) fn on_queued(&mut self, frame: u64, needs: Option<u64>, packets: u16) {
        self.newest = frame;
        self.sent.push_back(Sent {
            frame,
            needs,
            missing: packets,
            arrived: None,
            arrivals: Vec::new(),
            repairs: 0,
            rivals: frame,
        });
        if self.sent.len() > REMEMBERED {
            self.sent.pop_front();
        }
        let oldest = self.sent.front().map_or(frame, |sent| sent.frame);
        self.repairs.retain(|_, (_, last)| *last >= oldest);
    }

    /// A packet left that may stand for another.
    pub(super) fn on_repair_sent(&mut self, sent: &RepairSent) {
        self.repairs.insert(sent.packet, sent.frames);
        self.of(sent.frames).for_each(|sent| sent.repairs += 1);
    }

    /// The remembered frames from the first to the last.
    fn of(&mut self, (first, last): (u64, u64)) -> impl Iterator<Item = &mut Sent> {
        self.sent.iter_mut().filter(move |sent| (first..=last).contains(&sent.frame))
    }

    /// Returns true if `frame` can be decoded only after `other`, an earlier one, as far as that is not decided.
    pub(super) fn needs(&self, frame: u64, other: u64) -> bool {
        let needed = |frame: &u64| self.sent.iter().find(|sent| sent.frame == *frame)?.needs;
        core::iter::successors(Some(frame), needed).take_while(|frame| *frame >= other).any(|frame| frame == other)
    }

    /// Returns true if a later frame is known to have arrived whole.
    pub(super) fn is_passed_over(&self, frame: u64) -> bool {
        self.sent.iter().any(|sent| sent.frame > frame && sent.missing == 0)
    }

    /// Takes feedback on packets. For a frame to be decoded for certain, a later one that does not need it must be complete
    /// this much later.
    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>, decoding: Span) {
        let arrival = |report: &thalweg_control::Report| Some((report.arrival()?, report.packet.place?.frame));
        let mut arrivals: Vec<(Time, u64)> = feedback.reports.iter().filter_map(arrival).collect();
        arrivals.sort_unstable();
        for (at, frame) in arrivals {
            let Ok(index) = self.sent.binary_search_by_key(&frame, |sent| sent.frame) else { continue };
            let sent = &mut self.sent[index];
            sent.missing = sent.missing.saturating_sub(1);
            sent.arrived = sent.arrived.max(Some(at));
            sent.arrivals.push(at);
            sent.rivals = self.newest;
        }
        for report in feedback.reports {
            if let Some(at) = report.arrival()
                && let Some(frames) = self.repairs.remove(&report.packet.id)
            {
                self.of(frames).for_each(|sent| sent.arrivals.push(at));
            }
        }
        while let Some((index, at)) =
            (0..self.sent.len()).find_map(|index| Some((index, self.decoded_at(index, decoding)?)))
        {
            self.decoded.insert(self.sent[index].frame, at);
            // Earlier frames that are not decoded by now can no longer be.
            self.sent.drain(..=index);
        }
    }

    /// When a frame was decoded, if that is certain.
    fn decoded_at(&self, index: usize, decoding: Span) -> Option<Time> {
        let sent = &self.sent[index];
        let whole = sent.arrived.filter(|_| sent.missing == 0)?;
        let at = match sent.needs {
            Some(needed) => whole.max(*self.decoded.get(&needed)?),
            None => whole,
        };
        let mut followers = BTreeSet::from([sent.frame]);
        for later in self.sent.range(index + 1..).take_while(|later| later.frame <= sent.rivals) {
            if later.needs.is_some_and(|needed| followers.contains(&needed)) {
                followers.insert(later.frame);
            } else if !later.is_complete_after(at + decoding) {
                return None;
            }
        }
        Some(at)
    }

    /// Returns true if a frame was decoded; `None` while that is undecided.
    pub(super) fn verdict(&self, frame: u64) -> Option<bool> {
        if self.decoded.contains_key(&frame) {
            return Some(true);
        }
        if self.sent.iter().any(|sent| sent.frame == frame) { None } else { Some(false) }
    }

    /// Forgets the decoded frames that no frame refers to: all but `frame`, the newest, and those that undecided frames
    /// need.
    pub(super) fn forget_others(&mut self, frame: Option<u64>) {
        let Some(newest) = self.decoded.last_key_value().map(|(newest, _)| *newest) else { return };
        let needed: BTreeSet<u64> = self.sent.iter().filter_map(|sent| sent.needs).collect();
        self.decoded.retain(|decoded, _| Some(*decoded) == frame || *decoded == newest || needed.contains(decoded));
    }
}

#[cfg(test)]
impl Deliveries {
    /// How many frames are remembered.
    pub(super) fn remembered(&self) -> usize {
        self.sent.len() + self.decoded.len()
    }
}
