//! The receiver's RTCP, read: a datagram in, what [`Engine`](crate::Engine) takes out.
//!
//! The wire has 16 bits for a packet's number and a clock of its own. A [`Reader`] places numbers by what the sender gave out
//! last ([`Numbering`]; [`Streams`] for senders of several RTP streams) and follows the receiver's clock through its wraps. It
//! opens no socket and knows no key, so a simulated sender hears with the same ear as a real one.

mod extended;
mod plain;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use thalweg_control::{Acknowledgement, PacketId, PathReport};
use thalweg_units::{Span, Time};
use thalweg_wire::ParseError;
use thalweg_wire::rtcp::ccfb::{self, Ecn};
use thalweg_wire::rtcp::{self, DecoderState, Nack, Packet, ReceiverReport, ReportBlock, SenderReport, twcc};
use thalweg_wire::unwrap::FrameUnwrapper;

use crate::frames::StateHash;
use plain::PlainReports;

/// What a receiver says, in the sender's own numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// A report of arrivals, for [`Engine::on_feedback`](crate::Engine::on_feedback).
    Arrivals {
        /// Every packet that the report covers, arrived or not.
        acknowledgements: Vec<Acknowledgement>,
        /// How long the receiver held back the arrival of the newest packet that came, if the format tells (RFC 8888 does,
        /// transport-wide feedback does not).
        hold: Option<Span>,
    },
    /// These media packets are missing, for [`Engine::on_missing`](crate::Engine::on_missing).
    Missing(Vec<u64>),
    /// What state the receiver's decoder is in, for [`Engine::on_decoder`](crate::Engine::on_decoder).
    Decoder(DecoderReport),
    /// What the receiver measured of the path, for [`Engine::on_path_report`](crate::Engine::on_path_report).
    Path(PathReport),
    /// A picture cannot be decoded, for [`Engine::on_keyframe_request`](crate::Engine::on_keyframe_request).
    KeyframeNeeded,
}

/// What a receiver that keeps its decoder's states says of them (Salsify section 3.2: in each acknowledgement).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecoderReport {
    /// The frame of the newest packet that came ...
    pub frame: u64,
    /// ... and which of its fragments it was.
    pub fragment: u16,
    /// tau: the smoothed time between arrivals, less the sender's own pauses.
    pub interarrival: Span,
    /// The state the decoder is in; [`StateHash::UNKNOWN`] or any other that no whole frame led to after a loss.
    pub current: StateHash,
    /// The states it can go back to, the newest last.
    pub complete: Vec<StateHash>,
}

/// How the sender numbered what it sent: what tells one turn of 16 bits from another.
pub trait Numbering {
    /// The last packet sent, of any stream.
    fn newest(&self) -> Option<PacketId>;

    /// The last RTP sequence number of a stream before it was cut to 16 bits; `None` for streams that are not the sender's.
    fn newest_of(&self, ssrc: u32) -> Option<u64>;

    /// Whether it is the stream that frames go out on: of no other packets or pictures can be asked for. Repeats and parity have numbers of
    /// their own, which say nothing of media.
    fn is_media(&self, ssrc: u32) -> bool;

    /// The last frame of which a packet was sent; `None` for a sender whose frames have no numbers on the wire.
    fn newest_frame(&self) -> Option<u64>;

    /// The packet that went out under this number of a stream; `None` if there was none or it is forgotten.
    fn packet(&self, ssrc: u32, sequence: u64) -> Option<PacketId>;

    /// Ticks of a stream's RTP clock in a second, which receipt times are told in: of video 90,000 (RFC 7741, RFC 6184, RFC 9628).
    fn clock_rate(&self, _ssrc: u32) -> u32 {
        90_000
    }
}

/// Reads the RTCP of one receiver.
#[derive(Debug, Clone)]
pub struct Reader {
    transport: twcc::Reader,
    congestion: ccfb::Reader,
    /// Where nothing else is agreed on.
    plain: Option<PlainReports>,
    /// The last arrival that had a time.
    last: Time,
}

impl Default for Reader {
    fn default() -> Reader {
        Reader::new()
    }
}

impl Reader {
    /// A reader that has heard nothing yet. Arrivals are on the receiver's clock, but for whole turns of the format's (12.4
    /// days and 18.2 hours) that went before.
    pub fn new() -> Reader {
        let transport = twcc::Reader::near(Time::ZERO);
        Reader { transport, congestion: ccfb::Reader::near(Time::ZERO), plain: None, last: Time::ZERO }
    }

