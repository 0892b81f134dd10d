//! tau: the smoothed time between arrivals, without the sender's own pauses.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use thalweg_units::{Span, Time};

use crate::feedback::Feedback;
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
    gain: f64,
    grace: Grace,
    last_sent: Option<Time>,
    /// Of packets not yet reported, in order.
    graces: VecDeque<(PacketId, Span)>,
    newest: Option<(PacketId, Time)>,
    smoothed: Option<f64>,
}

impl Interarrival {
    pub(super) fn new(gain: f64, grace: Grace) -> Interarrival {
        Interarrival { gain, grace, last_sent: None, graces: VecDeque::new(), newest: None, smoothed: None }
    }

    /// tau, in whole microseconds as the authors' receiver rounds it; `None` before anything arrived.
    pub(super) fn smoothed(&self) -> Option<Span> {
        self.smoothed.map(|microseconds| Span::from_micros(microseconds as i64))
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
        let mut arrivals: Vec<(Time, PacketId)> =
            feedback.reports.iter().filter_map(|report| Some((report.arrival()?, report.packet.id))).collect();
        arrivals.sort_unstable();
        for (at, id) in arrivals {
            self.on_arrival(id, at);
        }
    }

    /// Of packets that overtook one another only the newer counts. The grace of packets that never arrived counts with that of
    /// the next that does: the path was not asked to carry anything meanwhile.
    fn on_arrival(&mut self, id: PacketId, at: Time) {
        if self.newest.is_some_and(|(newest, _)| id <= newest) {
            return;
        }
        let mut grace = Span::ZERO;
        while let Some((next, span)) = self.graces.front().copied().filter(|(next, _)| *next <= id) {
            let _ = next;
            grace += span;
            self.graces.pop_front();
        }
        self.smoothed = Some(match (self.newest, self.smoothed) {
            (Some((_, last)), Some(smoothed)) => {
                let sample = (at - last - grace).max(Span::ZERO).as_nanos() as f64 / 1000.0;
                self.gain * sample + (1.0 - self.gain) * smoothed
            }
            _ => 0.0,
        });
        self.newest = Some((id, at));
    }
}
