//! Processing of an RTP packet: which stream it belongs to, its header extensions, and where its payload goes.

use thalweg_units::{Bytes, Ecn, Time};
use thalweg_wire::ParseError;
use thalweg_wire::rtp::dependency::{DependencyDescriptor, FrameNumber};
use thalweg_wire::rtp::{BytesBefore, FragmentGrace, FrameStates, Packet, TransportSequence};
use thalweg_wire::rtx::Retransmission;

use super::{Passage, Reception};
use crate::rtp::config::ExtensionIds;
use crate::rtp::feedback::Arrival;
use crate::rtp::measuring::Measured;
use crate::rtp::media_packet::{MediaPacket, Said};
use crate::rtp::output::{Origin, Output, VideoFrame};
use crate::rtp::red;
use crate::rtp::references::Dependency;
use crate::rtp::streams::{Found, Kind};

impl Reception {
    fn extensions(&self, kind: Kind) -> Option<&ExtensionIds> {
        match kind {
            Kind::Audio => self.config.audio.as_ref().map(|audio| &audio.extensions),
            Kind::Video | Kind::Retransmission | Kind::Fec => self.config.video.as_ref().map(|video| &video.extensions),
        }
    }

    /// Returns true if a packet's MID names a different media section from its stream's.
    fn is_elsewhere(&self, kind: Kind, rtp: &Packet<'_>) -> bool {
        let mid = match kind {
            Kind::Audio => self.config.audio.as_ref().and_then(|audio| audio.mid.as_ref()),
            Kind::Video | Kind::Retransmission | Kind::Fec => {
                self.config.video.as_ref().and_then(|video| video.mid.as_ref())
            }
        };
        let said = element(rtp, self.extensions(kind).and_then(|ids| ids.mid));
        said.zip(mid).is_some_and(|(said, mid)| said != mid.as_bytes())
    }

    /// Processes an RTP packet with these bytes.
    pub(super) fn on_packet(&mut self, now: Time, ecn: Ecn, rtp: &Packet<'_>, bytes: &[u8]) {
        let header = rtp.header;
        let Some(found) = self.streams.find(now, header.ssrc, header.payload_type) else {
            self.counts.unknown += 1;
            return;
        };
        if self.is_elsewhere(found.kind, rtp) {
            self.counts.unknown += 1;
            return;
        }
        self.begin_anew(found);
        self.counts.by_ecn[usize::from(ecn.bits())] += 1;
        self.counts.retransmissions_by_ecn[usize::from(ecn.bits())] += u64::from(found.kind == Kind::Retransmission);
        let Some(stream) = self.streams.get_mut(found.kind) else { return };
        let number = stream.source.on_packet(now, header.sequence, header.timestamp);
        let (captured, clock) = (stream.clock.instant(header.timestamp), stream.rate);
        if self.report_due == Time::NEVER {
            // The first report is sent early (libwebrtc `RTCPSender::SetRTCPStatus`).
            self.report_due = now + self.config.report_interval / 2;
        }
        let said = self.said(found.kind, rtp, bytes.len());
        let transport = element(rtp, self.extensions(found.kind).and_then(|ids| ids.transport_sequence));
        let transport = transport.and_then(parsed(TransportSequence::parse));
        let (ssrc, marker) = (header.ssrc, header.marker);
        let answers = self.feedback.on_packet(now, Arrival { ssrc, clock, number, transport, ecn, marker });
        let late = self.late();
        if rtp.payload.is_empty() {
            self.counts.padding += 1;
        }
        self.measure(now, found.kind, rtp, bytes.len());
        let redundancy = self.redundancy(found.kind, rtp).filter(|_| !rtp.payload.is_empty());
        match found.kind {
            Kind::Video if redundancy.is_some() => self.on_red(now, number, (rtp, bytes), redundancy, said),
            Kind::Video => {
                let (payload, origin) = (rtp.payload, Origin::Media);
                let dependency = self.dependency(found.kind, rtp);
                let dependency = dependency.as_ref();
                self.on_video(now, &MediaPacket { number, header, payload, said, dependency, origin });
                let made = self.fec.as_mut().map(|fec| fec.on_media(number, bytes));
                made.into_iter().flatten().for_each(|packet| self.on_made(now, &packet));
            }
            Kind::Retransmission => self.on_retransmission(now, rtp, said),
            Kind::Fec => {
                self.on_nothing(now, said);
                let media = self.streams.get(Kind::Video).and_then(|stream| stream.ssrc);
                let made = self.fec.as_mut().map(|fec| fec.on_fec(media, rtp.payload));
                made.into_iter().flatten().for_each(|packet| self.on_made(now, &packet));
            }
            Kind::Audio => {
                self.on_nothing(now, said);
                if let Some(audio) = self.audio.as_mut().filter(|_| !rtp.payload.is_empty()) {
                    audio.on_packet(now, number, &header, rtp.payload, captured);
                }
            }
        }
        if self.late() > late {
            let payload = Bytes::new(rtp.payload.len() as u64);
            self.feedback.on_discarded(now, header.ssrc, number, payload);
        }
        self.send_feedback(now, answers);
    }

