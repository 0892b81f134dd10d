//! Assembles packets of a standard video into frames, in decodable order.
//!
//! Without further information every frame refers to the previous one (libwebrtc `RtpSeqNumOnlyRefFinder`): a frame can
//! be decoded when it is a keyframe, or when every packet between it and the last delivered frame was received. Where
//! frames have picture ids, the next id is sufficient as well (`RtpFrameIdOnlyRefFinder`): the missing packets before
//! it were not part of a frame. Frames in layers declare their references ([`super::references`]), so a loss in a layer
//! above the base affects only frames that refer to it: the next decodable frame is delivered at once, and earlier ones
//! never after it.

use std::collections::BTreeMap;

use thalweg_units::{Span, Time};
use thalweg_wire::unwrap::TimestampUnwrapper;

use super::buffer::{BYTES, Buffer, PACKETS, Piece, Taken, WholeRun};
use super::config::Codec;
use super::media_packet::MediaPacket;
use super::output::{Origin, VideoFrame};
use super::payload::Assembled;
use super::references::{Given, Says};
use super::statistics::VideoCounts;
use crate::gaps::Gaps;
use crate::keyframe_timeout::{FOR_KEYFRAME, Waiting};
use crate::order::{self, FRAMES};
use crate::wants::Wants;

/// Max distance of a retransmission ahead of the newest packet.
const AHEAD: u64 = PACKETS / 2;

/// Modulus of long picture ids (RFC 7741, RFC 9628); after the last short one, 127, only sequence numbers are used.
const PICTURES: u16 = 1 << 15;

/// A complete frame that waits for its references.
#[derive(Debug)]
struct Waiter {
    run: WholeRun,
    frame: Assembled,
}

/// Receiver of one standard video.
#[derive(Debug)]
pub(super) struct VideoStream {
    codec: Codec,
    gaps: Gaps,
    buffer: Buffer,
    /// Complete frames by the sequence number of their first packet.
    waiting: BTreeMap<u64, Waiter>,
    waiting_bytes: usize,
    /// The sequence number after the last delivered frame; `None` while only a keyframe can be decoded.
    expected: Option<u64>,
    /// The picture id of that frame, if it had one.
    last_picture: Option<u16>,
    /// The layered frames that the decoder was given.
    given: Given,
    newest: Option<u64>,
    timestamps: TimestampUnwrapper,
    asked: Option<Time>,
    /// A keyframe is to be requested for somebody else, although nothing is missing here.
    wanted: bool,
    counts: VideoCounts,
}

impl VideoStream {
    pub(super) fn new(codec: Codec) -> VideoStream {
        VideoStream {
            codec,
            gaps: Gaps::default(),
            buffer: Buffer::new(),
            waiting: BTreeMap::new(),
            waiting_bytes: 0,
            expected: None,
            last_picture: None,
            given: Given::default(),
            newest: None,
            timestamps: TimestampUnwrapper::new(),
            asked: None,
            wanted: false,
            counts: VideoCounts::default(),
        }
    }

    /// Sets the round-trip time.
    pub(super) fn learn(&mut self, round_trip: Span) {
        self.gaps.learn(round_trip);
    }

    /// The counters.
    pub(super) fn counts(&self) -> VideoCounts {
        self.counts
    }

    /// Resets the state for a new stream: its frames do not refer to earlier ones.
    pub(super) fn begin_anew(&mut self) {
        self.buffer.clear();
        self.counts.abandoned += self.waiting.len() as u64 + self.buffer.take_abandoned();
        let (counts, asked, gaps) = (self.counts, self.asked, self.gaps.begin_anew());
        *self = VideoStream { counts, asked, gaps, ..VideoStream::new(self.codec) };
    }

    /// A delivered frame could not be decoded, so frames that refer to it cannot be either.
    pub(super) fn on_undecodable(&mut self) {
        self.expected = None;
        self.gaps.lose_track();
    }

    /// Somebody else needs a keyframe; frames go on.
    pub(super) fn request_keyframe(&mut self) {
        self.wanted = true;
    }

