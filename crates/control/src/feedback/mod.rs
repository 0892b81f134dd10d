//! Feedback on sent packets: one form for every kind of report.

mod history;
mod path;
pub(crate) mod timeout;

use thalweg_units::{Bytes, Span, Time};

use crate::packet::{PacketId, SentPacket};
pub use history::{Config, History};
pub use path::{End, PathReport};

/// What a report from the receiver says of one packet, already unwrapped to the sender's numbering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Acknowledgement {
    /// Which packet.
    pub id: PacketId,
    /// When it arrived, by the receiver's clock; `None` if it had not arrived when the report was made.
    pub arrival: Option<Time>,
    /// Whether a queue on the way marked it instead of dropping it (ECN CE).
    pub ce: bool,
}

/// The outcome of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It arrived. May follow [`Fate::Lost`] for the same packet: it was late, not lost.
    Arrived {
        /// When, by the receiver's clock, in the resolution of the report (TWCC: 250 us; RFC 8888: 1/1024 s).
        at: Time,
        /// Whether it was marked (ECN CE).
        ce: bool,
        /// Whether it had been declared lost before.
        was_lost: bool,
    },
    /// It is taken as lost.
    Lost,
}

/// A sent packet and its fate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Report {
    /// The packet as it was sent.
    pub packet: SentPacket,
    /// Its outcome.
    pub fate: Fate,
}

impl Report {
    /// When the packet arrived, by the receiver's clock.
    pub fn arrival(&self) -> Option<Time> {
        match self.fate {
            Fate::Arrived { at, .. } => Some(at),
            Fate::Lost => None,
        }
    }
}

/// Why a [`Feedback`] was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The receiver reported.
    Report,
    /// No feedback arrived for so long that everything in flight was declared lost.
    FeedbackTimeout,
}

/// Feedback on sent packets.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Feedback<'a> {
    /// When the feedback reached the sender.
    pub now: Time,
    /// What caused the feedback.
    pub cause: Cause,
    /// Each packet whose fate became known, in order of sending. Empty when a report held nothing new.
    pub reports: &'a [Report],
    /// Round-trip time of the newest packet that arrived, without the time the receiver is known to have held the report.
    pub rtt: Option<Span>,
    /// Arrival less sending time of that packet: two clocks, so only differences between packets mean anything.
    pub newest_delay: Option<Span>,
    /// `rtt` without the time the report was held even if the receiver does not say it (TWCC): forward delay and the least
    /// return delay seen. This is the delay to judge queues by; a window must cover the wait for reports too.
    pub path_rtt: Option<Span>,
    /// Smoothed time from sending a packet to hearing of it (gain 1/8, specs/vidaptive.md C1), this report included; `None` before the
    /// first. It has the wait for batched reports in it, so that window / srtt is the rate that the window sustains.
    pub srtt: Option<Span>,
    /// The least round-trip time of the connection.
    pub min_rtt: Option<Span>,
    /// Bytes sent and neither acknowledged nor declared lost, after this feedback.
    pub in_flight: Bytes,
    /// Bytes acknowledged on the path so far, these included.
    pub delivered: Bytes,
}

impl<'a> Feedback<'a> {
    /// Feedback on these packets and nothing else: no round trip, nothing in flight. [`History`] makes those with everything.
    pub fn new(now: Time, cause: Cause, reports: &'a [Report]) -> Feedback<'a> {
        Feedback {
            now,
            cause,
            reports,
            rtt: None,
            newest_delay: None,
            path_rtt: None,
            srtt: None,
            min_rtt: None,
            in_flight: Bytes::ZERO,
            delivered: Bytes::ZERO,
        }
    }

    /// The same without what it says of packets before `first`: for a controller that did not see those leave.
    pub fn since(&self, first: PacketId) -> Feedback<'a> {
        let before = self.reports.partition_point(|report| report.packet.id < first);
        Feedback { reports: &self.reports[before..], ..*self }
    }

    /// Bytes that this feedback says arrived.
    pub fn arrived_bytes(&self) -> Bytes {
        self.reports.iter().filter(|report| report.arrival().is_some()).map(|report| report.packet.size).sum()
    }

    /// Bytes that this feedback says were lost.
    pub fn lost_bytes(&self) -> Bytes {
        self.reports.iter().filter(|report| report.fate == Fate::Lost).map(|report| report.packet.size).sum()
    }

    /// Round-trip time of one arrived packet as if it had been acknowledged at once: a batched report holds the early ones
    /// back, but how much longer than the newest packet it was under way shows in the receiver's clock.
    pub fn rtt_of(&self, report: &Report) -> Option<Span> {
        let delay = report.arrival()? - report.packet.at;
        Some((self.path_rtt? + (delay - self.newest_delay?)).max(Span::from_nanos(1)))
    }

    /// How long feedback on an arrived packet waited at the receiver for its report.
    pub fn held(&self, report: &Report) -> Option<Span> {
        Some(((self.now - report.packet.at) - self.rtt_of(report)?).max(Span::ZERO))
    }

    /// The mean of [`Feedback::held`] over the packets that arrived; `None` if none did.
    pub fn mean_held(&self) -> Option<Span> {
        let held = || self.reports.iter().filter_map(|report| self.held(report));
        let count = held().count() as i64;
        (count > 0).then(|| held().sum::<Span>() / count)
    }
}
