//! Assembles packets of functional video into frames, each decoded from the state it names (Salsify section 3.2).
//!
//! Header extensions carry for each packet what the simulator's packets carry, so [`Stateful`] follows state hashes as
//! it does there; this module adds the bytes.

use std::collections::BTreeMap;

use thalweg_control::{PacketId, SentPacket};
use thalweg_types::{Content, Fragment, Packet, StateHash, StatefulReceiver, Transition};
use thalweg_units::{Bytes, ConfigError, Time};
use thalweg_wire::rtcp::DecoderState;
use thalweg_wire::rtp::{FrameFragment, FrameStates};
use thalweg_wire::unwrap::{FrameUnwrapper, TimestampUnwrapper};
use thalweg_wire::vp8::{self, Descriptor};

use super::buffer::{BYTES, PACKETS};
use super::config::Codec;
use super::media_packet::{MediaPacket, Said};
use super::output::{Origin, VideoFrame};
use super::statistics::VideoCounts;
use crate::Moves;
use crate::assembly::FrameInfo;
use crate::stateful::Stateful;

/// Bytes of an incomplete frame.
#[derive(Debug)]
struct Parts {
    timestamp: u32,
    picture: Option<u16>,
    bytes: usize,
    parts: Vec<Option<Part>>,
}

#[derive(Debug, Clone)]
struct Part {
    data: Vec<u8>,
    number: u64,
    arrived: Time,
    origin: Origin,
}

/// Receiver of one functional video.
#[derive(Debug)]
pub(super) struct FunctionalStream {
    config: StatefulReceiver,
    kept: Stateful,
    /// The incomplete frame, and newer ones.
    frames: BTreeMap<u64, Parts>,
    /// The newest frame so far.
    newest: u64,
    arrivals: u64,
    timestamps: TimestampUnwrapper,
    counts: VideoCounts,
}

impl FunctionalStream {
    /// # Errors
    /// When a parameter is out of range.
    pub(super) fn new(config: StatefulReceiver) -> Result<FunctionalStream, ConfigError> {
        Ok(FunctionalStream {
            config,
            kept: Stateful::new(config)?,
            frames: BTreeMap::new(),
            newest: 0,
            arrivals: 0,
            timestamps: TimestampUnwrapper::new(),
            counts: VideoCounts::default(),
        })
    }

    /// The counters.
    pub(super) fn counts(&self) -> VideoCounts {
        self.counts
    }

    /// Resets the state for a new stream: its frames do not refer to earlier ones.
    pub(super) fn begin_anew(&mut self) {
        if let Ok(stream) = FunctionalStream::new(self.config) {
            *self = FunctionalStream { counts: self.counts, ..stream };
        }
    }

    /// A packet without data for the decoder arrived: only its arrival counts.
    pub(super) fn on_other(&mut self, now: Time, said: &Said) {
        let packet = self.packet(said, Content::Padding);
        self.kept.on_packet(now, &packet);
    }

    /// A packet with part of a frame arrived; returns the frames to decode now, in order.
    pub(super) fn on_media(&mut self, now: Time, packet: &MediaPacket<'_>, said: &Said) -> Vec<VideoFrame> {
        let MediaPacket { number, header, payload, origin, .. } = *packet;
        let Some(place) = said.grace.fragment else {
            self.on_other(now, said);
            return Vec::new();
        };
        let (Ok(glimpse), Ok((_, data))) = (Codec::Vp8.glimpse(payload), Descriptor::parse(payload)) else {
            self.counts.malformed += 1;
            return Vec::new();
        };
        let frame = FrameUnwrapper::after(self.newest).peek(place.frame);
        if frame < self.kept.next_frame() {
            self.counts.late += 1;
            return Vec::new();
        }
        // A frame has at most as many packets as a standard receiver holds, and no packet is empty.
        if u64::from(place.fragments) > PACKETS || data.is_empty() {
            self.counts.malformed += 1;
            return Vec::new();
        }
        self.newest = self.newest.max(frame);
        let part = Part { data: data.to_vec(), number, arrived: now, origin };
        if !self.keep(frame, place, header.timestamp, glimpse.picture, part) {
            return Vec::new();
        }
        let fragment = Fragment {
            frame,
            picture: frame,
            captured: Time::ZERO,
            index: place.fragment,
            count: place.fragments,
            offset: 0,
            length: data.len() as u32,
            keyframe: place.fragment == 0 && vp8::is_keyframe(data),
            layer: 0,
            depends_on: None,
            transition: said.states.map(|FrameStates { source, target }| Transition {
                source: StateHash(source),
                target: StateHash(target),
            }),
        };
        let content = match origin {
            Origin::Media | Origin::Fec => Content::Media { sequence: number, fragment },
            Origin::Retransmission => Content::Retransmission { of: number, fragment },
        };
        let ready = if origin == Origin::Fec {
            self.kept.on_recovered(now, fragment)
        } else {
            let packet = self.packet(said, content);
            self.kept.on_packet(now, &packet)
        };
        self.finish(ready)
    }