    /// A packet arrived; returns the frames to decode now, in order.
    pub(super) fn on_packet(&mut self, now: Time, packet: &MediaPacket<'_>) -> Vec<VideoFrame> {
        let MediaPacket { number, header, payload, origin, dependency, .. } = *packet;
        if !self.admit(now, number, origin) {
            return Vec::new();
        }
        self.gaps.on_part(now);
        let (taken, whole) = if payload.is_empty() {
            self.buffer.on_padding(number)
        } else {
            let Ok(glimpse) = self.codec.glimpse(payload) else {
                self.counts.malformed += 1;
                return Vec::new();
            };
            let piece = Piece {
                payload: payload.to_vec(),
                timestamp: header.timestamp,
                marker: header.marker,
                start: glimpse.start,
                picture: glimpse.picture,
                says: Says { described: glimpse.depends, dependency: dependency.cloned() },
                arrived: now,
                origin,
            };
            self.buffer.on_piece(number, piece)
        };
        self.count(taken, origin);
        for run in whole {
            self.on_whole(run);
        }
        let ready = self.ready();
        if !ready.is_empty() {
            self.gaps.on_ready(now);
        }
        if self.buffer.take_overrun() {
            self.gaps.lose_track();
        }
        self.keep_within_bounds();
        ready
    }

    /// Returns true if packet `number` is accepted; also updates the missing packets.
    fn admit(&mut self, now: Time, number: u64, origin: Origin) -> bool {
        if origin == Origin::Media {
            self.newest = self.newest.max(Some(number));
            self.gaps.on_media(now, number);
            return true;
        }
        // A packet far ahead of every packet received can hardly be a retransmission.
        if self.newest.is_none_or(|newest| number > newest + AHEAD) {
            self.counts.late += 1;
            return false;
        }
        self.gaps.on_repaired(number);
        true
    }

    fn count(&mut self, taken: Taken, origin: Origin) {
        let count = match (taken, origin) {
            (Taken::New, Origin::Media) => return,
            (Taken::New, Origin::Retransmission) => &mut self.counts.retransmitted,
            (Taken::New, Origin::Fec) => &mut self.counts.recovered,
            (Taken::Twice, _) => &mut self.counts.twice,
            (Taken::Late, _) => &mut self.counts.late,
        };
        *count += 1;
    }

    fn on_whole(&mut self, run: WholeRun) {
        let Some(frame) = self.codec.assemble(run.pieces.iter().map(|piece| &piece.payload[..])) else {
            // No later frame can be decoded without it.
            self.counts.malformed += 1;
            self.gaps.lose_track();
            return;
        };
        if self.expected.is_none_or(|expected| run.start >= expected) {
            self.waiting_bytes += frame.data.len();
            self.waiting.insert(run.start, Waiter { run, frame });
        }
    }

    /// The frames that can be decoded now.
    fn ready(&mut self) -> Vec<VideoFrame> {
        let mut ready = Vec::new();
        // A keyframe never waits, so the first one found is new, and frames before it are never shown.
        while let Some((start, follows)) = self.next() {
            let Some((Waiter { run, frame }, before)) = order::take(&mut self.waiting, start) else { break };
            let bytes_before: usize = before.values().map(|waiter| waiter.frame.data.len()).sum();
            self.waiting_bytes -= frame.data.len() + bytes_before;
            self.counts.abandoned += before.len() as u64;
            self.move_on(run.end + 1);
            ready.push(self.give_out(run, frame, follows));
        }
        ready
    }

    /// The first sequence number of the next decodable frame, and whether nothing is missing before it.
    fn next(&mut self) -> Option<(u64, bool)> {
        while let Some(expected) = self.expected.filter(|expected| self.buffer.is_padding(*expected)) {
            self.move_on(expected + 1);
        }
        let first = self.waiting.first_key_value().map(|(start, _)| *start);
        let decodable = |(start, waiter): (&u64, &Waiter)| {
            let is_next_picture = || first == Some(*start) && self.is_next_picture(&waiter.run);
            let follows = self.expected == Some(*start) || is_next_picture();
            let sufficient = waiter.run.says().map_or(follows, |says| self.given.suffices(says, follows));
            (waiter.frame.keyframe || self.expected.is_some() && sufficient).then_some((*start, follows))
        };
        self.waiting.iter().find_map(decodable)
    }