    /// A reader for a receiver that tells nothing but receiver reports (RFC 3550): packets are taken to arrive when the report does, so give
    /// [`Reader::read_at`] the time.
    pub fn of_plain_reports() -> Reader {
        Reader { plain: Some(PlainReports::default()), ..Reader::new() }
    }

    /// [`Reader::read`] at the time `now`, which plain receiver reports are dated by.
    ///
    /// # Errors
    /// As there.
    pub fn read_at(&mut self, now: Time, datagram: &[u8], sent: &impl Numbering) -> Result<Vec<News>, ParseError> {
        self.last = if self.plain.is_some() { now } else { self.last };
        self.read(datagram, sent)
    }

    /// What a datagram of RTCP says, already decrypted. Packets that were never sent, streams of others and RTCP that is no
    /// feedback are passed over. An arrival whose time is not told has the last time that was.
    ///
    /// # Errors
    /// A malformed datagram; nothing of it counts then.
    pub fn read(&mut self, datagram: &[u8], sent: &impl Numbering) -> Result<Vec<News>, ParseError> {
        let packets = rtcp::parse(datagram)?;
        Ok(packets.iter().filter_map(|packet| self.understand(packet, sent)).collect())
    }

    fn understand(&mut self, packet: &Packet, sent: &impl Numbering) -> Option<News> {
        match packet {
            Packet::TransportFeedback(feedback) => self.transport(feedback, sent.newest()?),
            Packet::CongestionFeedback(feedback) => self.congestion(feedback, sent),
            Packet::SenderReport(SenderReport { blocks, .. })
            | Packet::ReceiverReport(ReceiverReport { blocks, .. }) => self.plain(blocks, sent),
            // Where plain reports date arrivals no others do.
            Packet::ExtendedReport(report) if self.plain.is_none() => {
                let acknowledgements = extended::read(report, sent, &mut self.last);
                (!acknowledgements.is_empty()).then_some(News::Arrivals { acknowledgements, hold: None })
            }
            Packet::DecoderState(state) => decoder(state, sent),
            Packet::PathReport(report) => sent.is_media(report.media_ssrc).then(|| path(report)),
            Packet::Nack(nack) if sent.is_media(nack.media_ssrc) => missing(nack, sent.newest_of(nack.media_ssrc)?),
            Packet::PictureLoss(loss) => sent.is_media(loss.media_ssrc).then_some(News::KeyframeNeeded),
            Packet::FullIntra(intra) => {
                let ours = intra.requests.iter().any(|request| sent.is_media(request.ssrc));
                ours.then_some(News::KeyframeNeeded)
            }
            _ => None,
        }
    }

    fn plain(&mut self, blocks: &[ReportBlock], sent: &impl Numbering) -> Option<News> {
        let (now, plain) = (self.last, self.plain.as_mut()?);
        let mut acknowledgements: Vec<Acknowledgement> =
            blocks.iter().flat_map(|block| plain.read(now, block, sent)).collect();
        acknowledgements.sort_unstable_by_key(|told| told.id);
        (!acknowledgements.is_empty()).then_some(News::Arrivals { acknowledgements, hold: None })
    }

    fn transport(&mut self, feedback: &twcc::Feedback, newest: PacketId) -> Option<News> {
        let last = &mut self.last;
        let packets = self.transport.read(feedback, newest.0).filter(|(sequence, _)| *sequence <= newest.0);
        let mut acknowledgements = Vec::with_capacity(feedback.statuses.len());
        acknowledgements.extend(packets.map(|(sequence, arrival)| {
            let arrival = match arrival {
                twcc::Arrival::Missing => None,
                twcc::Arrival::Untimed => Some(*last),
                twcc::Arrival::At(time) => {
                    *last = time;
                    Some(time)
                }
            };
            Acknowledgement { id: PacketId(sequence), arrival, ce: false }
        }));
        (!acknowledgements.is_empty()).then_some(News::Arrivals { acknowledgements, hold: None })
    }

