//! Reads RTCP datagrams.

use alloc::vec::Vec;

use thalweg_control::{Acknowledgement, PacketId, PathReport};
use thalweg_units::{Ecn, Span, Time};
use thalweg_wire::ParseError;
use thalweg_wire::rtcp::ccfb;
use thalweg_wire::rtcp::{self, DecoderState, Nack, Packet, ReceiverReport, ReportBlock, SenderReport, twcc};
use thalweg_wire::unwrap::FrameUnwrapper;

use super::numbering::Numbering;
use super::plain::PlainReports;
use super::rtcp_feedback::{DecoderReport, RtcpFeedback};
use super::xr;
use crate::state::StateHash;

/// Reads the RTCP of one receiver.
#[derive(Debug, Clone)]
pub struct Reader {
    transport: twcc::Reader,
    congestion: ccfb::Reader,
    /// Set if plain receiver reports are the only feedback.
    plain: Option<PlainReports>,
    /// The last known arrival time.
    last: Time,
    never_sent: u64,
}

impl Default for Reader {
    fn default() -> Reader {
        Reader::new()
    }
}

impl Reader {
    /// A new reader. Arrival times are on the receiver's clock, except for earlier wraparounds of the format (12.4 days
    /// and 18.2 hours).
    pub fn new() -> Reader {
        let transport = twcc::Reader::near(Time::ZERO);
        Reader { transport, congestion: ccfb::Reader::near(Time::ZERO), plain: None, last: Time::ZERO, never_sent: 0 }
    }

    /// A reader for a receiver that sends only receiver reports (RFC 3550): packets count as arrived when the report
    /// arrives, so pass the time with [`Reader::read_at`].
    pub fn of_plain_reports() -> Reader {
        Reader { plain: Some(PlainReports::default()), ..Reader::new() }
    }

    /// How many packets the receiver has acknowledged whose numbers the sender had skipped: an honest one acknowledges
    /// none.
    pub fn never_sent(&self) -> u64 {
        self.never_sent
    }

    /// Like [`Reader::read`], with the time `now` as the arrival time in plain receiver reports.
    ///
    /// # Errors
    /// Those of [`Reader::read`].
    pub fn read_at(
        &mut self,
        now: Time,
        datagram: &[u8],
        sent: &impl Numbering,
    ) -> Result<Vec<RtcpFeedback>, ParseError> {
        self.last = if self.plain.is_some() { now } else { self.last };
        self.read(datagram, sent)
    }

    /// Reads a decrypted RTCP datagram. Packets that were never sent, other streams and RTCP without feedback are
    /// ignored. An arrival without a time gets the last known time.
    ///
    /// # Errors
    /// When the datagram is malformed; then nothing of it counts.
    pub fn read(&mut self, datagram: &[u8], sent: &impl Numbering) -> Result<Vec<RtcpFeedback>, ParseError> {
        let packets = rtcp::parse(datagram)?;
        Ok(packets.iter().filter_map(|packet| self.understand(packet, sent)).collect())
    }

    fn understand(&mut self, packet: &Packet, sent: &impl Numbering) -> Option<RtcpFeedback> {
        match packet {
            Packet::TransportFeedback(feedback) => self.transport(feedback, sent),
            Packet::CongestionFeedback(feedback) => self.congestion(feedback, sent),
            Packet::SenderReport(SenderReport { blocks, .. })
            | Packet::ReceiverReport(ReceiverReport { blocks, .. }) => self.plain(blocks, sent),
            // If plain reports give the arrival times, other reports do not.
            Packet::Xr(report) if self.plain.is_none() => {
                let acknowledgements = xr::read(report, sent, &mut self.last);
                (!acknowledgements.is_empty()).then_some(RtcpFeedback::Arrivals { acknowledgements, hold: None })
            }
            Packet::DecoderState(state) => decoder(state, sent),
            Packet::PathReport(report) => sent.is_media(report.media_ssrc).then(|| path(report)),
            Packet::Nack(nack) if sent.is_media(nack.media_ssrc) => missing(nack, sent.newest_of(nack.media_ssrc)?),
            Packet::Pli(loss) => sent.is_media(loss.media_ssrc).then_some(RtcpFeedback::KeyframeNeeded),
            Packet::Fir(intra) => {
                let ours = intra.requests.iter().any(|request| sent.is_media(request.ssrc));
                ours.then_some(RtcpFeedback::KeyframeNeeded)
            }
            _ => None,
        }
    }

