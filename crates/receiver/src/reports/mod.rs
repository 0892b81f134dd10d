//! What the receiver reports of arrivals, in each of the styles that senders meet.

mod arrivals;

use std::collections::VecDeque;

use thalweg_control::{Acknowledgement, SentPacket};
use thalweg_sender::FeedbackStyle;
use thalweg_sender::feedback::{DecoderReport, News};
use thalweg_units::{Bytes, Span, Time};
use thalweg_wire::rtcp::ccfb::{self, Ecn};
use thalweg_wire::rtcp::{Packet, twcc};

use super::datagram::{self, EVERYTHING, MEDIA, RECEIVER};
use arrivals::{Arrivals, Memory};

/// Chromium's interval for transport-wide feedback (measured: design.md section 6).
const TWCC_INTERVAL: Span = Span::from_millis(62);
/// How long arrivals are remembered for it (libwebrtc `remote_estimator_proxy.cc`, `kBackWindow`).
const TWCC_MEMORY: Memory = Memory::Lasting(Span::from_millis(500));
/// Chromium's interval for RFC 8888 (measured: design.md section 6).
const CCFB_INTERVAL: Span = Span::from_millis(31);
/// How many arrivals are remembered for it (libwebrtc `congestion_control_feedback_tracker.cc`,
/// `kMaxPacketsToKeepForReorderCalculation`).
const CCFB_MEMORY: Memory = Memory::Newest(64);
/// An acknowledgement of a packet on the wire: no format exists, so the size of RTCP feedback with one arrival, 20 bytes.
const PER_PACKET_SIZE: Bytes = Bytes::new(20 + 8 + 20 + 14);

/// A report on its way to the sender.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// What it says of each packet that it covers, arrived or not.
    pub acknowledgements: Vec<Acknowledgement>,
    /// How long the newest packet's arrival was held back, where the format says so.
    pub hold: Option<Span>,
    /// What the receiver says of its decoder along with it, if it keeps states.
    pub decoder: Option<DecoderReport>,
    /// Its size on the wire: the datagram's bytes, SRTCP, UDP and IPv4.
    pub size: Bytes,
}

impl Report {
    /// What the sender makes of news that are a report, out of a datagram of this size on the wire.
    pub(super) fn heard(news: News, size: Bytes) -> Option<Report> {
        match news {
            News::Arrivals { acknowledgements, hold } => Some(Report { acknowledgements, hold, decoder: None, size }),
            News::Missing(_) | News::KeyframeNeeded | News::Decoder(_) => None,
        }
    }

    /// A report of the papers' idealised kind, which has no bytes.
    pub(super) fn told(acknowledgements: Vec<Acknowledgement>) -> Report {
        Report { acknowledgements, hold: None, decoder: None, size: PER_PACKET_SIZE }
    }
}

/// A report as it leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Message {
    /// Told without bytes.
    Told(Vec<Acknowledgement>),
    /// RTCP.
    Datagram(Vec<u8>),
}

/// Gathers arrivals into reports.
#[derive(Debug)]
pub(super) struct Reports {
    style: FeedbackStyle,
    clock_offset: Span,
    form: Form,
    next: Time,
    /// Made and not yet taken.
    made: VecDeque<Vec<u8>>,
}

#[derive(Debug)]
enum Form {
    Told(Vec<Acknowledgement>),
    Transport(Arrivals, twcc::Builder),
    Congestion(Arrivals, ccfb::Builder),
}

impl Reports {
    pub(super) fn new(style: FeedbackStyle, clock_offset: Span) -> Reports {
        let form = match style {
            FeedbackStyle::PerPacket => Form::Told(Vec::new()),
            FeedbackStyle::Twcc | FeedbackStyle::TwccOnRequest => {
                let config = twcc::Config { sender_ssrc: RECEIVER, media_ssrc: MEDIA, ..twcc::Config::default() };
                let Ok(builder) = config.build() else { unreachable!("the default limits can be built") };
                Form::Transport(Arrivals::new(TWCC_MEMORY), builder)
            }
            FeedbackStyle::Ccfb => {
                let config = ccfb::Config { sender_ssrc: RECEIVER, ..ccfb::Config::default() };
                let Ok(builder) = config.build() else { unreachable!("the default limits can be built") };
                Form::Congestion(Arrivals::new(CCFB_MEMORY), builder)
            }
        };
        Reports { style, clock_offset, form, next: Time::NEVER, made: VecDeque::new() }
    }

    /// A packet arrived; `asks` is whether it asks for a report at once.
    pub(super) fn on_packet(&mut self, now: Time, packet: &SentPacket, asks: bool) {
        let here = now + self.clock_offset;
        match &mut self.form {
            Form::Told(acknowledgements) => {
                acknowledgements.push(Acknowledgement { id: packet.id, arrival: Some(here), ce: false });
            }
            Form::Transport(arrivals, _) | Form::Congestion(arrivals, _) => {
                if !arrivals.on_packet(here, packet.id.0) {
                    return;
                }
            }
        }
        self.next = self.next.min(self.due(now, asks));
    }

    /// When a packet is to be reported.
    fn due(&self, now: Time, asks: bool) -> Time {
        match self.style {
            FeedbackStyle::PerPacket => now,
            FeedbackStyle::TwccOnRequest if asks => now,
            FeedbackStyle::TwccOnRequest => now + TWCC_INTERVAL,
            FeedbackStyle::Twcc => now + TWCC_INTERVAL,
            FeedbackStyle::Ccfb => now + CCFB_INTERVAL,
        }
    }

    pub(super) fn next_event(&self) -> Time {
        if self.made.is_empty() { self.next } else { Time::ZERO }
    }

    /// The next message that is due.
    pub(super) fn poll(&mut self, now: Time) -> Option<Message> {
        if self.next <= now {
            self.next = Time::NEVER;
            let here = now + self.clock_offset;
            match &mut self.form {
                Form::Told(acknowledgements) => {
                    acknowledgements.sort_by_key(|acknowledgement| acknowledgement.id);
                    // The next holds one, as nearly all do.
                    return Some(Message::Told(std::mem::replace(acknowledgements, Vec::with_capacity(1))));
                }
                Form::Transport(arrivals, builder) => {
                    let messages = builder.messages(&arrivals.take()).unwrap_or_default();
                    self.made.extend(messages.into_iter().map(Packet::TransportFeedback).map(datagram::datagram));
                }
                Form::Congestion(arrivals, builder) => {
                    let received = |(sequence, at): (u64, Option<Time>)| ccfb::Received {
                        ssrc: EVERYTHING,
                        sequence,
                        arrival: at.map(|at| (at, Ecn::NotCapable)),
                    };
                    let packets: Vec<ccfb::Received> = arrivals.take().into_iter().map(received).collect();
                    let messages = builder.messages(here, &packets).unwrap_or_default();
                    self.made.extend(messages.into_iter().map(Packet::CongestionFeedback).map(datagram::datagram));
                }
            }
        }
        self.made.pop_front().map(Message::Datagram)
    }
}

#[cfg(test)]
mod tests;
