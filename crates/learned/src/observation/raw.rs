//! The last reports as they came, in units in which a call's values are around 1.

use std::collections::VecDeque;

use thalweg_control::Cause;
use thalweg_control::{Feedback, SentPacket};
use thalweg_units::{Bytes, Rate, Span, Time};

use super::put;
use crate::Collector;

pub(super) const FEATURES: [&str; 9] = [
    "age of the report, s",
    "acknowledged since the report before, Mbit/s",
    "sent since the report before, Mbit/s",
    "mean queueing delay of what it covers, s: above the least one-way delay ever",
    "greatest queueing delay of what it covers, s",
    "lost packets over all packets that it covers",
    "in flight, Mbit",
    "smoothed round trip, s",
    "the rate that was set, Mbit/s",
];
/// Reports.
pub(super) const PLACES: usize = 32;

#[derive(Debug, Clone)]
struct Seen {
    at: Time,
    /// Features 1 to 8.
    values: [f64; FEATURES.len() - 1],
}

#[derive(Debug, Clone)]
pub(super) struct Reports {
    /// The newest first.
    seen: VecDeque<Seen>,
    /// When the report before came, or the sender began.
    before: Option<Time>,
    sent: Bytes,
}

impl Reports {
    pub(super) fn new() -> Reports {
        Reports { seen: VecDeque::new(), before: None, sent: Bytes::ZERO }
    }

    pub(super) fn begin(&mut self, now: Time) {
        self.before = Some(now);
    }

    pub(super) fn on_sent(&mut self, packet: &SentPacket) {
        self.before.get_or_insert(packet.at);
        self.sent += packet.size;
    }

    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>, collector: &Collector) {
        if feedback.cause != Cause::Report || feedback.reports.is_empty() {
            return;
        }
        let since = feedback.now - self.before.replace(feedback.now).unwrap_or(feedback.now);
        let rate = |size: Bytes| if since > Span::ZERO { size.per(since) } else { Rate::ZERO };
        let (mut arrived, mut sum, mut greatest) = (0u32, 0.0, 0.0f64);
        for report in feedback.reports {
            let Some(at) = report.arrival() else { continue };
            let queueing = collector.queueing_ms(report.packet.at, at) / 1e3;
            (arrived, sum, greatest) = (arrived + 1, sum + queueing, greatest.max(queueing));
        }
        let values = [
            rate(feedback.arrived_bytes()).as_mbps_f64(),
            rate(std::mem::take(&mut self.sent)).as_mbps_f64(),
            sum / f64::from(arrived.max(1)),
            greatest,
            1.0 - f64::from(arrived) / feedback.reports.len() as f64,
            feedback.in_flight.bits() as f64 / 1e6,
            feedback.srtt.map_or(0.0, Span::as_secs_f64),
            collector.setting().rate.as_mbps_f64(),
        ];
        self.seen.truncate(PLACES - 1);
        self.seen.push_front(Seen { at: feedback.now, values });
    }

    pub(super) fn write(&self, now: Time, to: &mut [f32]) {
        for (place, seen) in self.seen.iter().enumerate() {
            put(to, PLACES, (0, place), (now - seen.at).as_secs_f64());
            for (feature, value) in seen.values.into_iter().enumerate() {
                put(to, PLACES, (feature + 1, place), value);
            }
        }
    }
}
