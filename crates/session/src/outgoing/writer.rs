//! The engine's packets as RTP.

use std::sync::Arc;

use thalweg_control::Acknowledgement;
use thalweg_sender::feedback::Streams;
use thalweg_sender::packet::Fragment;
use thalweg_sender::repair::parity::Protected;
use thalweg_sender::{Content, Packet};
use thalweg_transport::sdp::{Audio, ExtensionIds, Negotiated, Video};
use thalweg_units::{Bytes, Random, Time};
use thalweg_wire::rtcp::{NtpTime, SenderReport};
use thalweg_wire::rtp::{self, ExtensionBuffer, Header};
use thalweg_wire::rtx::Retransmission;
use thalweg_wire::{WriteError, flexfec, overhead};

use super::extensions::Elements;
use super::history::{History, Sent};
use super::payload::{Frames, Payload};
use super::repeated::Repeated;
use super::sound::{Sound, Sounds};
use super::stream::Stream;

/// Ticks of the media clock a second: of video (RFC 7741, RFC 6184, RFC 9628) and of Opus (RFC 7587).
const VIDEO_CLOCK: u64 = 90_000;
const AUDIO_CLOCK: u64 = 48_000;

/// Filler larger than padding alone can be is a repeat of one of the newest packets, in the hope that it was lost: of as many (libwebrtc looks
/// through all of its history for the one of best size; what is older than a round trip or two is of no use to anyone).
const REPEATED_AMONG: usize = 64;

/// What is around RTP on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PathOverhead {
    /// Whether packets go over IPv6.
    pub(super) ipv6: bool,
    /// What protection adds.
    pub(super) srtp_tag: Bytes,
}

/// Writes packets, numbers them, and remembers under which number each one went out.
#[derive(Debug)]
pub(super) struct Writer {
    video: Video,
    audio: Option<Audio>,
    media: Stream,
    repeats: Stream,
    parity: Stream,
    sound: Stream,
    /// IP, UDP and the SRTP tag around each packet.
    around: Bytes,
    elements: Elements,
    frames: Frames,
    sounds: Sounds,
    history: History,
    repeated: Repeated,
    sent: Streams,
    last_timestamp: u32,
}

impl Writer {
    pub(super) fn new(
        agreed: &Negotiated,
        video: Video,
        path: PathOverhead,
        most: Bytes,
        random: &mut Random,
    ) -> Writer {
        let PathOverhead { ipv6, srtp_tag } = path;
        let ip = if ipv6 { overhead::IPV6 } else { overhead::IPV4 };
        let codec = video.codec;
        let mut stream = |ssrc, clock| Stream::new(ssrc, clock, random);
        Writer {
            media: stream(agreed.local.video, VIDEO_CLOCK),
            repeats: stream(agreed.local.retransmission, VIDEO_CLOCK),
            parity: stream(agreed.local.parity, VIDEO_CLOCK),
            sound: stream(agreed.local.audio, AUDIO_CLOCK),
            video,
            audio: agreed.audio.clone(),
            around: ip + overhead::UDP + srtp_tag,
            elements: Elements::default(),
            frames: Frames::new(codec, most),
            sounds: Sounds::default(),
            history: History::default(),
            repeated: Repeated::default(),
            sent: Streams::new(),
            last_timestamp: 0,
        }
    }

    /// Under which number each packet went out.
    pub(super) fn sent(&self) -> &Streams {
        &self.sent
    }

    /// The engine's numbers of media packets that the other end misses and names by theirs; numbers of padding are of none, and what a
    /// repeat is known to have brought is not missed.
    pub(super) fn missing(&self, sequences: &[u64]) -> Vec<u64> {
        let missing = sequences.iter().filter(|sequence| !self.repeated.has_arrived(**sequence));
        missing.filter_map(|sequence| self.history.number(*sequence)).collect()
    }

    /// The other end says what has arrived.
    pub(super) fn on_report(&mut self, acknowledgements: &[Acknowledgement]) {
        self.repeated.on_report(acknowledgements);
    }

