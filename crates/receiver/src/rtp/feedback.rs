//! What is reported of arrivals: by transport-wide number, at our pace or when asked, or by stream, often or in extended reports.

use thalweg_units::{Bytes, Span, Time};
use thalweg_wire::rtcp::Packet;
use thalweg_wire::rtp::TransportSequence;
use thalweg_wire::unwrap::SequenceUnwrapper;

use super::config::Config;
use crate::reports::{CCFB_INTERVAL, Congestion, ExtendedStreams, TWCC_INTERVAL, Transport};

/// What is reported, and how.
#[derive(Debug)]
enum Style {
    Nothing,
    Transport {
        transport: Transport,
        numbers: SequenceUnwrapper,
        /// How long what came is held back; `None` where only requests are answered.
        pace: Option<Span>,
    },
    Congestion(Congestion),
    Extended(ExtendedStreams),
}

/// A packet that came, as reports name it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrival {
    pub(super) ssrc: u32,
    /// Ticks in a second of its stream's clock.
    pub(super) clock: u32,
    /// Its number on the stream, without end.
    pub(super) number: u64,
    /// Its number on the transport, if it has one.
    pub(super) transport: Option<TransportSequence>,
}

/// Gathers arrivals of all streams.
#[derive(Debug)]
pub(super) struct ArrivalFeedback {
    style: Style,
    /// When the next message is due that nobody asks for.
    next: Time,
}

impl ArrivalFeedback {
    /// As was agreed on: RFC 8888 goes before transport-wide feedback, as in libwebrtc, and extended reports are for where there is neither.
    pub(super) fn new(config: &Config) -> ArrivalFeedback {
        let next = Time::NEVER;
        let Some(video) = &config.video else { return ArrivalFeedback { style: Style::Nothing, next } };
        let style = if video.feedback.congestion {
            Style::Congestion(Congestion::new(config.ssrc))
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

    /// The round trip is known, which sets the pace of extended reports.
    pub(super) fn learn(&mut self, round_trip: Span) {
        if let Style::Extended(extended) = &mut self.style {
            extended.learn(round_trip);
        }
    }

    /// A packet came. What is to be reported at once.
    pub(super) fn on_packet(&mut self, now: Time, arrival: Arrival) -> Vec<Packet> {
        let Arrival { ssrc, clock, number, transport } = arrival;
        match &mut self.style {
            Style::Nothing => {}
            Style::Congestion(congestion) => {
                if congestion.on_packet(now, ssrc, number) {
                    self.next = self.next.min(now + CCFB_INTERVAL);
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

    /// Packet `number` of stream `ssrc`, with so much payload, came too late to be played: only extended reports say so.
    pub(super) fn on_discarded(&mut self, now: Time, ssrc: u32, number: u64, payload: Bytes) {
        if let Style::Extended(extended) = &mut self.style {
            extended.on_discarded(now, ssrc, number, payload);
            self.next = extended.next();
        }
    }

    /// Stream `ssrc` is no more.
    pub(super) fn forget(&mut self, ssrc: u32) {
        match &mut self.style {
            Style::Congestion(congestion) => congestion.forget(ssrc),
            Style::Extended(extended) => extended.forget(ssrc),
            Style::Nothing | Style::Transport { .. } => {}
        }
    }

    /// What is to be reported now.
    pub(super) fn poll(&mut self, now: Time) -> Vec<Packet> {
        if now < self.next {
            return Vec::new();
        }
        self.next = Time::NEVER;
        match &mut self.style {
            Style::Nothing => Vec::new(),
            Style::Transport { transport, .. } => transport.messages(),
            Style::Congestion(congestion) => congestion.messages(now),
            Style::Extended(extended) => extended.messages(now),
        }
    }

    /// When [`ArrivalFeedback::poll`] has something to tell.
    pub(super) fn next_event(&self) -> Time {
        self.next
    }
}