    fn congestion(&mut self, feedback: &ccfb::Feedback, sent: &impl Numbering) -> Option<News> {
        let last = &mut self.last;
        let known = feedback.streams.iter().filter(|stream| sent.newest_of(stream.ssrc).is_some());
        let statuses = known.flat_map(|stream| &stream.statuses);
        let packets = self.congestion.read(feedback, |ssrc| sent.newest_of(ssrc)).zip(statuses);
        let mut acknowledgements = Vec::new();
        let mut newest: Option<(PacketId, Span)> = None;
        for ((ssrc, sequence, arrival), status) in packets {
            let Some(id) = sent.packet(ssrc, sequence) else { continue };
            let (arrival, ce) = match arrival {
                ccfb::Arrival::Missing => (None, false),
                ccfb::Arrival::Untimed { ecn } => (Some(*last), ecn == Ecn::Ce),
                ccfb::Arrival::At { time, ecn } => {
                    *last = time;
                    (Some(time), ecn == Ecn::Ce)
                }
            };
            if let ccfb::Status::Arrived { offset, .. } = status
                && let Some(held) = offset.span()
                && newest.is_none_or(|(other, _)| id > other)
            {
                newest = Some((id, held));
            }
            acknowledgements.push(Acknowledgement { id, arrival, ce });
        }
        let hold = newest.map(|(_, held)| held);
        (!acknowledgements.is_empty()).then_some(News::Arrivals { acknowledgements, hold })
    }
}

/// What a receiver measured, as controllers hear it.
fn path(report: &rtcp::PathReport) -> News {
    let rtcp::PathReport { capacity, received, lost, .. } = *report;
    News::Path(PathReport { capacity, received, lost })
}

/// A decoder's state, if it is of a frame of the sender's own.
fn decoder(state: &DecoderState, sent: &impl Numbering) -> Option<News> {
    let newest = sent.newest_frame().filter(|_| sent.is_media(state.media_ssrc))?;
    let frame = FrameUnwrapper::after(newest).peek(state.frame);
    (frame <= newest).then(|| {
        News::Decoder(DecoderReport {
            frame,
            fragment: state.fragment,
            interarrival: state.interarrival,
            current: StateHash(state.current),
            complete: state.complete.iter().copied().map(StateHash).collect(),
        })
    })
}

/// The media packets a NACK asks for, each at or up to 65535 before the newest.
fn missing(nack: &Nack, newest: u64) -> Option<News> {
    let whole = |sequence: u16| newest.checked_sub((newest as u16).wrapping_sub(sequence).into());
    let missing: Vec<u64> = nack.lost().filter_map(whole).collect();
    (!missing.is_empty()).then_some(News::Missing(missing))
}

/// Which packet went out under which number of which RTP stream.
#[derive(Debug, Clone, Default)]
pub struct Streams {
    newest: Option<PacketId>,
    /// The stream that frames go out on, and the last frame.
    media: Option<(u32, u64)>,
    streams: BTreeMap<u32, Stream>,
    /// Ticks in a second, of streams that are not video.
    clocks: BTreeMap<u32, u32>,
}

#[derive(Debug, Clone, Default)]
struct Stream {
    /// The number of the first packet remembered.
    first: u64,
    packets: VecDeque<PacketId>,
}

impl Streams {
    /// As many packets of a stream as 16 bits tell apart.
    const REMEMBERED: usize = 1 << 16;

    /// Nothing sent yet.
    pub fn new() -> Streams {
        Streams::default()
    }

    /// Packet `id` went out as number `sequence` (not cut to 16 bits) of stream `ssrc`. Numbers of a stream follow one another;
    /// at a jump what went before it is forgotten.
    pub fn on_sent(&mut self, id: PacketId, ssrc: u32, sequence: u64) {
        self.newest = self.newest.max(Some(id));
        let stream = self.streams.entry(ssrc).or_default();
        if sequence != stream.first + stream.packets.len() as u64 {
            *stream = Stream { first: sequence, packets: VecDeque::new() };
        }
        stream.packets.push_back(id);
        if stream.packets.len() > Streams::REMEMBERED {
            stream.packets.pop_front();
            stream.first += 1;
        }
    }

    /// A stream's RTP clock has so many ticks in a second; those of which nothing is said have the 90,000 of video.
    pub fn on_clock(&mut self, ssrc: u32, ticks: u32) {
        self.clocks.insert(ssrc, ticks);
    }

    /// A packet of this frame went out on stream `ssrc`, not as a repeat of one: it is that of media from now on.
    pub fn on_frame(&mut self, ssrc: u32, frame: u64) {
        self.media = Some((ssrc, self.newest_frame().unwrap_or(0).max(frame)));
    }
}

impl Numbering for Streams {
    fn newest(&self) -> Option<PacketId> {
        self.newest
    }