    fn plain(&mut self, blocks: &[ReportBlock], sent: &impl Numbering) -> Option<RtcpFeedback> {
        let (now, plain) = (self.last, self.plain.as_mut()?);
        let acknowledgements = plain.take(now, blocks, sent);
        (!acknowledgements.is_empty()).then_some(RtcpFeedback::Arrivals { acknowledgements, hold: None })
    }

    fn transport(&mut self, feedback: &twcc::Feedback, sent: &impl Numbering) -> Option<RtcpFeedback> {
        let newest = sent.newest_transport()?;
        let (last, never_sent) = (&mut self.last, &mut self.never_sent);
        let packets = self.transport.read(feedback, newest).filter(|(sequence, _)| *sequence <= newest);
        let mut acknowledgements = Vec::with_capacity(feedback.statuses.len());
        acknowledgements.extend(packets.filter_map(|(sequence, arrival)| {
            let Some(id) = sent.transported(sequence) else {
                *never_sent += u64::from(arrival != twcc::Arrival::Missing);
                return None;
            };
            let arrival = match arrival {
                twcc::Arrival::Missing => None,
                twcc::Arrival::Untimed => Some(*last),
                twcc::Arrival::At(time) => {
                    *last = time;
                    Some(time)
                }
            };
            Some(Acknowledgement::new(id, arrival))
        }));
        (!acknowledgements.is_empty()).then_some(RtcpFeedback::Arrivals { acknowledgements, hold: None })
    }

    fn congestion(&mut self, feedback: &ccfb::Feedback, sent: &impl Numbering) -> Option<RtcpFeedback> {
        let last = &mut self.last;
        let known = feedback.streams.iter().filter(|stream| sent.newest_of(stream.ssrc).is_some());
        let statuses = known.flat_map(|stream| &stream.statuses);
        let packets = self.congestion.read(feedback, |ssrc| sent.newest_of(ssrc)).zip(statuses);
        let mut acknowledgements = Vec::new();
        let mut newest: Option<(PacketId, Span)> = None;
        for ((ssrc, sequence, arrival), status) in packets {
            let Some(id) = sent.packet(ssrc, sequence) else {
                let skipped = sent.is_skipped(ssrc, sequence) && arrival != ccfb::Arrival::Missing;
                self.never_sent += u64::from(skipped);
                continue;
            };
            let (arrival, ecn) = match arrival {
                ccfb::Arrival::Missing => (None, Ecn::NotCapable),
                ccfb::Arrival::Untimed { ecn } => (Some(*last), ecn),
                ccfb::Arrival::At { time, ecn } => {
                    *last = time;
                    (Some(time), ecn)
                }
            };
            if let ccfb::Status::Arrived { offset, .. } = status
                && let Some(held) = offset.span()
                && newest.is_none_or(|(other, _)| id > other)
            {
                newest = Some((id, held));
            }
            acknowledgements.push(Acknowledgement::new(id, arrival).with_ecn(ecn));
        }
        let hold = newest.map(|(_, held)| held);
        (!acknowledgements.is_empty()).then_some(RtcpFeedback::Arrivals { acknowledgements, hold })
    }
}

/// A receiver's path measurement, as controllers take it.
fn path(report: &rtcp::PathReport) -> RtcpFeedback {
    let rtcp::PathReport { capacity, received, lost, .. } = *report;
    RtcpFeedback::Path(PathReport { capacity, received, lost })
}

/// A decoder's state, if it belongs to one of the sender's frames.
fn decoder(state: &DecoderState, sent: &impl Numbering) -> Option<RtcpFeedback> {
    let newest = sent.newest_frame().filter(|_| sent.is_media(state.media_ssrc))?;
    let frame = FrameUnwrapper::after(newest).peek(state.frame);
    (frame <= newest).then(|| {
        RtcpFeedback::Decoder(DecoderReport {
            frame,
            fragment: state.fragment,
            interarrival: state.interarrival,
            current: StateHash(state.current),
            complete: state.complete.iter().copied().map(StateHash).collect(),
        })
    })
}

/// The media packets that a NACK requests, each at or up to 65535 before the newest.
fn missing(nack: &Nack, newest: u64) -> Option<RtcpFeedback> {
    let whole = |sequence: u16| newest.checked_sub((newest as u16).wrapping_sub(sequence).into());
    let missing: Vec<u64> = nack.lost().filter_map(whole).collect();
    (!missing.is_empty()).then_some(RtcpFeedback::Missing(missing))
}
