//! The engine's packets as RTP.

use std::sync::Arc;

use thalweg_control::{Acknowledgement, PacketId, PathReport};
use thalweg_sender::{Content, Packet};
use thalweg_transport::sdp::{Audio, CongestionFeedback, ExtensionIds, Negotiated, Redundancy, Video};
use thalweg_types::feedback::Streams;
use thalweg_types::{Fragment, Protected};
use thalweg_units::{Bytes, Random, Time};
use thalweg_wire::rtcp::{NtpTime, SenderReport};
use thalweg_wire::rtp::{self, ExtensionBuffer, Header};
use thalweg_wire::rtx::Retransmission;
use thalweg_wire::{ParseError, WriteError, flexfec, overhead, ulpfec};

use super::audio::{AudioFrame, AudioQueue};
use super::dependencies::Dependencies;
use super::extensions::{self, Elements, FEEDBACK_REQUEST_INTERVAL};
use super::history::{History, Sent};
use super::labels::Planned;
use super::payload::{Frames, Payload};
use super::red;
use super::retransmitted::Retransmitted;
use super::stream::Stream;
use super::traps::Traps;

/// Ticks per second of the media clock: video's (RFC 7741, RFC 6184, RFC 9628) and Opus's (RFC 7587).
const VIDEO_CLOCK: u64 = 90_000;
const AUDIO_CLOCK: u64 = 48_000;

/// Padding that is larger than a padding-only packet can be is sent as a retransmission of one of this many newest
/// packets, in case it was lost (libwebrtc searches its whole history for the best size; packets older than a round
/// trip or two are of no use).
const RTX_PADDING_AMONG: usize = 64;

/// The overhead around RTP on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PathOverhead {
    /// True if packets go over IPv6.
    pub(super) ipv6: bool,
    /// The length of the SRTP tag.
    pub(super) srtp_tag: Bytes,
}