    /// Returns true if a frame's picture id is the next one: the packets missing before it were FEC or padding, not
    /// media.
    fn is_next_picture(&self, run: &WholeRun) -> bool {
        let next = self.last_picture.filter(|_| self.expected.is_some()).map(|last| (last + 1) % PICTURES);
        next.is_some() && run.picture() == next
    }

    /// Everything before `number` is finished.
    fn move_on(&mut self, number: u64) {
        self.expected = Some(number);
        self.buffer.clear_up_to(number);
        self.gaps.clear_up_to(number);
        self.counts.abandoned += self.buffer.take_abandoned();
    }

    fn give_out(&mut self, run: WholeRun, frame: Assembled, follows: bool) -> VideoFrame {
        self.counts.frames += 1;
        if let Some(says) = run.says() {
            self.given.on_given(says, frame.keyframe, follows);
        }
        if frame.keyframe {
            self.counts.keyframes += 1;
            self.gaps.on_keyframe();
            self.wanted = false;
        }
        let arrivals = run.pieces.iter().map(|piece| piece.arrived);
        let of = |origin| run.pieces.iter().filter(|piece| piece.origin == origin).count() as u16;
        let first = run.pieces.first();
        self.last_picture = run.picture();
        VideoFrame {
            number: 0,
            frame: None,
            picture: run.picture(),
            data: frame.data,
            keyframe: frame.keyframe,
            timestamp: self.timestamps.unwrap(first.map_or(0, |piece| piece.timestamp)),
            captured: None,
            sequences: run.start..=run.end,
            first_arrival: arrivals.clone().min().unwrap_or_default(),
            last_arrival: arrivals.max().unwrap_or_default(),
            retransmitted: of(Origin::Retransmission),
            recovered: of(Origin::Fec),
            moves: None,
        }
    }

    /// When too much is waiting, the missing references will not arrive (libwebrtc empties its buffers, too).
    fn keep_within_bounds(&mut self) {
        self.counts.abandoned += self.buffer.take_abandoned();
        if self.waiting.len() > FRAMES || self.waiting_bytes + self.buffer.bytes() > BYTES {
            self.counts.abandoned += self.waiting.len() as u64;
            self.waiting.clear();
            self.waiting_bytes = 0;
            self.buffer.clear();
            self.counts.abandoned += self.buffer.take_abandoned();
            self.expected = None;
            self.gaps.lose_track();
        }
    }

    fn waiting_for(&self) -> Waiting {
        match (self.waiting.is_empty() && self.buffer.held() == 0, self.expected) {
            (true, _) => Waiting::Nothing,
            (false, None) => Waiting::Keyframe,
            (false, Some(_)) => Waiting::Frame,
        }
    }

    /// The requests to send now. Keyframe requests are never more frequent than the keyframe timeout allows.
    pub(super) fn poll(&mut self, now: Time) -> Wants {
        let mut wants = self.gaps.poll(now, self.waiting_for(), self.keyframe_allowed());
        wants.keyframe |= self.wanted && now >= self.keyframe_allowed();
        self.wanted &= !wants.keyframe;
        self.asked = if wants.keyframe { Some(now) } else { self.asked };
        self.counts.asked_for += wants.packets.len() as u64;
        self.counts.keyframes_requested += u64::from(wants.keyframe);
        wants
    }

    fn keyframe_allowed(&self) -> Time {
        self.asked.map_or(Time::ZERO, |asked| asked + FOR_KEYFRAME)
    }

    /// When [`VideoStream::poll`] should be called next.
    pub(super) fn next_event(&self) -> Time {
        let of_gaps = self.gaps.next_event(self.waiting_for(), self.keyframe_allowed());
        if self.wanted { of_gaps.min(self.keyframe_allowed()) } else { of_gaps }
    }
}
