//! Statistics of a sender in one interval: sums over the packets that it sent and those that were reported to it.

use thalweg_control::Cause;
use thalweg_control::{Fate, Feedback, PacketId, Payload, SentPacket};
use thalweg_units::{Bytes, Rate, Span, Time};

use crate::Setting;

/// Sums over an interval. A packet counts in the interval in which its report reached the sender; a report that comes
/// every 62 ms (transport-wide feedback) therefore leaves an interval of 60 ms empty now and then.
///
/// One-way delays are made comparable without a common clock: the least one-way delay ever seen counts as half of the
/// least round trip, as on a path whose two directions are alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// How long it was.
    pub length: Span,
    /// Bytes sent, on the wire.
    pub sent: Bytes,
    /// Bytes reported as arrived, on the wire.
    pub received: Bytes,
    /// Packets reported as arrived.
    pub packets: u32,
    /// Audio packets among them.
    pub audio: u32,
    /// Padding and probe packets among them.
    pub probing: u32,
    /// Packets declared lost.
    pub lost: u32,
    /// Runs of lost packets that began: packets lost one after another are one.
    pub loss_runs: u32,
    /// The sum of the one-way delays of what arrived, in ms, by two clocks.
    delays_ms: f64,
    /// The least of them; infinite if nothing arrived.
    least_ms: f64,
    /// Gaps between arrivals: how many, their sum in ms and the sum of their squares.
    gaps: (u32, f64, f64),
    /// The least one-way delay ever, in ms, by two clocks; 0 before the first arrival.
    least_ever_ms: f64,
    /// The newest round trip; `None` before the first.
    pub round_trip: Option<Span>,
    /// The least round trip so far.
    pub least_round_trip: Option<Span>,
    /// Time since the last report, at the end of the interval; since the first packet if there was none.
    pub since_report: Span,
    /// Bytes in flight after the last report.
    pub in_flight: Bytes,
    /// The sender's setting at the interval's end.
    pub setting: Setting,
}

impl Interval {
    /// An interval without packets.
    pub(crate) fn empty(setting: Setting) -> Interval {
        Interval {
            length: Span::ZERO,
            sent: Bytes::ZERO,
            received: Bytes::ZERO,
            packets: 0,
            audio: 0,
            probing: 0,
            lost: 0,
            loss_runs: 0,
            delays_ms: 0.0,
            least_ms: f64::INFINITY,
            gaps: (0, 0.0, 0.0),
            least_ever_ms: 0.0,
            round_trip: None,
            least_round_trip: None,
            since_report: Span::ZERO,
            in_flight: Bytes::ZERO,
            setting,
        }
    }

    /// The interval that consists of this one and an earlier one directly before it. States are this one's.
    #[must_use]
    pub fn joined(&self, earlier: &Interval) -> Interval {
        Interval {
            length: self.length + earlier.length,
            sent: self.sent + earlier.sent,
            received: self.received + earlier.received,
            packets: self.packets + earlier.packets,
            audio: self.audio + earlier.audio,
            probing: self.probing + earlier.probing,
            lost: self.lost + earlier.lost,
            loss_runs: self.loss_runs + earlier.loss_runs,
            delays_ms: self.delays_ms + earlier.delays_ms,
            least_ms: self.least_ms.min(earlier.least_ms),
            gaps: (self.gaps.0 + earlier.gaps.0, self.gaps.1 + earlier.gaps.1, self.gaps.2 + earlier.gaps.2),
            ..*self
        }
    }

    /// The rate at which bytes arrived; zero if none did.
    pub fn receive_rate(&self) -> Rate {
        if self.length > Span::ZERO { self.received.per(self.length) } else { Rate::ZERO }
    }

    /// The rate at which bytes were sent.
    pub fn send_rate(&self) -> Rate {
        if self.length > Span::ZERO { self.sent.per(self.length) } else { Rate::ZERO }
    }

    /// The least one-way delay so far, in ms: half of the least round trip; 0 before the first.
    pub fn least_delay_ms(&self) -> f64 {
        self.least_round_trip.map_or(0.0, |least| least.as_millis_f64() / 2.0)
    }

    /// The mean one-way delay of what arrived, in ms; `None` if nothing did.
    pub fn mean_delay_ms(&self) -> Option<f64> {
        let mean = self.delays_ms / f64::from(self.packets);
        (self.packets > 0).then(|| (mean - self.least_ever_ms).max(0.0) + self.least_delay_ms())
    }

    /// The least one-way delay of what arrived, in ms; `None` if nothing did.
    pub fn least_of_interval_ms(&self) -> Option<f64> {
        (self.packets > 0).then(|| (self.least_ms - self.least_ever_ms).max(0.0) + self.least_delay_ms())
    }

