//! The receiver's reports on arrivals, in each feedback style.

mod arrivals;
mod congestion;
mod extended;
pub(crate) mod path;
mod per_packet;
mod transport;

use std::collections::VecDeque;

use thalweg_control::PacketId;
use thalweg_types::{FeedbackStyle, Packet};
use thalweg_units::{Bytes, Seed, Span, Time};
use thalweg_wire::rtcp;

use super::drift::Drift;
use super::message::{About, EVERYTHING, MEDIA, Message, RECEIVER, datagram};
pub(crate) use congestion::Congestion;
use congestion::INTERVAL as CCFB_INTERVAL;
use extended::Extended;
pub(crate) use extended::ExtendedStreams;
use per_packet::PerPacket;
pub(crate) use transport::{INTERVAL as TWCC_INTERVAL, Transport};

/// When RFC 8888's reports leave that follow frames (specs/l4s.md 4.1).
#[derive(Debug, Clone, Copy)]
pub(crate) struct ByFrame {
    /// Least time between two of them; a packet that ends a frame waits no longer.
    pub(crate) least: Span,
    /// How long any other packet waits at most.
    pub(crate) most: Span,
}

impl ByFrame {
    /// libwebrtc's, `min_send_delta` and `max_wait_for_marker`. Its bound of 500 kbps, two bytes a packet, is that of a
    /// sender of 300 Mbps.
    pub(crate) const USUAL: ByFrame = ByFrame { least: Span::from_millis(25), most: Span::from_millis(25) };
    /// For a sender of ours that asked for it.
    pub(crate) const SOON: ByFrame = ByFrame { least: Span::from_millis(5), most: Span::from_millis(10) };

    /// When a packet that arrives now is reported, after a report at `last`.
    pub(crate) fn due(self, now: Time, last: Option<Time>, ends_frame: bool) -> Time {
        let waits = if ends_frame { now } else { now + self.most };
        last.map_or(waits, |last| waits.max(last + self.least))
    }
}

/// Gathers arrivals into reports.
#[derive(Debug)]
pub(super) struct Reports {
    style: FeedbackStyle,
    clock_offset: Span,
    pub(super) drift: Drift,
    form: Form,
    next: Time,
    /// When the last report was made.
    last: Option<Time>,
    /// Messages waiting to be taken.
    made: VecDeque<Message>,
}

#[derive(Debug)]
enum Form {
    PerPacket(PerPacket),
    Transport(Transport),
    Congestion(Congestion),
    Extended(Extended),
}

impl Reports {
    pub(super) fn new(style: FeedbackStyle, clock_offset: Span) -> Reports {
        let form = match style {
            FeedbackStyle::PerPacket => Form::PerPacket(PerPacket::new(transport::MEMORY)),
            FeedbackStyle::Twcc | FeedbackStyle::TwccOnRequest => Form::Transport(Transport::new(RECEIVER, MEDIA)),
            FeedbackStyle::Ccfb
            | FeedbackStyle::CcfbOnRequest
            | FeedbackStyle::CcfbByFrame
            | FeedbackStyle::CcfbEvery100Ms => Form::Congestion(Congestion::new(RECEIVER)),
            FeedbackStyle::Extended | FeedbackStyle::ExtendedRandomised => {
                Form::Extended(Extended::new(RECEIVER, EVERYTHING))
            }
        };
        let drift = Drift::default();
        Reports { style, clock_offset, drift, form, next: Time::NEVER, last: None, made: VecDeque::new() }
    }

    /// Sets what the intervals of randomised reports are drawn from.
    pub(super) fn seed(&mut self, seed: Seed) {
        if let (FeedbackStyle::ExtendedRandomised, Form::Extended(extended)) = (self.style, &mut self.form) {
            extended.randomise(seed);
        }
    }

    /// Sets the round-trip time, which determines the interval of extended reports.
    pub(super) fn learn(&mut self, round_trip: Span) {
        if let Form::Extended(extended) = &mut self.form {
            extended.learn(round_trip);
        }
    }

    /// A packet arrived. Returns whether it is new (duplicates are not).
    pub(super) fn on_packet(&mut self, now: Time, packet: &Packet) -> bool {
        let (here, sent) = (self.here(now), &packet.sent);
        let is_new = match &mut self.form {
            Form::PerPacket(reports) => reports.on_packet(here, sent),
            Form::Transport(transport) => transport.on_packet(here, sent.id.0),
            Form::Congestion(congestion) => congestion.on_packet((here, sent.ecn), EVERYTHING, sent.id.0),
            Form::Extended(extended) => {
                extended.on_packet(now, here, sent.id.0, sent.place.map(|place| place.captured))
            }
        };
        if is_new {
            self.next = self.next.min(self.due(now, packet));
        }
        is_new
    }

    /// A received packet, with this much payload, arrived too late to be played: only extended reports carry this.
    pub(super) fn on_discarded(&mut self, now: Time, id: PacketId, payload: Bytes) {
        if let Form::Extended(extended) = &mut self.form {
            extended.on_discarded(now, id.0, payload);
            self.next = self.next.min(extended.next());
        }
    }

    /// When a packet is to be reported.
    fn due(&self, now: Time, packet: &Packet) -> Time {
        match &self.form {
            Form::PerPacket(_) if packet.report_may_wait => now + CCFB_INTERVAL,
            Form::PerPacket(_) => now,
            Form::Transport(_) if packet.requests_feedback && self.style == FeedbackStyle::TwccOnRequest => now,
            Form::Transport(_) => now + TWCC_INTERVAL,
            Form::Congestion(_) => match self.style {
                FeedbackStyle::CcfbEvery100Ms => now + Span::from_millis(100),
                FeedbackStyle::CcfbOnRequest => ByFrame::SOON.due(now, self.last, packet.requests_feedback),
                FeedbackStyle::CcfbByFrame => {
                    ByFrame::USUAL.due(now, self.last, packet.sent.place.is_some_and(|place| place.last))
                }
                _ => now + CCFB_INTERVAL,
            },
            Form::Extended(extended) => extended.next(),
        }
    }

    /// The receiver's clock at `now`.
    fn here(&self, now: Time) -> Time {
        self.drift.reads(now) + self.clock_offset
    }

    pub(super) fn next_event(&self) -> Time {
        if self.made.is_empty() { self.next } else { Time::ZERO }
    }

    /// The next message that is due.
    pub(super) fn poll(&mut self, now: Time) -> Option<Message> {
        if self.next <= now {
            (self.next, self.last) = (Time::NEVER, Some(now));
            let here = self.here(now);
            let datagrams = match &mut self.form {
                Form::PerPacket(reports) => return Some(Message::acknowledging(reports.take())),
                Form::Transport(transport) => transport.messages().into_iter().map(counted).collect(),
                Form::Congestion(congestion) => congestion.messages(here).into_iter().map(counted).collect(),
                Form::Extended(extended) => extended.datagrams(now),
            };
            let report = |(bytes, packets)| Message::new(About::Report { packets }, bytes);
            self.made.extend(datagrams.into_iter().map(report));
        }
        self.made.pop_front()
    }
}

/// A report in its own datagram, and the number of packets it covers.
fn counted(report: rtcp::Packet) -> (Vec<u8>, u32) {
    let packets = match &report {
        rtcp::Packet::TransportFeedback(feedback) => feedback.statuses.len(),
        rtcp::Packet::CongestionFeedback(feedback) => feedback.streams.iter().map(|stream| stream.statuses.len()).sum(),
        _ => 0,
    };
    (datagram(&[report]), packets as u32)
}

#[cfg(test)]
mod tests;