    fn newest_of(&self, ssrc: u32) -> Option<u64> {
        let stream = self.streams.get(&ssrc)?;
        (stream.first + stream.packets.len() as u64).checked_sub(1)
    }

    fn is_media(&self, ssrc: u32) -> bool {
        self.media.is_some_and(|(media, _)| media == ssrc)
    }

    fn newest_frame(&self) -> Option<u64> {
        self.media.map(|(_, frame)| frame)
    }

    fn packet(&self, ssrc: u32, sequence: u64) -> Option<PacketId> {
        let stream = self.streams.get(&ssrc)?;
        let index = usize::try_from(sequence.checked_sub(stream.first)?).ok()?;
        stream.packets.get(index).copied()
    }

    fn clock_rate(&self, ssrc: u32) -> u32 {
        self.clocks.get(&ssrc).copied().unwrap_or(90_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;
    use thalweg_units::{Bytes, Rate};
    use thalweg_wire::rtcp::PictureLoss;

    const MEDIA: u32 = 7;
    const REPAIR: u32 = 8;

    /// Every third packet is of the repair stream; the media stream begins at 65,000.
    fn sent(count: u64) -> Streams {
        let mut streams = Streams::new();
        let (mut media, mut repair) = (65_000, 3);
        for id in 0..count {
            let (ssrc, number) = if id % 3 == 2 { (REPAIR, &mut repair) } else { (MEDIA, &mut media) };
            streams.on_sent(PacketId(id), ssrc, *number);
            *number += 1;
        }
        streams.on_frame(MEDIA, 0);
        streams
    }

    fn bytes(packet: Packet) -> Vec<u8> {
        let mut out = Vec::new();
        rtcp::write(&[packet], &mut out).unwrap();
        out
    }

    fn acknowledgements(news: &[News]) -> &[Acknowledgement] {
        let [News::Arrivals { acknowledgements, .. }] = news else { panic!("{news:?}") };
        acknowledgements
    }

    #[test]
    fn requests_are_read_in_the_senders_own_numbers_and_only_for_its_streams() {
        let streams = sent(3000);
        assert_eq!(streams.newest_of(MEDIA), Some(66_999));
        let nack = |ssrc| bytes(Packet::Nack(Nack::of(1, ssrc, [65_530, 65_535, 0, 3])));
        let loss = |media_ssrc| bytes(Packet::PictureLoss(PictureLoss { sender_ssrc: 1, media_ssrc }));
        let mut reader = Reader::new();
        assert_eq!(reader.read(&nack(MEDIA), &streams), Ok(vec![News::Missing(vec![65_530, 65_535, 65_536, 65_539])]));
        assert_eq!(reader.read(&loss(MEDIA), &streams), Ok(vec![News::KeyframeNeeded]));
        // Repeats have numbers of their own, and those of others are nobody's.
        for ssrc in [REPAIR, 9] {
            assert_eq!(reader.read(&[nack(ssrc), loss(ssrc)].concat(), &streams), Ok(vec![]), "{ssrc}");
        }
        assert_eq!(reader.read(&[nack(MEDIA), loss(MEDIA)].concat(), &streams).unwrap().len(), 2);
        assert!(reader.read(&nack(MEDIA)[..9], &streams).is_err());
    }

    #[test]
    fn a_path_report_is_read_as_it_was_written_and_only_of_the_senders_own_media() {
        let report = |media_ssrc| {
            let (capacity, received, lost) = (Some(Rate::from_kbps(400)), Bytes::new(9000), Bytes::new(100));
            rtcp::PathReport { sender_ssrc: 1, media_ssrc, capacity, received, lost }
        };
        let read = |media_ssrc| Reader::new().read(&bytes(Packet::PathReport(report(media_ssrc))), &sent(5));
        let rtcp::PathReport { capacity, received, lost, .. } = report(MEDIA);
        assert_eq!(read(MEDIA), Ok(vec![News::Path(PathReport { capacity, received, lost })]));
        assert_eq!((read(REPAIR), read(9)), (Ok(vec![]), Ok(vec![])));
    }

    #[test]
    fn a_packet_never_sent_is_passed_over() {
        let message = twcc::Config::default().build().unwrap().messages(&[(4, Some(Time::ZERO)), (5, None), (6, None)]);
        let feedback = bytes(Packet::TransportFeedback(message.unwrap().remove(0)));
        let news = Reader::new().read(&feedback, &sent(5)).unwrap();
        assert_eq!(acknowledgements(&news).iter().map(|told| told.id.0).collect::<Vec<_>>(), [4]);
        assert_eq!(Reader::new().read(&feedback, &Streams::new()), Ok(vec![]));
    }

    #[test]
    fn an_arrival_without_a_time_still_counts_as_one() {
        let timed = twcc::Config::default().build().unwrap().messages(&[(1, Some(Time::from_millis(640)))]).unwrap();
        let untimed = twcc::Config { timestamps: false, ..twcc::Config::default() };
        let untimed = untimed.build().unwrap().messages(&[(2, Some(Time::from_millis(700))), (3, None)]).unwrap();
        let mut reader = Reader::new();
        let streams = sent(10);
        reader.read(&bytes(Packet::TransportFeedback(timed[0].clone())), &streams).unwrap();
        let news = reader.read(&bytes(Packet::TransportFeedback(untimed[0].clone())), &streams).unwrap();
        let arrivals: Vec<_> = acknowledgements(&news).iter().map(|told| told.arrival).collect();
        assert_eq!(arrivals, [Some(Time::from_millis(640)), None]);
    }

    #[test]
    fn rfc_8888_tells_marks_and_how_long_the_newest_arrival_was_held() {
        // Media numbers 65000, 65001, ... are packets 0, 1, 3, 4, ...; repair numbers 3, 4, ... are 2, 5, ...
        let received = |ssrc, sequence, millis, ecn| ccfb::Received {
            ssrc,
            sequence,
            arrival: Some((Time::from_millis(millis), ecn)),
        };
        let packets = [
            received(MEDIA, 65_000, 2000, Ecn::Ect1),
            received(MEDIA, 65_003, 2250, Ecn::Ce),
            received(REPAIR, 4, 2500, Ecn::Ect1),
            received(99, 4, 2500, Ecn::Ect1),
        ];
        let messages = ccfb::Config::default().build().unwrap().messages(Time::from_millis(3000), &packets).unwrap();
        let news = Reader::new().read(&bytes(Packet::CongestionFeedback(messages[0].clone())), &sent(6)).unwrap();
        let told = |id, millis: Option<u64>, ce| Acknowledgement {
            id: PacketId(id),
            arrival: millis.map(Time::from_millis),
            ce,
        };
        let acknowledgements = vec![
            told(0, Some(2000), false),
            told(1, None, false),
            told(3, None, false),
            told(4, Some(2250), true),
            told(5, Some(2500), false),
        ];
        assert_eq!(news, [News::Arrivals { acknowledgements, hold: Some(Span::from_millis(500)) }]);
    }

    #[test]
    fn a_stream_is_remembered_as_far_back_as_numbers_tell_packets_apart() {
        let mut streams = Streams::new();
        (0..70_000).for_each(|id| streams.on_sent(PacketId(id), MEDIA, id));
        assert_eq!(streams.packet(MEDIA, 69_999 - 65_535), Some(PacketId(69_999 - 65_535)));
        assert_eq!(streams.packet(MEDIA, 69_999 - 65_536), None);
        streams.on_sent(PacketId(70_000), MEDIA, 90_000);
        assert_eq!((streams.packet(MEDIA, 69_999), streams.newest_of(MEDIA)), (None, Some(90_000)));
    }

    proptest! {
        #[test]
        fn any_datagram_is_read_or_refused(datagram in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = Reader::new().read(&datagram, &sent(10));
        }

        #[test]
        fn any_feedback_names_only_packets_that_were_sent(kind in prop::sample::select(&[(15u8, 205u8), (11, 205), (1, 205), (0, 207)][..]), body in prop::collection::vec(any::<u8>(), 8..80)) {
            let words = body.len() / 4;
            let (format, kind) = kind;
            let datagram = [&[0x80 | format, kind, 0, words as u8], &body[..4 * words]].concat();
            let streams = sent(70_000);
            for news in Reader::new().read(&datagram, &streams).unwrap_or_default() {
                match news {
                    News::Arrivals { acknowledgements, .. } => prop_assert!(acknowledgements.iter().all(|told| told.id.0 < 70_000)),
                    News::Missing(sequences) => prop_assert!(sequences.iter().all(|sequence| *sequence <= 111_666)),
                    News::KeyframeNeeded | News::Decoder(_) | News::Path(_) => {}
                }
            }
        }
    }
}
