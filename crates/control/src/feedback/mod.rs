//! Feedback on sent packets: one representation for every kind of report.

pub(crate) mod earlier;
mod history;
pub(crate) mod outstanding;
mod path;
pub(crate) mod timeout;

use alloc::vec::Vec;

use thalweg_units::{Bytes, Ecn, Span, Time};

use crate::packet::{PacketId, SentPacket};
pub use history::{Config, History};
pub use path::{End, PathReport};

/// The receiver's report on one packet, with the sequence number already unwrapped to the sender's numbering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Acknowledgement {
    /// Which packet.
    pub id: PacketId,
    /// When it arrived, by the receiver's clock; `None` if it had not arrived by the time of the report.
    pub arrival: Option<Time>,
    /// Its ECN field when it arrived; [`Ecn::NotCapable`] too where reports do not carry it. CE: a queue on the path
    /// marked it.
    pub ecn: Ecn,
}

impl Acknowledgement {
    /// A report without an ECN field.
    pub const fn new(id: PacketId, arrival: Option<Time>) -> Acknowledgement {
        Acknowledgement { id, arrival, ecn: Ecn::NotCapable }
    }

    /// The same with this ECN field.
    pub const fn with_ecn(self, ecn: Ecn) -> Acknowledgement {
        Acknowledgement { ecn, ..self }
    }
}

/// The outcome of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It arrived. May follow [`Fate::Lost`] for the same packet: it was late, not lost.
    Arrived {
        /// When, by the receiver's clock, at the time resolution of the report (TWCC: 250 us; RFC 8888: 1/1024 s).
        at: Time,
        /// Its ECN field when it arrived, as far as it is reported.
        ecn: Ecn,
        /// True if it had been declared lost before.
        was_lost: bool,
    },
    /// It is declared lost.
    Lost,
}

impl Fate {
    /// It arrived then, without a mark and without having been declared lost.
    pub const fn arrived(at: Time) -> Fate {
        Fate::Arrived { at, ecn: Ecn::NotCapable, was_lost: false }
    }

    /// It arrived then, without a mark, after it had been declared lost.
    pub const fn late(at: Time) -> Fate {
        Fate::Arrived { at, ecn: Ecn::NotCapable, was_lost: true }
    }

    /// Returns true if it arrived marked (ECN CE).
    pub const fn is_marked(&self) -> bool {
        matches!(self, Fate::Arrived { ecn: Ecn::Ce, .. })
    }
}

/// A sent packet and its fate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The packet as it was sent.
    pub packet: SentPacket,
    /// Its outcome.
    pub fate: Fate,
}

impl Report {
    /// A packet and the fate it met.
    pub const fn new(packet: SentPacket, fate: Fate) -> Report {
        Report { packet, fate }
    }

    /// When the packet arrived, by the receiver's clock.
    pub fn arrival(&self) -> Option<Time> {
        match self.fate {
            Fate::Arrived { at, .. } => Some(at),
            Fate::Lost => None,
        }
    }

    /// Returns true if the round trip of this packet is a sample of the path's: it arrived, was not declared lost
    /// before, and was sent after the last outage, with `first` or later. A packet that sat out an outage measures the
    /// outage.
    pub(crate) fn is_sample(&self, first: PacketId) -> bool {
        self.packet.id >= first && matches!(self.fate, Fate::Arrived { was_lost: false, .. })
    }
}

/// Cause of a [`Feedback`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
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
    /// The event that caused the feedback.
    pub cause: Cause,
    /// Each packet whose fate became known, in order of sending. Empty when a report held nothing new.
    pub reports: &'a [Report],
    /// Round-trip time of the newest packet that arrived, without the time for which the receiver is known to have held
    /// the report.
    pub rtt: Option<Span>,
    /// Arrival time minus sending time of that packet. The two times come from different clocks, so only differences
    /// between packets are meaningful.
    pub newest_delay: Option<Span>,
    /// `rtt` without the time for which the receiver held the report, even if the report does not state it (TWCC): the
    /// forward delay plus the min return delay seen. Use this delay to detect queues; a window must also cover the wait
    /// for reports.
    pub path_rtt: Option<Span>,
    /// Smoothed time from sending a packet to receiving feedback on it (gain 1/8, specs/vidaptive.md C1), this report
    /// included; `None` before the first. It includes the wait for batched reports, so window / srtt is the rate that
    /// the window sustains.
    pub srtt: Option<Span>,
    /// The min round-trip time of the connection.
    pub min_rtt: Option<Span>,
    /// How many packets are reported as marked now whose arrival was reported without a mark before: a copy that the
    /// path made of a packet came marked. They are not among `reports`, and each counts once.
    pub late_marks: u32,
    /// How many packets before the first one that this report names are in no report, where reports name the missing too:
    /// those reports are lost, and the packets may have arrived.
    pub unreported: u64,
    /// Bytes sent that neither are acknowledged nor have been overtaken, after this feedback.
    pub in_flight: Bytes,
    /// Bytes acknowledged on the path so far, this feedback included.
    pub delivered: Bytes,
    /// The first packet sent after the last outage: see [`Feedback::rtt_sample`].
    pub(crate) first: PacketId,
}

