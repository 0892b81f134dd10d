//! What happens to a video's packets: frames for a standard decoder, or for one that keeps its states. A sender may go from one
//! kind to the other in the middle of a call; the first packet of each frame says which it is.

use thalweg_media::StateHash;
use thalweg_units::{ConfigError, Span, Time};
use thalweg_wire::rtcp::DecoderState;

use super::config::Video;
use super::functional::FunctionalStream;
use super::media_packet::{MediaPacket, Said};
use super::output::{Origin, VideoFrame};
use super::statistics::VideoCounts;
use super::video::VideoStream;
use crate::wants::Wants;

/// Both kinds.
#[derive(Debug)]
pub(super) struct Frames {
    standard: VideoStream,
    functional: Option<FunctionalStream>,
    /// Whether the last frame that began was of functional video; until one did, whether that is expected.
    is_functional: bool,
    /// The number of the last keyframe that came out.
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

    /// A packet came; the frames to decode now, in order.
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

    /// Which kind a frame is of that begins with this packet: functional video says between which states it lies. Packets of
    /// either may say which part of which frame they have.
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
            // What comes now follows nothing that the other kind has, and the decoder was elsewhere meanwhile.
            self.standard.begin_anew();
            self.on_disagreement(StateHash::UNKNOWN);
        }
    }

    /// A packet came that has nothing for the decoder.
    pub(super) fn on_other(&mut self, now: Time, said: Option<Said>) {
        if let (Some(stream), Some(said)) = (&mut self.functional, said) {
            stream.on_other(now, &said);
        }
    }

    /// The stream is another from here on: its frames follow none of those before.
    pub(super) fn begin_anew(&mut self) {
        self.standard.begin_anew();
        if let Some(stream) = &mut self.functional {
            stream.begin_anew();
        }
    }

    /// The round trip is known.
    pub(super) fn learn(&mut self, round_trip: Span) {
        self.standard.learn(round_trip);
    }

    /// The decoder did not get to the state that a frame was to lead to.
    pub(super) fn on_disagreement(&mut self, claimed: StateHash) {
        if let Some(stream) = &mut self.functional {
            stream.on_disagreement(claimed);
        }
    }

    /// The decoder made nothing of frame `number`, so that only a keyframe helps; one that came out since does already. Functional
    /// video goes on from states instead.
    pub(super) fn on_undecodable(&mut self, number: u64) {
        if !self.is_functional && self.newest_keyframe.is_none_or(|keyframe| keyframe <= number) {
            self.standard.on_undecodable();
        }
    }

    /// What goes along with a report.
    pub(super) fn decoder_state(&self, sender_ssrc: u32, media_ssrc: u32) -> Option<DecoderState> {
        let stream = self.functional.as_ref().filter(|_| self.is_functional)?;
        stream.report(sender_ssrc, media_ssrc)
    }

    /// What to ask the sender for now: of functional video nothing, for it goes on from what is here.
    pub(super) fn poll(&mut self, now: Time) -> Wants {
        if self.is_functional { Wants::default() } else { self.standard.poll(now) }
    }

    /// When [`Frames::poll`] has something to say.
    pub(super) fn next_event(&self) -> Time {
        if self.is_functional { Time::NEVER } else { self.standard.next_event() }
    }

    /// What was counted of both.
    pub(super) fn counts(&self) -> VideoCounts {
        let functional = self.functional.as_ref().map(FunctionalStream::counts).unwrap_or_default();
        self.standard.counts().plus(functional)
    }
}
