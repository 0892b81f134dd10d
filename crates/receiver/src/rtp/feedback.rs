//! Arrival feedback: by transport-wide sequence number, periodic or on request, or by stream, in RFC 8888 or extended
//! reports.
//!
//! RFC 8888's leave as frames do: libwebrtc's way for any sender, sooner for one of ours that asked for that, whose rate
//! follows the marks of queues (specs/l4s.md 4.1).

use thalweg_units::{Bytes, Ecn, Span, Time};
use thalweg_wire::rtcp::Packet;
use thalweg_wire::rtp::TransportSequence;
use thalweg_wire::unwrap::SequenceUnwrapper;

use super::config::Config;
use crate::reports::{ByFrame, Congestion, ExtendedStreams, TWCC_INTERVAL, Transport};

/// The kind of feedback.
#[derive(Debug)]
enum Style {
    Nothing,
    Transport {
        transport: Transport,
        numbers: SequenceUnwrapper,
        /// Interval for which arrivals are collected; `None` if feedback is sent only on request.
        pace: Option<Span>,
    },
    Congestion {
        congestion: Congestion,
        timing: ByFrame,
        /// When the last report left.
        last: Option<Time>,
    },
    Extended(ExtendedStreams),
}

/// A received packet as reports identify it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    pub(super) ssrc: u32,
    /// Clock rate of its stream in Hz.
    pub(super) clock: u32,
    /// Its unwrapped sequence number.
    pub(super) number: u64,
    /// Its transport-wide sequence number, if it has one.
    pub(super) transport: Option<TransportSequence>,
    /// The ECN field it arrived with.
    pub(super) ecn: Ecn,
    /// True with RTP's marker: a frame ends with it.
    pub(super) marker: bool,
}

/// Collects arrivals of all streams.
#[derive(Debug)]
pub(super) struct ArrivalFeedback {
    style: Style,
    /// When the next unrequested message is due.
    next: Time,
}

impl ArrivalFeedback {
    /// The negotiated feedback: RFC 8888 is preferred to transport-wide feedback, as in libwebrtc; extended reports are
    /// used when neither was negotiated.
    pub(super) fn new(config: &Config) -> ArrivalFeedback {
        let next = Time::NEVER;
        let Some(video) = &config.video else { return ArrivalFeedback { style: Style::Nothing, next } };
        let style = if video.feedback.congestion {
            let timing = if video.feedback.frames { ByFrame::SOON } else { ByFrame::USUAL };
            Style::Congestion { congestion: Congestion::new(config.ssrc), timing, last: None }
        } else if video.feedback.transport && video.extensions.transport_sequence.is_some() {
            let transport = Transport::new(config.ssrc, video.ssrcs.media.unwrap_or(0));
            let on_request = video.extensions.transport_on_request;
            let pace = if on_request { config.unasked } else { Some(TWCC_INTERVAL) };
            Style::Transport { transport, numbers: SequenceUnwrapper::new(), pace }
        } else if video.feedback.extended {
            Style::Extended(ExtendedStreams::new(config.ssrc))
        } else {
            Style::Nothing
        };
        ArrivalFeedback { style, next }
    }

    /// Sets the round-trip time, which determines the interval of extended reports.
    pub(super) fn learn(&mut self, round_trip: Span) {
        if let Style::Extended(extended) = &mut self.style {
            extended.learn(round_trip);
        }
    }

    /// A packet arrived; returns the feedback to send at once.
    pub(super) fn on_packet(&mut self, now: Time, arrival: Arrival) -> Vec<Packet> {
        let Arrival { ssrc, clock, number, transport, ecn, marker } = arrival;
        match &mut self.style {
            Style::Nothing => {}
            Style::Congestion { congestion, timing, last } => {
                if congestion.on_packet((now, ecn), ssrc, number) {
                    self.next = self.next.min(timing.due(now, *last, marker));
                }
            }
            Style::Extended(extended) => {
                extended.on_packet(now, ssrc, clock, number);
                self.next = extended.next();
            }
            Style::Transport { transport: reports, numbers, pace } => {
                let Some(TransportSequence { sequence, request }) = transport else { return Vec::new() };
                let number = numbers.unwrap(sequence.into());
                if reports.on_packet(now, number)
                    && let Some(pace) = *pace
                {
                    self.next = self.next.min(now + pace);
                }
                if let Some(request) = request.flatten() {
                    let answer = reports.answer(number, request);
                    if reports.is_reporting() {
                        self.next = Time::NEVER;
                    }
                    return answer;
                }
            }
        }
        Vec::new()
    }

    /// Packet `number` of stream `ssrc`, with this much payload, arrived too late to be played: only extended reports
    /// carry this.
    pub(super) fn on_discarded(&mut self, now: Time, ssrc: u32, number: u64, payload: Bytes) {
        if let Style::Extended(extended) = &mut self.style {
            extended.on_discarded(now, ssrc, number, payload);
            self.next = extended.next();
        }
    }

    /// Removes stream `ssrc`.
    pub(super) fn forget(&mut self, ssrc: u32) {
        match &mut self.style {
            Style::Congestion { congestion, .. } => congestion.forget(ssrc),
            Style::Extended(extended) => extended.forget(ssrc),
            Style::Nothing | Style::Transport { .. } => {}
        }
    }

    /// The feedback to send now.
    pub(super) fn poll(&mut self, now: Time) -> Vec<Packet> {
        if now < self.next {
            return Vec::new();
        }
        self.next = Time::NEVER;
        match &mut self.style {
            Style::Nothing => Vec::new(),
            Style::Transport { transport, .. } => transport.messages(),
            Style::Congestion { congestion, last, .. } => {
                *last = Some(now);
                congestion.messages(now)
            }
            Style::Extended(extended) => extended.messages(now),
        }
    }

    /// When [`ArrivalFeedback::poll`] should be called next.
    pub(super) fn next_event(&self) -> Time {
        self.next
    }
}
