//! RTCP reports to the sender.

use thalweg_units::{Span, Time};
use thalweg_wire::WriteError;
use thalweg_wire::rtcp::{
    self, Bye, Chunk, Fir, FirRequest, Item, NtpShort, NtpTime, Packet, Pli, ReceiverReport, Sdes, Xr, XrBlock,
};

use super::Reception;
use crate::reports::path;
use crate::rtp::output::Output;
use crate::rtp::streams::Kind;

/// Max plausible round-trip time: as long as anything waits for retransmissions. A longer one is forged, or a delay
/// measured from another origin.
const LONGEST_ROUND_TRIP: Span = Span::from_secs(10);

impl Reception {
    /// Sends arrival feedback, each message in its own datagram, together with the decoder's states.
    pub(super) fn send_feedback(&mut self, now: Time, arrivals: Vec<Packet>) {
        if arrivals.is_empty() {
            return;
        }
        for message in arrivals {
            self.send(now, message);
        }
        if let (Some(frames), Some(media)) = (&self.video, self.media_ssrc())
            && let Some(state) = frames.decoder_state(self.config.ssrc, media)
        {
            self.send(now, Packet::DecoderState(state));
        }
    }

    /// Sends the path report when it is due.
    pub(super) fn send_path_report(&mut self, now: Time) {
        let Some(report) = self.measuring.as_mut().and_then(|measuring| measuring.poll(now)) else { return };
        self.counts.path = Some(report);
        if let Some(media) = self.media_ssrc() {
            self.send(now, path::message(self.config.ssrc, media, &report));
        }
    }

    /// Requests what is missing, as far as negotiated.
    pub(super) fn request(&mut self, now: Time) {
        let (Some(frames), Some(video)) = (&mut self.video, &self.config.video) else { return };
        let (wants, agreed, sender_ssrc) = (frames.poll(now), video.feedback, self.config.ssrc);
        let Some(media_ssrc) = self.media_ssrc() else { return };
        if agreed.nack {
            for (nack, _) in wants.nacks(sender_ssrc, media_ssrc) {
                self.send(now, Packet::Nack(nack));
            }
        }
        if wants.keyframe && agreed.pli {
            self.send(now, Packet::Pli(Pli { sender_ssrc, media_ssrc }));
        } else if wants.keyframe && agreed.fir {
            // Numbered, so that a duplicate does not request a second one (RFC 5104 section 4.3.1.1).
            self.intra_requests = self.intra_requests.wrapping_add(1);
            let requests = vec![FirRequest { ssrc: media_ssrc, sequence: self.intra_requests }];
            self.send(now, Packet::Fir(Fir { sender_ssrc, requests }));
        }
    }

    /// Sends the receiver report when it is due.
    pub(super) fn report(&mut self, now: Time) {
        if now >= self.report_due {
            self.report_due = now + self.config.report_interval;
            let mut report = self.receiver_report(now);
            if self.learns_round_trip() {
                let blocks = vec![XrBlock::ReceiverTime(NtpTime::at(now))];
                report.push(Packet::Xr(Xr { ssrc: self.config.ssrc, blocks }));
            }
            self.write(&report);
        }
    }

    /// The last report, with the word that we leave. It is never of reduced size: a goodbye ends a compound (RFC 3550
    /// section 6.1).
    ///
    /// # Errors
    /// When a packet cannot hold all report blocks.
    pub fn goodbye(&mut self, now: Time) -> Result<Vec<u8>, WriteError> {
        let mut packets = self.receiver_report(now);
        packets.push(Packet::Bye(Bye { sources: vec![self.config.ssrc], reason: None }));
        let mut datagram = Vec::new();
        rtcp::write(&packets, &mut datagram)?;
        self.counts.rtcp_sent += 1;
        Ok(datagram)
    }

    fn learns_round_trip(&self) -> bool {
        self.config.video.as_ref().is_some_and(|video| video.feedback.round_trip)
    }

    /// The sender echoes a time of ours: computes the round-trip time by RFC 3611 section 4.5.
    pub(super) fn on_echo(&mut self, now: Time, report: &Xr) {
        if !self.learns_round_trip() {
            return;
        }
        let reported = |block: &XrBlock| match block {
            XrBlock::SinceReceiverTime(times) => times.iter().find(|last| last.ssrc == self.config.ssrc).copied(),
            _ => None,
        };
        let Some(last) = report.blocks.iter().find_map(reported) else { return };
        let round_trip = NtpShort::at(now).since(last.last_report).since(last.delay).span();
        if last.last_report != NtpShort::default() && round_trip <= LONGEST_ROUND_TRIP {
            self.learn(round_trip);
        }
    }

    fn media_ssrc(&self) -> Option<u32> {
        self.streams.get(Kind::Video).and_then(|stream| stream.ssrc)
    }

    /// Report blocks of every stream, and our CNAME (RFC 3550 section 6.1: every compound needs one).
    fn receiver_report(&mut self, now: Time) -> Vec<Packet> {
        let ssrc = self.config.ssrc;
        let report = ReceiverReport { ssrc, blocks: self.streams.blocks(now), extension: Vec::new() };
        let name = Item { kind: Item::CNAME, text: self.config.cname.clone().into_bytes() };
        let chunks = vec![Chunk { source: ssrc, items: vec![name] }];
        vec![Packet::ReceiverReport(report), Packet::Sdes(Sdes { chunks })]
    }

    fn send(&mut self, now: Time, packet: Packet) {
        let mut packets = if self.config.reduced_size { Vec::new() } else { self.receiver_report(now) };
        packets.push(packet);
        self.write(&packets);
    }

    fn write(&mut self, packets: &[Packet]) {
        let mut datagram = Vec::new();
        let written = rtcp::write(packets, &mut datagram);
        debug_assert_eq!(written, Ok(()), "no more is reported than a packet holds");
        if written.is_ok() {
            self.counts.rtcp_sent += 1;
            self.outputs.push_back(Output::Rtcp(datagram));
        } else {
            self.counts.rtcp_unsent += 1;
        }
    }
}