    fn packet(&mut self, said: &Said, content: Content) -> Packet {
        self.arrivals += 1;
        let sent = SentPacket::new(PacketId(self.arrivals), Time::ZERO, said.size);
        Packet {
            sent,
            grace: said.grace.grace,
            before: Bytes::ZERO,
            requests_feedback: false,
            report_may_wait: false,
            content,
        }
    }

    /// Stores the bytes of a part; returns whether it fits into the frame.
    fn keep(&mut self, frame: u64, place: FrameFragment, timestamp: u32, picture: Option<u16>, part: Part) -> bool {
        let parts = self.frames.entry(frame).or_insert_with(|| Parts {
            timestamp,
            picture,
            bytes: 0,
            parts: vec![None; place.fragments.into()],
        });
        let fits = parts.bytes + part.data.len() <= BYTES;
        let Some(free) = parts.parts.get_mut(usize::from(place.fragment)).filter(|part| part.is_none() && fits) else {
            self.counts.twice += 1;
            return false;
        };
        match part.origin {
            Origin::Media => {}
            Origin::Retransmission => self.counts.retransmitted += 1,
            Origin::Fec => self.counts.recovered += 1,
        }
        parts.bytes += part.data.len();
        *free = Some(part);
        true
    }

    /// Adds the bytes to the frames that are ready.
    fn finish(&mut self, ready: Vec<(FrameInfo, Moves)>) -> Vec<VideoFrame> {
        let ready: Vec<VideoFrame> =
            ready.into_iter().filter_map(|(info, moves)| self.give_out(info.frame, moves)).collect();
        self.frames = self.frames.split_off(&self.kept.next_frame());
        while self.kept.poll_abandoned().is_some() {
            self.counts.abandoned += 1;
        }
        ready
    }

    fn give_out(&mut self, frame: u64, moves: Moves) -> Option<VideoFrame> {
        let parts = self.frames.remove(&frame)?;
        let whole: Vec<&Part> = parts.parts.iter().map_while(Option::as_ref).collect();
        let mut data: Vec<u8> = whole.iter().flat_map(|part| &part.data).copied().collect();
        data.truncate(moves.length.map_or(usize::MAX, |length| length as usize));
        let numbers = whole.iter().map(|part| part.number);
        let arrivals = whole.iter().map(|part| part.arrived);
        let of = |origin| whole.iter().filter(|part| part.origin == origin).count() as u16;
        let keyframe = vp8::is_keyframe(&data);
        self.counts.frames += 1;
        self.counts.keyframes += u64::from(keyframe);
        Some(VideoFrame {
            number: 0,
            frame: Some(frame),
            picture: parts.picture,
            keyframe,
            timestamp: self.timestamps.unwrap(parts.timestamp),
            captured: None,
            sequences: numbers.clone().min()?..=numbers.max()?,
            first_arrival: arrivals.clone().min()?,
            last_arrival: arrivals.max()?,
            retransmitted: of(Origin::Retransmission),
            recovered: of(Origin::Fec),
            moves: Some(moves),
            data,
        })
    }

    /// The decoder's state does not match the one a frame claimed.
    pub(super) fn on_disagreement(&mut self, claimed: StateHash) {
        self.kept.on_disagreement(claimed);
    }

    /// The decoder state to send with a report.
    pub(super) fn report(&self, sender_ssrc: u32, media_ssrc: u32) -> Option<DecoderState> {
        self.kept.report().map(|state| DecoderState { sender_ssrc, media_ssrc, ..state })
    }
}