    /// The mean time between arrivals and its standard deviation, in ms; `None` if there were no two.
    pub fn gap_ms(&self) -> Option<(f64, f64)> {
        let (count, sum, squares) = self.gaps;
        let mean = sum / f64::from(count);
        (count > 0).then(|| (mean, (squares / f64::from(count) - mean * mean).max(0.0).sqrt()))
    }

    /// The share of the packets with a known outcome that was lost; 0 if there were none.
    pub fn loss_ratio(&self) -> f64 {
        f64::from(self.lost) / f64::from((self.lost + self.packets).max(1))
    }

    /// The mean length of a run of losses, in packets; 0 without losses.
    pub fn mean_loss_run(&self) -> f64 {
        f64::from(self.lost) / f64::from(self.loss_runs.max(1))
    }
}

/// Collects an [`Interval`] after another from what a controller is given.
#[derive(Debug, Clone)]
pub struct Collector {
    current: Interval,
    began: Time,
    least_ever_ms: Option<f64>,
    last_arrival: Option<Time>,
    last_lost: Option<PacketId>,
    last_report: Option<Time>,
}

impl Collector {
    /// Before the first packet of a sender that is set like this.
    pub fn new(setting: Setting) -> Collector {
        Collector {
            current: Interval::empty(setting),
            began: Time::ZERO,
            least_ever_ms: None,
            last_arrival: None,
            last_lost: None,
            last_report: None,
        }
    }

    /// The first interval begins now.
    pub fn begin(&mut self, now: Time) {
        self.began = now;
        self.last_report = Some(now);
    }

    /// The sender is set to this from now on.
    pub fn set(&mut self, setting: Setting) {
        self.current.setting = setting;
    }

    pub(crate) fn setting(&self) -> Setting {
        self.current.setting
    }

    /// A packet left.
    pub fn on_sent(&mut self, packet: &SentPacket) {
        self.current.sent += packet.size;
        self.last_report.get_or_insert(packet.at);
    }

    /// The one-way delay of an arrived packet above the least ever, in ms.
    pub(crate) fn queueing_ms(&self, sent: Time, arrival: Time) -> f64 {
        (one_way_ms(sent, arrival) - self.least_ever_ms.unwrap_or_default()).max(0.0)
    }

    /// Feedback arrived.
    pub fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let now = &mut self.current;
        if feedback.cause == Cause::Report {
            self.last_report = Some(feedback.now);
        }
        now.in_flight = feedback.in_flight;
        now.round_trip = feedback.path_rtt.or(now.round_trip);
        now.least_round_trip = [now.least_round_trip, feedback.path_rtt].into_iter().flatten().min();
        for report in feedback.reports {
            let packet = &report.packet;
            match report.fate {
                Fate::Lost => {
                    let goes_on = self.last_lost.is_some_and(|last| last.0 + 1 == packet.id.0);
                    now.lost += 1;
                    now.loss_runs += u32::from(!goes_on);
                    self.last_lost = Some(packet.id);
                }
                Fate::Arrived { at, .. } => {
                    let delay = one_way_ms(packet.at, at);
                    now.packets += 1;
                    now.received += packet.size;
                    let probing = packet.probe.is_some() || packet.payload == Payload::Padding;
                    now.probing += u32::from(probing);
                    now.audio += u32::from(!probing && packet.payload == Payload::Audio);
                    now.delays_ms += delay;
                    now.least_ms = now.least_ms.min(delay);
                    self.least_ever_ms = Some(self.least_ever_ms.map_or(delay, |least| least.min(delay)));
                    if let Some(last) = self.last_arrival.replace(at) {
                        let gap = one_way_ms(last, at).abs();
                        now.gaps = (now.gaps.0 + 1, now.gaps.1 + gap, now.gaps.2 + gap * gap);
                    }
                }
            }
        }
    }

    /// Ends the interval; the next begins.
    pub fn close(&mut self, now: Time) -> Interval {
        let closed = Interval {
            length: now - self.began,
            least_ever_ms: self.least_ever_ms.unwrap_or_default(),
            since_report: self.last_report.map_or(Span::ZERO, |last| now - last),
            ..self.current
        };
        self.began = now;
        self.current = Interval {
            round_trip: closed.round_trip,
            least_round_trip: closed.least_round_trip,
            in_flight: closed.in_flight,
            ..Interval::empty(closed.setting)
        };
        closed
    }
}

/// In floating point: the two clocks may be any time apart.
fn one_way_ms(sent: Time, arrival: Time) -> f64 {
    (arrival.as_nanos() as f64 - sent.as_nanos() as f64) / 1e6
}
