//! Transport-wide feedback: arrivals by transport-wide sequence number, reported at the receiver's interval or on a
//! packet's request (libwebrtc `modules/remote_bitrate_estimator/remote_estimator_proxy.cc`).

use thalweg_units::{Span, Time};
use thalweg_wire::rtcp::{Packet, twcc};
use thalweg_wire::rtp::FeedbackRequest;

use super::arrivals::{Arrivals, Memory};

/// Chromium's interval for transport-wide feedback (specs/measured.md 1).
pub(crate) const INTERVAL: Span = Span::from_millis(62);
/// How long arrivals are remembered for it (libwebrtc `remote_estimator_proxy.cc`, `kBackWindow`).
pub(super) const MEMORY: Memory = Memory::Lasting(Span::from_millis(500));

/// Arrivals by transport-wide sequence number, and the messages that report them.
#[derive(Debug)]
pub(crate) struct Transport {
    arrivals: Arrivals,
    builder: twcc::Builder,
}

impl Transport {
    /// Creates feedback sent by `sender_ssrc` for the transport that `media_ssrc` is on.
    pub(crate) fn new(sender_ssrc: u32, media_ssrc: u32) -> Transport {
        let config = twcc::Config { sender_ssrc, media_ssrc, ..twcc::Config::default() };
        let Ok(builder) = config.build() else { unreachable!("the default limits can be built") };
        Transport { arrivals: Arrivals::new(MEMORY), builder }
    }

    /// Packet `number`, unwrapped, arrived; returns whether it is new.
    pub(crate) fn on_packet(&mut self, here: Time, number: u64) -> bool {
        self.arrivals.on_packet(here, number)
    }

    /// Returns true if all arrivals were reported.
    pub(crate) fn is_reporting(&self) -> bool {
        self.arrivals.is_reporting()
    }

    /// Messages with everything not yet reported, which they mark as reported.
    pub(crate) fn messages(&mut self) -> Vec<Packet> {
        self.build(None, true)
    }

    /// The feedback that packet `number` requested: the packets up to and including it, reported before or not.
    pub(crate) fn answer(&mut self, number: u64, request: FeedbackRequest) -> Vec<Packet> {
        let begin = (number + 1).saturating_sub(request.count.into());
        self.build(Some((begin, number + 1)), request.timestamps)
    }

    fn build(&mut self, range: Option<(u64, u64)>, timestamps: bool) -> Vec<Packet> {
        let report = match range {
            None => self.arrivals.take(),
            Some((begin, end)) => self.arrivals.take_range(begin, end),
        };
        let mut messages = self.builder.messages(&report).unwrap_or_default();
        if !timestamps {
            messages.iter_mut().flat_map(|message| &mut message.statuses).for_each(untimed);
        }
        messages.into_iter().map(Packet::TransportFeedback).collect()
    }
}

fn untimed(status: &mut twcc::Status) {
    if matches!(status, twcc::Status::Arrived(_)) {
        *status = twcc::Status::Untimed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use twcc::Status;

    fn statuses(packets: &[Packet]) -> Vec<(u16, Vec<Status>)> {
        let of = |packet: &Packet| match packet {
            Packet::TransportFeedback(feedback) => (feedback.base_sequence, feedback.statuses.clone()),
            other => panic!("{other:?}"),
        };
        packets.iter().map(of).collect()
    }

    fn fed(numbers: &[u64]) -> Transport {
        let mut transport = Transport::new(1, 2);
        for (index, number) in numbers.iter().enumerate() {
            transport.on_packet(Time::from_millis(64 + index as u64), *number);
        }
        transport
    }

    #[test]
    fn a_request_is_answered_with_as_many_packets_as_it_names_told_or_not() {
        let mut transport = fed(&[10, 11, 13]);
        transport.messages();
        transport.on_packet(Time::from_millis(70), 14);
        let request = FeedbackRequest { timestamps: true, count: 4 };
        let reported = statuses(&transport.answer(14, request));
        let ticks = [4, 4, 16].map(Status::Arrived);
        assert_eq!(reported, [(11, vec![ticks[0], Status::Missing, ticks[1], ticks[2]])]);
        assert!(transport.is_reporting());
    }

    #[test]
    fn what_a_request_leaves_out_is_told_later() {
        let mut transport = fed(&[10, 11, 12, 13]);
        let answer = statuses(&transport.answer(13, FeedbackRequest { timestamps: false, count: 2 }));
        assert_eq!(answer, [(12, vec![Status::Untimed; 2])]);
        assert!(!transport.is_reporting());
        assert_eq!(statuses(&transport.messages())[0].0, 10);
        assert!(transport.is_reporting());
    }

    #[test]
    fn a_request_for_more_than_is_remembered_tells_what_is() {
        let mut transport = fed(&[10, 11]);
        let answer = statuses(&transport.answer(11, FeedbackRequest { timestamps: false, count: 32_767 }));
        assert_eq!(answer, [(10, vec![Status::Untimed; 2])]);
        assert_eq!(transport.answer(5, FeedbackRequest { timestamps: true, count: 3 }), []);
    }
}