    /// Number of received (not recovered) packets that were too late to be useful.
    fn late(&self) -> u64 {
        let video = self.video.as_ref().map_or(0, |frames| frames.counts().late);
        video + self.audio.as_ref().map_or(0, |audio| audio.counts().late) - self.made_late
    }

    /// A new stream replaced an old one: resets the state of the old one.
    fn begin_anew(&mut self, found: Found) {
        let Some(before) = found.instead_of else { return };
        self.feedback.forget(before);
        if let Some(measuring) = self.measuring.as_mut().filter(|_| found.kind == Kind::Video) {
            measuring.begin_anew();
        }
        if let Some(fec) = self.fec.as_mut().filter(|_| found.kind == Kind::Video) {
            fec.begin_anew();
        }
        match (found.kind, &mut self.video, &mut self.audio) {
            (Kind::Video, Some(frames), _) => {
                self.structure = None;
                frames.begin_anew();
            }
            (Kind::Audio, _, Some(stream)) => stream.begin_anew(),
            _ => {}
        }
    }

    /// A packet's header extensions of functional video, where negotiated.
    fn said(&self, kind: Kind, rtp: &Packet<'_>, length: usize) -> Option<Said> {
        let ids = self.extensions(kind)?;
        let grace = element(rtp, ids.grace).and_then(parsed(FragmentGrace::parse))?;
        let states = element(rtp, ids.states).and_then(parsed(FrameStates::parse));
        Some(Said { grace, states, size: Bytes::new(length as u64) + self.config.around })
    }

    /// Path measurement with a packet of this length, if it carries the bytes sent before it.
    fn measure(&mut self, now: Time, kind: Kind, rtp: &Packet<'_>, length: usize) {
        let before = self.extensions(kind).and_then(|ids| element(rtp, ids.bytes_before));
        let Some(before) = before.and_then(parsed(BytesBefore::parse)) else { return };
        let size = Bytes::new(length as u64) + self.config.around;
        let media = self.is_media(kind, rtp).then_some((rtp.header.timestamp, rtp.header.marker));
        if let Some(measuring) = &mut self.measuring {
            measuring.on_packet(now, &Measured { before, size, media });
        }
    }

    /// Returns true if a packet is part of a frame, as originally sent.
    fn is_media(&self, kind: Kind, rtp: &Packet<'_>) -> bool {
        let holds_media = match self.redundancy(kind, rtp) {
            None => true,
            Some(types) => red::open(types, self.media_type(), rtp.payload).is_ok_and(|opened| opened.media.is_some()),
        };
        kind == Kind::Video && !rtp.payload.is_empty() && holds_media
    }

