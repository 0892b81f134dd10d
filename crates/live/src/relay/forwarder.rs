//! From a receiver to a publisher.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use thalweg_receiver::rtp::{AudioPacket, VideoFrame};
use thalweg_session::AudioFrame;
use thalweg_transport::sdp::VideoCodec;
use thalweg_units::{Size, Span, Time};
use thalweg_video::Picture;
use thalweg_video::source::Format;
use thalweg_wire::h264::ParameterSets;

use super::audio::AudioClock;
use super::fit::fitted;
use super::pace::Pace;
use crate::publish::Inlet;
use crate::receive::Forward;

/// Hands on what a sender sends.
pub(super) struct Forwarder {
    inlet: Inlet,
    form: Form,
    audio: Mutex<AudioClock>,
}

/// Form in which video is handed on.
enum Form {
    Pictures {
        size: Size,
        pace: Mutex<Pace>,
    },
    Frames,
    /// The same of H.264, whose keyframes must have the parameter sets that were sent before them.
    FramesWithSets(Mutex<ParameterSets>),
}

impl Forwarder {
    /// Pictures that fit into this size, no more than this many a second.
    pub(super) fn of_pictures(inlet: Inlet, format: Format) -> Forwarder {
        let pace = Mutex::new(Pace::new(format.interval()));
        Forwarder::new(inlet, Form::Pictures { size: format.size, pace })
    }

    /// Frames as they are.
    pub(super) fn of_frames(inlet: Inlet, codec: VideoCodec) -> Forwarder {
        let form = if codec == VideoCodec::H264 {
            Form::FramesWithSets(Mutex::new(ParameterSets::new()))
        } else {
            Form::Frames
        };
        Forwarder::new(inlet, form)
    }

    fn new(inlet: Inlet, form: Form) -> Forwarder {
        Forwarder { inlet, form, audio: Mutex::new(AudioClock::default()) }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Forward for Forwarder {
    fn begins(&self) {
        lock(&self.audio).begin_anew();
        if let Form::FramesWithSets(sets) = &self.form {
            *lock(sets) = ParameterSets::new();
        }
    }

    fn frame(&self, frame: &VideoFrame) {
        let data = match &self.form {
            Form::Pictures { .. } => return,
            Form::Frames => frame.data.clone(),
            Form::FramesWithSets(sets) => lock(sets).complete(&frame.data).into_owned(),
        };
        self.inlet.frame(data, frame.keyframe);
    }

    fn picture(&self, now: Time, picture: Arc<Picture>) {
        if let Form::Pictures { size, pace } = &self.form
            && lock(pace).admits(now)
        {
            self.inlet.picture(fitted(picture, *size));
        }
    }

    fn audio(&self, packet: &AudioPacket, skew: Option<Span>) {
        let mut clock = lock(&self.audio);
        let ticks = clock.ticks(packet.arrived, packet.timestamp);
        // Relative to the pictures, whose time is that of their arrival: both are played as they were taken.
        let captured = packet.arrived + clock.skew(skew);
        drop(clock);
        self.inlet.audio(AudioFrame { data: packet.data.as_slice().into(), ticks, captured });
    }
}
