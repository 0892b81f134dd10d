//! What is told of arrivals: by transport-wide number, at our pace or when asked, or by stream.

use thalweg_units::{Span, Time};
use thalweg_wire::rtcp::Packet;
use thalweg_wire::rtp::TransportSequence;
use thalweg_wire::unwrap::SequenceUnwrapper;

use super::config::Config;
use crate::reports::{CCFB_INTERVAL, Congestion, TWCC_INTERVAL, Transport};

/// What is told, and how.
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
}

/// Gathers arrivals of all streams.
#[derive(Debug)]
pub(super) struct ArrivalFeedback {
    style: Style,
    /// When the next message is due that nobody asks for.
    next: Time,
}

impl ArrivalFeedback {
    /// As was agreed on: RFC 8888 goes before transport-wide feedback, as in libwebrtc.
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
        } else {
            Style::Nothing
        };
        ArrivalFeedback { style, next }
    }

    /// Packet `sequence`, unwrapped, of stream `ssrc` came, perhaps with a number of the transport. What is to be told at once.
    pub(super) fn on_packet(
        &mut self,
        now: Time,
        ssrc: u32,
        sequence: u64,
        number: Option<TransportSequence>,
    ) -> Vec<Packet> {
        match &mut self.style {
            Style::Nothing => {}
            Style::Congestion(congestion) => {
                if congestion.on_packet(now, ssrc, sequence) {
                    self.next = self.next.min(now + CCFB_INTERVAL);
                }
            }
            Style::Transport { transport, numbers, pace } => {
                let Some(TransportSequence { sequence, request }) = number else { return Vec::new() };
                let number = numbers.unwrap(sequence.into());
                if transport.on_packet(now, number)
                    && let Some(pace) = *pace
                {
                    self.next = self.next.min(now + pace);
                }
                if let Some(request) = request.flatten() {
                    let answer = transport.answer(number, request);
                    if transport.is_told() {
                        self.next = Time::NEVER;
                    }
                    return answer;
                }
            }
        }
        Vec::new()
    }

    /// Stream `ssrc` is no more.
    pub(super) fn forget(&mut self, ssrc: u32) {
        if let Style::Congestion(congestion) = &mut self.style {
            congestion.forget(ssrc);
        }
    }

    /// What is to be told now.
    pub(super) fn poll(&mut self, now: Time) -> Vec<Packet> {
        if now < self.next {
            return Vec::new();
        }
        self.next = Time::NEVER;
        match &mut self.style {
            Style::Nothing => Vec::new(),
            Style::Transport { transport, .. } => transport.messages(),
            Style::Congestion(congestion) => congestion.messages(now),
        }
    }

    /// When [`ArrivalFeedback::poll`] has something to tell.
    pub(super) fn next_event(&self) -> Time {
        self.next
    }
}
