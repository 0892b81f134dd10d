//! tau: the smoothed time between arrivals, without the sender's own pauses.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use thalweg_units::{Bytes, Span, Time};

use super::Average;
use crate::feedback::{Feedback, Report};
use crate::packet::{PacketId, SentPacket};

/// Which of the sender's pauses are taken off the time between two arrivals: the grace period that packets carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Grace {
    /// The time since the packet before, of every packet, as the paper has it (section 3.2).
    EveryPacket,
    /// The time before a frame's first packet, as the authors' code has it: pacing within a frame, which is to be faster than the
    /// path, is not taken off.
    #[default]
    FirstOfFrame,
    /// None: the ablation without grace periods.
    None,
}

impl Grace {
    /// The grace period of a packet that leaves `gap` after the one before.
    pub fn of(self, packet: &SentPacket, gap: Span) -> Span {
        // Whatever is no part of a frame was sent because the sender chose to, like a frame's beginning.
        let begins = packet.place.is_none_or(|place| place.first);
        match self {
            Grace::EveryPacket => gap,
            Grace::FirstOfFrame if begins => gap,
            Grace::FirstOfFrame | Grace::None => Span::ZERO,
        }
    }
}

/// How many packets' grace is remembered: as many as 16 bits tell apart.
const REMEMBERED: usize = 1 << 16;

/// The average, from reports of arrivals.
#[derive(Debug, Clone)]
pub(super) struct Interarrival {
    average: Average,
    grace: Grace,
    last_sent: Option<Time>,
    /// Of packets not yet reported, in order.
    graces: VecDeque<(PacketId, Span)>,
    newest: Option<(PacketId, Time)>,
}

impl Interarrival {
    pub(super) fn new(average: Average, grace: Grace) -> Interarrival {
        Interarrival { average, grace, last_sent: None, graces: VecDeque::new(), newest: None }
    }

    /// tau; `None` before anything was measured.
    pub(super) fn smoothed(&self) -> Option<Span> {
        self.average.value()
    }

    pub(super) fn on_sent(&mut self, packet: &SentPacket) {
        let gap = self.last_sent.map_or(Span::ZERO, |last| packet.at - last);
        self.last_sent = Some(packet.at);
        self.graces.push_back((packet.id, self.grace.of(packet, gap)));
        if self.graces.len() > REMEMBERED {
            self.graces.pop_front();
        }
    }

    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let arrival = |report: &Report| Some((report.arrival()?, report.packet.id, report.packet.size));
        let mut arrivals: Vec<(Time, PacketId, Bytes)> = feedback.reports.iter().filter_map(arrival).collect();
        arrivals.sort_unstable();
        for (at, id, size) in arrivals {
            self.on_arrival(id, at, size);
        }
    }

    /// Of packets that overtook one another only the newer counts. The grace of packets that never arrived counts with that of
    /// the next that does: the path was not asked to carry anything meanwhile.
    fn on_arrival(&mut self, id: PacketId, at: Time, size: Bytes) {
        if self.newest.is_some_and(|(newest, _)| id <= newest) {
            return;
        }
        let mut grace = Span::ZERO;
        while let Some((_, span)) = self.graces.front().copied().filter(|(next, _)| *next <= id) {
            grace += span;
            self.graces.pop_front();
        }
        match self.newest {
            Some((_, last)) => self.average.add(at - last - grace, size),
            None => self.average.begin(),
        }
        self.newest = Some((id, at));
    }
}