impl<'a> Feedback<'a> {
    /// Feedback on these packets only: no round-trip time, zero bytes in flight. [`History`] makes complete feedback.
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
            late_marks: 0,
            unreported: 0,
            in_flight: Bytes::ZERO,
            delivered: Bytes::ZERO,
            first: PacketId(0),
        }
    }

    /// The same feedback without the reports on packets before `first`: for a controller that was not called when those
    /// packets were sent.
    pub fn since(&self, first: PacketId) -> Feedback<'a> {
        let before = self.reports.partition_point(|report| report.packet.id < first);
        Feedback { reports: &self.reports[before..], ..*self }
    }

    /// How many marks it reports, those of packets that were reported without one before included.
    pub fn marks(&self) -> u32 {
        self.reports.iter().map(|report| u32::from(report.fate.is_marked())).sum::<u32>() + self.late_marks
    }

    /// Returns true if it reports an arrival.
    pub fn has_arrivals(&self) -> bool {
        self.reports.iter().any(|report| report.arrival().is_some())
    }

    /// The packets that arrived and when, in the receiver's order of arrival.
    pub(crate) fn in_order_of_arrival(&self) -> Vec<(Time, SentPacket)> {
        let reported = self.reports.iter().filter_map(|report| Some((report.arrival()?, report.packet)));
        let mut arrivals: Vec<(Time, SentPacket)> = reported.collect();
        arrivals.sort_unstable_by_key(|(at, packet)| (*at, packet.id));
        arrivals
    }

    /// Bytes that this feedback reports as arrived.
    pub fn arrived_bytes(&self) -> Bytes {
        self.reports.iter().filter(|report| report.arrival().is_some()).map(|report| report.packet.size).sum()
    }

    /// Bytes that this feedback reports as lost.
    pub fn lost_bytes(&self) -> Bytes {
        self.reports.iter().filter(|report| report.fate == Fate::Lost).map(|report| report.packet.size).sum()
    }

    /// Round-trip time of one arrived packet as if it had been acknowledged at once. A batched report delays the
    /// feedback on its early packets, but the receiver's clock shows how much longer a packet was on the path than the
    /// newest one.
    pub fn rtt_of(&self, report: &Report) -> Option<Span> {
        let delay = report.arrival()? - report.packet.at;
        Some((self.path_rtt? + (delay - self.newest_delay?)).max(Span::from_nanos(1)))
    }

    /// [`Feedback::rtt_of`] a packet that measures the path: `None` if it was declared lost before it arrived or sat
    /// out an outage (no arrivals for three probe timeouts, RFC 9002 section 7.6, or a feedback timeout). A window that
    /// took these for queueing delay would stay small for seconds after the outage.
    pub fn rtt_sample(&self, report: &Report) -> Option<Span> {
        self.rtt_of(report).filter(|_| report.is_sample(self.first))
    }

    /// How long feedback on an arrived packet waited at the receiver until the report was sent.
    pub fn held(&self, report: &Report) -> Option<Span> {
        Some(((self.now - report.packet.at) - self.rtt_of(report)?).max(Span::ZERO))
    }

    /// The mean of [`Feedback::held`] over the packets that arrived; `None` if none did.
    pub fn mean_held(&self) -> Option<Span> {
        mean(self.reports.iter().filter_map(|report| self.held(report)))
    }
}

/// The mean; `None` of nothing.
pub(crate) fn mean(spans: impl Iterator<Item = Span>) -> Option<Span> {
    let (sum, count) = spans.fold((Span::ZERO, 0), |(sum, count), span| (sum + span, count + 1));
    (count > 0).then(|| sum / count)
}
