//! Handles video packets for a standard decoder or for a stateful one. A sender may switch between the two kinds during
//! a call; the first packet of each frame identifies its kind.

use thalweg_types::StateHash;
use thalweg_units::{ConfigError, Span, Time};
use thalweg_wire::rtcp::DecoderState;

use super::config::Video;
use super::functional::FunctionalStream;
use super::media_packet::{MediaPacket, Said};
use super::output::{Origin, VideoFrame};
use super::statistics::VideoCounts;
use super::video::VideoStream;
use crate::wants::Wants;

/// Receivers for both kinds.
#[derive(Debug)]
pub(super) struct Frames {
    standard: VideoStream,
    functional: Option<FunctionalStream>,
    /// True if the last started frame was functional video; before the first frame, if that is expected.
    is_functional: bool,
    /// The number of the last keyframe delivered.
    newest_keyframe: Option<u64>,
}

impl Frames {
    /// # Errors
    /// When a parameter is out of range.
    pub(super) fn new(video: &Video) -> Result<Frames, ConfigError> {
        let functional = video.stateful.map(FunctionalStream::new).transpose()?;
        let is_functional = functional.is_some();
        Ok(Frames { standard: VideoStream::new(video.codec), functional, is_functional, newest_keyframe: None })
    }

    /// A packet arrived; returns the frames to decode now, in order.
    pub(super) fn on_packet(&mut self, now: Time, packet: &MediaPacket<'_>) -> Vec<VideoFrame> {
        if let Some(is_functional) = self.kind_said(packet) {
            self.become_kind(is_functional);
        }
        let mut ready = match (&mut self.functional, packet.said) {
            (Some(stream), Some(said)) if self.is_functional && !packet.payload.is_empty() => {
                stream.on_media(now, packet, &said)
            }
            _ if self.is_functional => {
                self.on_other(now, packet.said);
                Vec::new()
            }
            _ => self.standard.on_packet(now, packet),
        };
        let counts = self.counts();
        let first = counts.frames - ready.len() as u64;
        for (frame, number) in ready.iter_mut().zip(first..) {
            frame.number = number;
            if frame.keyframe {
                self.newest_keyframe = Some(number);
            }
        }
        ready
    }

    /// The kind of the frame that begins with this packet: functional video names the states before and after the
    /// frame. Packets of either kind may say which part of which frame they carry.
    fn kind_said(&self, packet: &MediaPacket<'_>) -> Option<bool> {
        if packet.origin != Origin::Media || packet.payload.is_empty() || self.functional.is_none() {
            return None;
        }
        match packet.said {
            None => Some(false),
            Some(said) => {
                let part = said.grace.fragment;
                part.is_none_or(|part| part.fragment == 0).then_some(part.is_some() && said.states.is_some())
            }
        }
    }

    fn become_kind(&mut self, is_functional: bool) {
        if std::mem::replace(&mut self.is_functional, is_functional) != is_functional {
            // The new kind does not continue anything the other kind has, and the decoder state has changed in the
            // meantime.
            self.standard.begin_anew();
            self.on_disagreement(StateHash::UNKNOWN);
        }
    }

    /// A packet without data for the decoder arrived.
    pub(super) fn on_other(&mut self, now: Time, said: Option<Said>) {
        if let (Some(stream), Some(said)) = (&mut self.functional, said) {
            stream.on_other(now, &said);
        }
    }

    /// Resets the state for a new stream: its frames do not refer to earlier ones.
    pub(super) fn begin_anew(&mut self) {
        self.standard.begin_anew();
        if let Some(stream) = &mut self.functional {
            stream.begin_anew();
        }
    }

    /// Sets the round-trip time.
    pub(super) fn learn(&mut self, round_trip: Span) {
        self.standard.learn(round_trip);
    }

    /// The decoder's state does not match the one a frame claimed.
    pub(super) fn on_disagreement(&mut self, claimed: StateHash) {
        if let Some(stream) = &mut self.functional {
            stream.on_disagreement(claimed);
        }
    }

    /// The decoder could not decode frame `number`, so a keyframe is required unless one was delivered since.
    /// Functional video continues from kept states instead.
    pub(super) fn on_undecodable(&mut self, number: u64) {
        if !self.is_functional && self.newest_keyframe.is_none_or(|keyframe| keyframe <= number) {
            self.standard.on_undecodable();
        }
    }

    /// Somebody else needs a keyframe.
    pub(super) fn request_keyframe(&mut self) {
        if !self.is_functional {
            self.standard.request_keyframe();
        }
    }

    /// The decoder state to send with a report.
    pub(super) fn decoder_state(&self, sender_ssrc: u32, media_ssrc: u32) -> Option<DecoderState> {
        let stream = self.functional.as_ref().filter(|_| self.is_functional)?;
        stream.report(sender_ssrc, media_ssrc)
    }

    /// The requests to send now; none for functional video, which continues from the states it has.
    pub(super) fn poll(&mut self, now: Time) -> Wants {
        if self.is_functional { Wants::default() } else { self.standard.poll(now) }
    }

    /// When [`Frames::poll`] should be called next.
    pub(super) fn next_event(&self) -> Time {
        if self.is_functional { Time::NEVER } else { self.standard.next_event() }
    }

    /// Counters of both kinds.
    pub(super) fn counts(&self) -> VideoCounts {
        let functional = self.functional.as_ref().map(FunctionalStream::counts).unwrap_or_default();
        self.standard.counts().plus(functional)
    }
}