    /// A packet's dependency descriptor, where negotiated. Later descriptors are parsed with the newest structure.
    pub(super) fn dependency(&mut self, kind: Kind, rtp: &Packet<'_>) -> Option<Dependency> {
        let data = element(rtp, self.extensions(kind)?.dependencies)?;
        let Ok(read) = DependencyDescriptor::parse(data, self.structure.as_ref()) else {
            let number = FrameNumber::parse(data).ok()?.frame;
            return Some(Dependency { number, back: None });
        };
        let back = read.references(self.structure.as_ref());
        if let Some(structure) = read.structure {
            self.structure = Some(structure);
        }
        Some(Dependency { number: read.frame, back })
    }

    pub(super) fn on_video(&mut self, now: Time, packet: &MediaPacket<'_>) {
        let ready = self.video.as_mut().map(|frames| frames.on_packet(now, packet));
        ready.into_iter().flatten().for_each(|frame| self.give(frame));
    }

    /// A packet without data for the decoder arrived.
    fn on_nothing(&mut self, now: Time, said: Option<Said>) {
        if let Some(frames) = &mut self.video {
            frames.on_other(now, said);
        }
    }

    /// Processes a packet of the retransmission stream: padding, or the original's sequence number and payload.
    fn on_retransmission(&mut self, now: Time, rtp: &Packet<'_>, said: Option<Said>) {
        let Ok(retransmitted) = Retransmission::parse(rtp.payload) else {
            self.on_nothing(now, said);
            return;
        };
        let media =
            self.streams.get(Kind::Video).and_then(|stream| stream.source.locate(retransmitted.original_sequence));
        // Before the first media packet nothing can be retransmitted, and an empty payload retransmits nothing.
        match media.filter(|_| !retransmitted.payload.is_empty()) {
            Some(number) => {
                let payload = match self.redundancy(Kind::Retransmission, rtp) {
                    None => retransmitted.payload,
                    Some(types) => match red::open(types, self.media_type(), retransmitted.payload) {
                        Ok(opened) => opened.media.unwrap_or_default(),
                        Err(_) => {
                            self.counts.malformed += 1;
                            return;
                        }
                    },
                };
                let dependency = self.dependency(Kind::Retransmission, rtp);
                let (header, origin, dependency) = (rtp.header, Origin::Retransmission, dependency.as_ref());
                self.on_video(now, &MediaPacket { number, header, payload, said, dependency, origin });
            }
            None => self.on_nothing(now, said),
        }
    }

    /// A packet of the video stream was recovered by FEC.
    pub(super) fn on_made(&mut self, now: Time, packet: &[u8]) {
        let Ok(rtp) = Packet::parse(packet) else {
            self.counts.malformed += 1;
            return;
        };
        let header = rtp.header;
        let stream = self.streams.of_mut(header.ssrc);
        let stream = stream.filter(|stream| stream.kind == Kind::Video && stream.payload_type == header.payload_type);
        let Some(number) = stream.and_then(|stream| stream.source.locate(header.sequence)) else {
            self.counts.unknown += 1;
            return;
        };
        let said = self.said(Kind::Video, &rtp, packet.len());
        let dependency = self.dependency(Kind::Video, &rtp);
        let (payload, origin, dependency) = (rtp.payload, Origin::Fec, dependency.as_ref());
        let late = self.late();
        self.on_video(now, &MediaPacket { number, header, payload, said, dependency, origin });
        self.made_late += self.late() - late;
    }

    fn give(&mut self, mut frame: VideoFrame) {
        let clock = self.streams.get(Kind::Video).map(|stream| &stream.clock);
        frame.captured = clock.and_then(|clock| clock.instant(frame.timestamp as u32));
        if let Some(captured) = frame.captured {
            self.last_video = Some(Passage { captured, arrived: frame.last_arrival });
        }
        self.outputs.push_back(Output::Frame(frame));
    }
}

/// The data of the header extension with this negotiated id.
fn element<'a>(rtp: &Packet<'a>, id: Option<u8>) -> Option<&'a [u8]> {
    rtp.extensions.as_ref()?.get(id?)
}

/// The parsed header extension; `None` if it is malformed.
fn parsed<T>(parse: impl Fn(&[u8]) -> Result<T, ParseError>) -> impl Fn(&[u8]) -> Option<T> {
    move |data| parse(data).ok()
}