    /// A frame was chosen: its packets will be asked for.
    pub(super) fn keep_frame(&mut self, frame: u64, data: Arc<[u8]>) {
        self.frames.keep(frame, data);
    }

    /// A packet of sound came: the number the engine is to know it by.
    pub(super) fn keep_sound(&mut self, sound: Sound) -> u64 {
        self.sounds.keep(sound)
    }

    /// Reports of what was sent, for each stream of media that was sent on.
    pub(super) fn reports(&self, now: Time, ntp: NtpTime) -> impl Iterator<Item = SenderReport> + '_ {
        let video = self.media.report(ntp, self.media.timestamp(now));
        let sound = self.sound.report(ntp, self.sounds.timestamp(now, &self.sound));
        video.into_iter().chain(sound)
    }

    /// The SSRCs of all streams.
    pub(super) fn sources(&self) -> Vec<u32> {
        [&self.media, &self.repeats, &self.parity, &self.sound].map(|stream| stream.ssrc).into()
    }

    /// The bytes of a packet that leaves now.
    ///
    /// # Errors
    /// What a format has no room for, which the engine does not ask for.
    pub(super) fn write(&mut self, packet: &Packet) -> Result<Vec<u8>, WriteError> {
        match packet.content {
            Content::Media { sequence, fragment } => self.media(packet, sequence, &fragment),
            Content::Retransmission { of, .. } => self.repeat(packet, of),
            Content::Audio { number, .. } => self.sound(packet, number),
            Content::Parity { protects, .. } => self.parity(packet, &protects),
            Content::Padding => self.filler(packet),
        }
    }

    fn media(&mut self, packet: &Packet, number: u64, fragment: &Fragment) -> Result<Vec<u8>, WriteError> {
        let Some(Payload { bytes: payload, last: marker }) = self.frames.payload(fragment)? else {
            self.history.push(number, None);
            return self.filler(packet);
        };
        let block = self.block(packet, Some(fragment))?;
        let timestamp = self.media.timestamp(fragment.captured);
        self.last_timestamp = timestamp;
        let (header, sequence) = self.media.next(self.video.payload_type, timestamp, marker, payload.len());
        let bytes = write(header, &block, &payload, 0)?;
        self.sent.on_sent(packet.sent.id, header.ssrc, sequence);
        self.sent.on_frame(fragment.frame);
        let payload_from = bytes.len() - payload.len();
        let sent = Sent { sequence, timestamp, marker, fragment: *fragment, payload_from, packet: bytes.clone() };
        self.history.push(number, Some(sent));
        Ok(bytes)
    }

    /// Parity over packets as they were sent, but for the extensions that libwebrtc takes for zeros.
    fn parity(&mut self, packet: &Packet, protects: &Protected) -> Result<Vec<u8>, WriteError> {
        let Some(kind) = self.video.parity else { return self.filler(packet) };
        let blank: Vec<u8> = self.video.extensions.transport_sequence.into_iter().collect();
        let mut packets = Vec::new();
        for number in protects.iter() {
            let Some(sent) = self.history.get(number) else { return self.filler(packet) };
            let mut bytes = sent.packet.clone();
            let blanked = rtp::blank_extensions(&mut bytes, &blank);
            debug_assert!(blanked.is_ok(), "what was sent is RTP: {blanked:?}");
            packets.push(bytes);
        }
        let Ok(payload) = flexfec::protect(flexfec::Format::Draft03, packets.iter().map(Vec::as_slice)) else {
            // Padding among the media has put them too far apart.
            return self.filler(packet);
        };
        let block = self.block(packet, None)?;
        let timestamp = self.last_timestamp;
        let (header, sequence) = self.parity.next(kind, timestamp, false, payload.len());
        self.sent.on_sent(packet.sent.id, header.ssrc, sequence);
        write(header, &block, &payload, 0)
    }

    fn repeat(&mut self, packet: &Packet, of: u64) -> Result<Vec<u8>, WriteError> {
        match (self.history.get(of).cloned(), self.video.retransmission) {
            (Some(sent), Some(payload_type)) => self.repeat_of(packet, &sent, payload_type, 0),
            // The engine remembers no longer than this does; if it did, what it counted on leaving leaves.
            _ => self.filler(packet),
        }
    }

    fn repeat_of(&mut self, packet: &Packet, sent: &Sent, kind: u8, padding: u8) -> Result<Vec<u8>, WriteError> {
        let block = self.block(packet, Some(&sent.fragment))?;
        let mut payload = Vec::with_capacity(sent.payload().len() + 2);
        Retransmission { original_sequence: sent.sequence as u16, payload: sent.payload() }.write(&mut payload);
        let (header, sequence) = self.repeats.next(kind, sent.timestamp, sent.marker, payload.len());
        self.sent.on_sent(packet.sent.id, header.ssrc, sequence);
        self.repeated.on_sent(packet.sent.id, sent.sequence);
        write(header, &block, &payload, padding)
    }

    fn sound(&mut self, packet: &Packet, number: u64) -> Result<Vec<u8>, WriteError> {
        let (Some(audio), Some(sound)) = (self.audio.clone(), self.sounds.take(number)) else {
            return self.filler(packet);
        };
        let block = self.elements.block(&audio.extensions, &audio.mid, packet, None)?;
        let timestamp = self.sound.timestamp_of(sound.ticks);
        let (header, sequence) = self.sound.next(audio.payload_type, timestamp, false, sound.data.len());
        self.sent.on_sent(packet.sent.id, header.ssrc, sequence);
        write(header, &block, &sound.data, 0)
    }

    /// A packet of the size that was asked for, which the receiver needs for nothing: padding alone on the stream of repeats, where numbers
    /// are of no consequence, or when more is wanted, a repeat filled up with padding. Without such a stream it is padding among the media.
    fn filler(&mut self, packet: &Packet) -> Result<Vec<u8>, WriteError> {
        let ids = self.video.extensions;
        let block = self.block(packet, None)?;
        let headers = self.around + overhead::RTP + Bytes::new(block.as_extensions().size() as u64);
        let room = packet.sent.size.saturating_sub(headers).get() as usize;
        let most = usize::from(u8::MAX);
        if let Some(kind) = self.video.retransmission
            && room > most
        {
            // A repeat says of which frame it is, so its extensions may be longer.
            let room = room.saturating_sub(longer(&ids) + overhead::RTX.get() as usize);
            if let Some(sent) = self.history.largest(REPEATED_AMONG, 1..=room).cloned() {
                let padding = (room - sent.payload().len()).min(most) as u8;
                return self.repeat_of(packet, &sent, kind, padding);
            }
        }
        let padding = room.clamp(1, most) as u8;
        let timestamp = self.last_timestamp;
        let (header, sequence) = match self.video.retransmission {
            Some(kind) => self.repeats.next(kind, timestamp, false, 0),
            None => self.media.next(self.video.payload_type, timestamp, false, 0),
        };
        self.sent.on_sent(packet.sent.id, header.ssrc, sequence);
        write(header, &block, &[], padding)
    }

    fn block(&mut self, packet: &Packet, fragment: Option<&Fragment>) -> Result<ExtensionBuffer, WriteError> {
        self.elements.block(&self.video.extensions, &self.video.mid, packet, fragment)
    }
}

/// Bytes that the extensions of a packet of media may have more than those of one without.
fn longer(ids: &ExtensionIds) -> usize {
    let delay = ids.playout_delay.map_or(0, |_| 4);
    let fragment = ids.grace.map_or(0, |_| 8);
    let states = ids.states.map_or(0, |_| 17);
    delay + fragment + states
}

fn write(header: Header, block: &ExtensionBuffer, payload: &[u8], padding: u8) -> Result<Vec<u8>, WriteError> {
    let extensions = Some(block.as_extensions()).filter(|block| block.size() > 4);
    let packet = rtp::Packet { extensions, padding, ..rtp::Packet::new(header, payload) };
    let mut bytes = Vec::with_capacity(packet.size());
    packet.write(&mut bytes)?;
    Ok(bytes)
}
