//! What the receiver reports of arrivals, in each of the styles that senders meet.

mod arrivals;
mod congestion;
mod extended;
pub(crate) mod path;
mod transport;

use std::collections::VecDeque;

use thalweg_control::{Acknowledgement, PacketId, SentPacket};
use thalweg_media::FeedbackStyle;
use thalweg_media::feedback::{DecoderReport, News};
use thalweg_units::{Bytes, Span, Time};

use super::datagram::{self, EVERYTHING, MEDIA, RECEIVER};
pub(crate) use congestion::{Congestion, INTERVAL as CCFB_INTERVAL};
use extended::Extended;
pub(crate) use extended::ExtendedStreams;
pub(crate) use transport::{INTERVAL as TWCC_INTERVAL, Transport};

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
            News::Missing(_) | News::KeyframeNeeded | News::Decoder(_) | News::Path(_) => None,
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
    Transport(Transport),
    Congestion(Congestion),
    Extended(Extended),
}

impl Reports {
    pub(super) fn new(style: FeedbackStyle, clock_offset: Span) -> Reports {
        let form = match style {
            FeedbackStyle::PerPacket => Form::Told(Vec::new()),
            FeedbackStyle::Twcc | FeedbackStyle::TwccOnRequest => Form::Transport(Transport::new(RECEIVER, MEDIA)),
            FeedbackStyle::Ccfb => Form::Congestion(Congestion::new(RECEIVER)),
            FeedbackStyle::Extended => Form::Extended(Extended::new(RECEIVER, EVERYTHING)),
        };
        Reports { style, clock_offset, form, next: Time::NEVER, made: VecDeque::new() }
    }

    /// The round trip is known, which sets the pace of extended reports.
    pub(super) fn learn(&mut self, round_trip: Span) {
        if let Form::Extended(extended) = &mut self.form {
            extended.learn(round_trip);
        }
    }

    /// A packet arrived; `asks` is whether it asks for a report at once. Whether it is news: copies are not.
    pub(super) fn on_packet(&mut self, now: Time, packet: &SentPacket, asks: bool) -> bool {
        let here = now + self.clock_offset;
        let is_news = match &mut self.form {
            Form::Told(acknowledgements) => {
                acknowledgements.push(Acknowledgement { id: packet.id, arrival: Some(here), ce: false });
                true
            }
            Form::Transport(transport) => transport.on_packet(here, packet.id.0),
            Form::Congestion(congestion) => congestion.on_packet(here, EVERYTHING, packet.id.0),
            Form::Extended(extended) => {
                extended.on_packet(now, here, packet.id.0, packet.place.map(|place| place.captured))
            }
        };
        if is_news {
            self.next = self.next.min(self.due(now, asks));
        }
        is_news
    }

    /// A packet that arrived, with so much payload, came too late to be played: only extended reports say so.
    pub(super) fn on_discarded(&mut self, now: Time, id: PacketId, payload: Bytes) {
        if let Form::Extended(extended) = &mut self.form {
            extended.on_discarded(now, id.0, payload);
            self.next = self.next.min(extended.next());
        }
    }

    /// When a packet is to be reported.
    fn due(&self, now: Time, asks: bool) -> Time {
        match &self.form {
            Form::Told(_) => now,
            Form::Transport(_) if asks && self.style == FeedbackStyle::TwccOnRequest => now,
            Form::Transport(_) => now + TWCC_INTERVAL,
            Form::Congestion(_) => now + CCFB_INTERVAL,
            Form::Extended(extended) => extended.next(),
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
            let messages = match &mut self.form {
                Form::Told(acknowledgements) => {
                    acknowledgements.sort_by_key(|acknowledgement| acknowledgement.id);
                    // The next holds one, as nearly all do.
                    return Some(Message::Told(std::mem::replace(acknowledgements, Vec::with_capacity(1))));
                }
                Form::Transport(transport) => transport.messages().into_iter().map(datagram::datagram).collect(),
                Form::Congestion(congestion) => congestion.messages(here).into_iter().map(datagram::datagram).collect(),
                Form::Extended(extended) => extended.datagrams(now),
            };
            self.made.extend::<Vec<_>>(messages);
        }
        self.made.pop_front().map(Message::Datagram)
    }
}

#[cfg(test)]
mod tests;