/// Why a packet could not be written; the engine asks for none such.
#[derive(Debug, thiserror::Error)]
pub(super) enum WriterError {
    /// A format cannot express something.
    #[error(transparent)]
    Format(#[from] WriteError),
    /// FEC was to protect a packet that is not RTP.
    #[error("FEC over what is not RTP: {0}")]
    Protected(#[from] ParseError),
}

/// Writes packets, numbers them, and remembers their numbers.
#[derive(Debug)]
pub(super) struct Writer {
    video: Video,
    audio: Option<Audio>,
    /// The RED encapsulation of media, if FEC is sent in the media stream.
    redundancy: Option<Redundancy>,
    media: Stream,
    rtx: Stream,
    fec: Stream,
    audio_stream: Stream,
    /// IP, UDP and SRTP tag bytes of each packet.
    around: Bytes,
    elements: Elements,
    frames: Frames,
    dependencies: Dependencies,
    audio_queue: AudioQueue,
    history: History,
    retransmitted: Retransmitted,
    sent: Streams,
    traps: Traps,
    last_timestamp: u32,
    /// When padding last carried the marker bit.
    marked: Option<Time>,
}

impl Writer {
    /// The timestamp of video captured at `at`.
    pub(super) fn video_timestamp(&self, at: Time) -> u32 {
        self.media.timestamp(at)
    }

    pub(super) fn new(
        agreed: &Negotiated,
        video: Video,
        path: PathOverhead,
        max: Bytes,
        (random, traps): (&mut Random, Traps),
    ) -> Writer {
        let PathOverhead { ipv6, srtp_tag } = path;
        let ip = if ipv6 { overhead::IPV6 } else { overhead::IPV4 };
        let codec = video.codec;
        let mut stream = |ssrc, clock| Stream::new(ssrc, clock, random);
        let mut sent = Streams::new();
        sent.on_clock(agreed.local.audio, AUDIO_CLOCK as u32);
        Writer {
            media: stream(agreed.local.video, VIDEO_CLOCK),
            rtx: stream(agreed.local.retransmission, VIDEO_CLOCK),
            fec: stream(agreed.local.fec, VIDEO_CLOCK),
            redundancy: None,
            audio_stream: stream(agreed.local.audio, AUDIO_CLOCK),
            video,
            audio: agreed.audio.clone(),
            around: ip + overhead::UDP + srtp_tag,
            elements: Elements::default(),
            frames: Frames::new(codec, max),
            dependencies: Dependencies::default(),
            audio_queue: AudioQueue::default(),
            history: History::default(),
            retransmitted: Retransmitted::default(),
            sent,
            traps,
            last_timestamp: 0,
            marked: None,
        }
    }

    /// From now on media and FEC are sent in RED, or media without it.
    pub(super) fn put_in_red(&mut self, redundancy: Option<Redundancy>) {
        self.redundancy = redundancy;
    }

    /// A scheme begins; `are_reported` if its packets carry the bytes sent before them.
    pub(super) fn count(&mut self, are_reported: bool) {
        self.elements.counted.begin(are_reported);
    }

    /// The engine retransmits nothing before its packet `number`.
    pub(super) fn forget_before(&mut self, number: u64) {
        self.history.forget_before(number);
    }

    /// The peer's measurement of the path, in the engine's bytes.
    pub(super) fn measured(&self, report: PathReport) -> Option<PathReport> {
        self.elements.counted.report(report)
    }

    /// The numbers of all sent packets.
    pub(super) fn sent(&self) -> &Streams {
        &self.sent
    }

    /// The engine's numbers of the media packets that the peer reports missing by their sequence numbers. Padding, and
    /// FEC in the media stream, have none; packets whose retransmission is known to have arrived are not missing.
    pub(super) fn missing(&self, sequences: &[u64]) -> Vec<u64> {
        let missing = sequences.iter().filter(|sequence| !self.retransmitted.has_arrived(**sequence));
        missing.filter_map(|sequence| self.history.number(*sequence)).collect()
    }

    /// The fragment in the engine's media packet `number`, if it is remembered.
    pub(super) fn fragment(&self, number: u64) -> Option<&Fragment> {
        self.history.get(number).map(|sent| &sent.fragment)
    }

    /// The peer reported which packets arrived.
    pub(super) fn on_report(&mut self, acknowledgements: &[Acknowledgement]) {
        self.retransmitted.on_report(acknowledgements);
    }

    /// A frame was chosen: stores it for its packets.
    pub(super) fn keep_frame(&mut self, frame: u64, data: Arc<[u8]>, planned: Planned) {
        self.frames.keep(frame, data, planned);
    }

    /// Stores an audio packet; returns the number by which the engine identifies it.
    pub(super) fn keep_audio(&mut self, frame: AudioFrame) -> u64 {
        self.audio_queue.keep(frame)
    }

    /// Sender reports for each media stream that was used.
    pub(super) fn reports(&self, now: Time, ntp: NtpTime) -> impl Iterator<Item = SenderReport> + '_ {
        let video = self.media.report(ntp, self.media.timestamp(now));
        let frame = self.audio_stream.report(ntp, self.audio_queue.timestamp(now, &self.audio_stream));
        video.into_iter().chain(frame)
    }

    /// The SSRCs of all streams.
    pub(super) fn sources(&self) -> Vec<u32> {
        [&self.media, &self.rtx, &self.fec, &self.audio_stream].map(|stream| stream.ssrc).into()
    }

    /// The bytes of a packet that leaves now.
    ///
    /// # Errors
    /// See [`WriterError`].
    pub(super) fn write(&mut self, packet: &Packet) -> Result<Arc<Vec<u8>>, WriterError> {
        if self.traps.is_due(packet.sent.id) {
            self.skip(packet.sent.id);
        }
        let bytes = match packet.content {
            Content::Media { sequence, fragment } => self.media(packet, sequence, &fragment)?,
            Content::Retransmission { of, .. } => self.retransmission(packet, of)?.into(),
            Content::Audio { number, .. } => self.audio_packet(packet, number)?.into(),
            Content::Fec { protects } => self.fec(packet, &protects)?.into(),
            Content::Padding => self.padding(packet)?.into(),
        };
        self.elements.on_packet(packet, self.around + Bytes::new(bytes.len() as u64));
        Ok(bytes)
    }

    /// Skips a number before packet `next`: the transport-wide one, or, where each stream is acknowledged (RFC 8888), one
    /// of the retransmission stream, of which nothing is requested again. Extended and plain reports have no trap: a gap
    /// in the media stream would be one in the video.
    fn skip(&mut self, next: PacketId) {
        match self.video.congestion() {
            Some(CongestionFeedback::Transport | CongestionFeedback::TransportOnRequest) => {
                self.sent.skip_transport_number(next);
            }
            Some(CongestionFeedback::PerStream) => self.rtx.skip(),
            Some(CongestionFeedback::Extended) | None => {}
        }
    }

    fn media(&mut self, packet: &Packet, number: u64, fragment: &Fragment) -> Result<Arc<Vec<u8>>, WriteError> {
        let named = self.video.extensions.dependencies.and_then(|_| self.frames.planned(fragment.frame));
        let Some(Payload { bytes: payload, last: marker }) = self.frames.payload(fragment)? else {
            self.history.push(number, None);
            return self.padding(packet).map(Arc::new);
        };
        let dependency = match named.filter(|planned| planned.described) {
            Some(planned) => self.dependencies.element(fragment, planned)?,
            None => None,
        };
        let block = self.block(packet, Some(fragment), dependency.as_deref())?;
        let timestamp = self.media.timestamp(fragment.captured);
        self.last_timestamp = timestamp;
        let length = payload.len() + usize::from(self.redundancy.is_some());
        let (header, sequence) = self.media.next(self.video.payload_type, timestamp, marker, length);
        let mut bytes = self.history.buffer();
        append(&mut bytes, header, &block, &payload, 0)?;
        let bytes = Arc::new(bytes);
        self.sent.on_sent(packet.sent.id, header.ssrc, sequence);
        self.sent.on_frame(header.ssrc, fragment.frame);
        let payload_from = bytes.len() - payload.len();
        let sent = Sent { sequence, timestamp, marker, fragment: *fragment, payload_from, packet: bytes.clone() };
        self.history.push(number, Some(sent));
        self.frames.reuse(payload);
        Ok(match self.redundancy {
            Some(types) => red::wrapped((*bytes).clone(), payload_from, types.red).into(),
            None => bytes,
        })
    }

    fn fec(&mut self, packet: &Packet, protects: &Protected) -> Result<Vec<u8>, WriterError> {
        let kind = match (self.video.fec, self.redundancy) {
            (Some(kind), _) => kind,
            (None, Some(types)) => return self.fec_in_red(packet, protects, types),
            (None, None) => return Ok(self.padding(packet)?),
        };
        let packets = self.protected(protects.iter())?;
        let payload = packets.and_then(|packets| flexfec::protect(packets.iter().map(Vec::as_slice)).ok());
        // The packets are no longer remembered, or padding between them has put them too far apart.
        let Some(payload) = payload else { return Ok(self.padding(packet)?) };
        let block = self.block(packet, None, None)?;
        let timestamp = self.last_timestamp;
        let (header, sequence) = self.fec.next(kind, timestamp, false, payload.len());
        self.sent.on_sent(packet.sent.id, header.ssrc, sequence);
        Ok(write(header, &block, &payload, 0)?)
    }

    /// FEC in the media stream. It takes a sequence number there, and is never retransmitted.
    fn fec_in_red(&mut self, packet: &Packet, protects: &Protected, types: Redundancy) -> Result<Vec<u8>, WriterError> {
        // FEC and padding between the packets increase their distance: those beyond the mask are left out.
        let sequence = |number| self.history.get(number).map(|sent| sent.sequence);
        let last = sequence(protects.last());
        let reached = |number: &u64| {
            last.zip(sequence(*number)).is_some_and(|(last, number)| last - number < u64::from(ulpfec::LONGEST))
        };
        let packets = self.protected(protects.iter().filter(reached))?;
        let Some(sum) = packets.and_then(|packets| ulpfec::protect(packets.iter().map(Vec::as_slice)).ok()) else {
            return Ok(self.padding(packet)?);
        };
        let block = self.block(packet, None, None)?;
        let payload = red::payload(types.ulpfec, &sum)?;
        let (header, sequence) = self.media.next(types.red, self.last_timestamp, false, payload.len());
        self.sent.on_sent(packet.sent.id, header.ssrc, sequence);
        Ok(write(header, &block, &payload, 0)?)
    }

    /// The packets as sent, without RED, with zeros for the extensions that libwebrtc assumes to be zero under FEC.
    fn protected(&self, numbers: impl Iterator<Item = u64>) -> Result<Option<Vec<Vec<u8>>>, ParseError> {
        let blank = self.video.extensions.transport_sequence;
        numbers.map(|number| self.history.blanked(number, blank.as_slice())).collect()
    }

    fn retransmission(&mut self, packet: &Packet, of: u64) -> Result<Vec<u8>, WriteError> {
        match (self.history.get(of).cloned(), self.video.retransmission) {
            (Some(sent), Some(payload_type)) => self.rtx_packet(packet, &sent, payload_type, 0),
            // The engine's history is no longer than this one; if it were, padding would be sent instead.
            _ => self.padding(packet),
        }
    }

    fn rtx_packet(&mut self, packet: &Packet, sent: &Sent, kind: u8, padding: u8) -> Result<Vec<u8>, WriteError> {
        // Also as first sent.
        let dependency = self.video.extensions.dependencies.and_then(|id| sent.element(id));
        let block = self.block(packet, Some(&sent.fragment), dependency)?;
        let (original_sequence, mut payload) = (sent.sequence as u16, Vec::with_capacity(sent.payload().len() + 3));
        // As first sent, so that FEC over it matches: if retransmissions in RED were not negotiated, as media alone.
        let in_red = self.rtx_of_red();
        let original = in_red.map(|_| red::payload(self.video.payload_type, sent.payload())).transpose()?;
        let original = original.as_deref().unwrap_or(sent.payload());
        Retransmission { original_sequence, payload: original }.write(&mut payload);
        let kind = in_red.unwrap_or(kind);
        let (header, sequence) = self.rtx.next(kind, sent.timestamp, sent.marker, payload.len());
        self.sent.on_sent(packet.sent.id, header.ssrc, sequence);
        self.retransmitted.on_sent(packet.sent.id, sent.sequence);
        write(header, &block, &payload, padding)
    }

    fn audio_packet(&mut self, packet: &Packet, number: u64) -> Result<Vec<u8>, WriteError> {
        let (Some(audio), Some(frame)) = (self.audio.clone(), self.audio_queue.take(number)) else {
            return self.padding(packet);
        };
        let numbered = (packet, self.sent.transport_number(packet.sent.id));
        let block = self.elements.block(&audio.extensions, &audio.mid, numbered, None, None)?;
        let (header, sequence) = self.audio_header(&audio, &frame);
        self.sent.on_sent(packet.sent.id, header.ssrc, sequence);
        write(header, &block, &frame.data, 0)
    }

    /// An audio packet outside the engine; `None` if there is none with this number.
    pub(super) fn unreported_audio(&mut self, number: u64) -> Option<Result<Vec<u8>, WriteError>> {
        let (audio, frame) = (self.audio.clone()?, self.audio_queue.take(number)?);
        let block = extensions::of_section(&audio.extensions, &audio.mid);
        let (header, _) = self.audio_header(&audio, &frame);
        Some(block.and_then(|block| write(header, &block, &frame.data, 0)))
    }

    fn audio_header(&mut self, audio: &Audio, frame: &AudioFrame) -> (Header, u64) {
        let timestamp = self.audio_stream.timestamp_of(frame.ticks);
        self.audio_stream.next(audio.payload_type, timestamp, false, frame.data.len())
    }

    /// A padding packet of the requested size: padding alone on the retransmission stream, where sequence numbers do
    /// not matter, or if it is too large for that, a retransmission filled up with padding. Without that stream it is
    /// padding on the media stream.
    fn padding(&mut self, packet: &Packet) -> Result<Vec<u8>, WriteError> {
        let ids = self.video.extensions;
        let block = self.block(packet, None, None)?;
        let headers = self.around + overhead::RTP + Bytes::new(block.as_extensions().size() as u64);
        let room = packet.sent.size.saturating_sub(headers).get() as usize;
        let max = usize::from(u8::MAX);
        if let Some(kind) = self.video.retransmission
            && room > max
        {
            // A retransmission has its frame's descriptor, so its extensions may be longer.
            let red = usize::from(self.rtx_of_red().is_some());
            let dependency = if self.dependencies.are_said() { Dependencies::LONGEST + 1 } else { 0 };
            let room = room.saturating_sub(longer(&ids) + dependency + overhead::RTX.get() as usize + red);
            if let Some(sent) = self.history.largest(RTX_PADDING_AMONG, 1..=room).cloned() {
                let padding = (room - sent.payload().len()).min(max) as u8;
                return self.rtx_packet(packet, &sent, kind, padding);
            }
        }
        let padding = room.clamp(1, max) as u8;
        let timestamp = self.last_timestamp;
        let (header, sequence) = match self.video.retransmission {
            Some(kind) => {
                let marker = self.is_marked(packet);
                self.rtx.next(kind, timestamp, marker, 0)
            }
            None => self.media.next(self.video.payload_type, timestamp, false, 0),
        };
        self.sent.on_sent(packet.sent.id, header.ssrc, sequence);
        write(header, &block, &[], padding)
    }

    /// Returns true if padding on the retransmission stream, where the marker bit has no meaning, carries it. GStreamer
    /// sends transport-wide feedback with packets that are marked, and by default with no others: padding after a frame
    /// would stay unacknowledged until the next frame, and one that waits for the window would never leave.
    fn is_marked(&mut self, packet: &Packet) -> bool {
        let now = packet.sent.at;
        let due = self.marked.is_none_or(|last| now - last >= FEEDBACK_REQUEST_INTERVAL);
        let is_marked = due && self.video.congestion() == Some(CongestionFeedback::Transport);
        if is_marked {
            self.marked = Some(now);
        }
        is_marked
    }

    /// The payload type of retransmissions in RED, if media is in RED.
    fn rtx_of_red(&self) -> Option<u8> {
        self.redundancy.and_then(|types| types.retransmission)
    }

    fn block(
        &mut self,
        packet: &Packet,
        fragment: Option<&Fragment>,
        dependency: Option<&[u8]>,
    ) -> Result<ExtensionBuffer, WriteError> {
        let numbered = (packet, self.sent.transport_number(packet.sent.id));
        self.elements.block(&self.video.extensions, &self.video.mid, numbered, fragment, dependency)
    }
}

/// How many bytes longer the extensions of a media packet may be than those of a packet without media.
fn longer(ids: &ExtensionIds) -> usize {
    let delay = ids.playout_delay.map_or(0, |_| 4);
    let fragment = ids.grace.map_or(0, |_| 8);
    let states = ids.states.map_or(0, |_| 17);
    delay + fragment + states
}

fn write(header: Header, block: &ExtensionBuffer, payload: &[u8], padding: u8) -> Result<Vec<u8>, WriteError> {
    let mut bytes = Vec::new();
    append(&mut bytes, header, block, payload, padding)?;
    Ok(bytes)
}

/// Appends a packet.
fn append(
    bytes: &mut Vec<u8>,
    header: Header,
    block: &ExtensionBuffer,
    payload: &[u8],
    padding: u8,
) -> Result<(), WriteError> {
    let extensions = Some(block.as_extensions()).filter(|block| block.size() > 4);
    rtp::Packet { extensions, padding, ..rtp::Packet::new(header, payload) }.write(bytes)
}
