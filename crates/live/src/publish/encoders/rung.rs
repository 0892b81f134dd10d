//! The frames of an encoder that several viewers share: which pictures it encodes, when it makes keyframes, and what a
//! frame refers to.

use std::collections::VecDeque;

use thalweg_codecs::Codec;
use thalweg_sender::frames::{EncodePlan, Target};
use thalweg_session::Encoded;
use thalweg_types::layers::{self, Pattern};
use thalweg_units::{ConfigError, Rate, Size, Span, Time};

use super::keyframes::Keyframes;
use super::passthrough::Frame;
use crate::publish::messages::Key;
use crate::publish::sources::camera::Taken;

/// Frames kept for viewers that ask late: half a second.
const KEPT: usize = 16;
/// Pictures from keyframe to keyframe without a request for one: 36 minutes at 30 fps.
const PERIOD: u32 = 1 << 16;

/// The layers that a codec can make in a shared encoder: two, of which a viewer whose rate does not suffice is sent the
/// lower one, at half the frame rate. More would cost the others more quality.
pub(crate) fn layers(codec: &Codec) -> layers::Config {
    // openh264 has one layer.
    let group = if matches!(codec, Codec::H264(_)) { 1 } else { 2 };
    layers::Config { group, period: PERIOD }
}

/// A picture to encode, and how.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) taken: Taken,
    pub(crate) plan: EncodePlan,
}

/// Availability of the frame of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Availability {
    /// It is being encoded, or waits for that.
    Coming {
        /// True if it will be a keyframe, as far as is known.
        keyframe: bool,
    },
    /// There is one, or there will be none.
    Settled,
}

/// The frames of a shared encoder.
#[derive(Debug)]
pub(crate) struct Rung {
    pub(crate) rate: Rate,
    pub(crate) size: Size,
    interval: Span,
    pattern: Pattern,
    /// The place of the next frame in the pattern, and the number of the one at place 0.
    place: u32,
    first: u64,
    /// The number of the next frame.
    next: u64,
    /// The picture in the encoder, its place, and whether it is to be a keyframe.
    busy: Option<(u64, u32, bool)>,
    /// The newest picture that came meanwhile.
    waiting: Option<Taken>,
    frames: VecDeque<Frame>,
    keyframes: Keyframes,
}

impl Rung {
    /// # Errors
    /// When the pattern cannot be built.
    pub(crate) fn new(layers: layers::Config, size: Size, rate: Rate, interval: Span) -> Result<Rung, ConfigError> {
        Ok(Rung {
            rate,
            size,
            interval,
            pattern: layers.build()?,
            place: 0,
            first: 0,
            next: 0,
            busy: None,
            waiting: None,
            frames: VecDeque::new(),
            keyframes: Keyframes::default(),
        })
    }

    /// Frames made.
    pub(crate) fn made(&self) -> u64 {
        self.next
    }

    /// A viewer needs a keyframe.
    pub(crate) fn ask_for_keyframe(&mut self, now: Time, viewer: Key) {
        self.keyframes.ask(now, viewer);
    }

    /// A picture was taken; returns what to encode now. While the encoder is busy the newest waits.
    pub(crate) fn on_picture(&mut self, now: Time, taken: &Taken) -> Option<Job> {
        if self.busy.is_some() {
            self.waiting = Some(taken.clone());
            return None;
        }
        Some(self.begin(now, taken.clone()))
    }

    fn begin(&mut self, now: Time, taken: Taken) -> Job {
        let keyframe = self.next == 0 || self.keyframes.is_due(now);
        let place = if keyframe { 0 } else { self.place };
        let mut plan = EncodePlan::new(vec![Target::Rate(self.rate)], self.size, self.interval);
        self.pattern.plan(place, self.reference(place), &mut plan);
        self.busy = Some((taken.number, place, plan.keyframe));
        Job { taken, plan }
    }

    /// The number of the frame that the one at `place` refers to.
    fn reference(&self, place: u32) -> Option<u64> {
        self.pattern.refers_to(place).map(|place| self.first + u64::from(place))
    }

    /// The encoder's frame of the picture it was given, or none; returns what to encode next.
    pub(crate) fn on_made(&mut self, now: Time, made: Option<Encoded>) -> Option<Job> {
        let (picture, place, _) = self.busy.take()?;
        if let Some(encoded) = made {
            let number = self.next;
            self.next += 1;
            // An encoder makes a keyframe of its own accord where the size changes.
            let place = if encoded.frame.keyframe { 0 } else { place };
            if place == 0 {
                self.first = number;
                self.keyframes.on_made(now);
            }
            let layer = self.pattern.layer(place);
            let refers_to = if encoded.frame.keyframe { None } else { self.reference(place) };
            let is_reference = layer.count == 1 || layer.number + 1 < layer.count;
            self.place = place + 1;
            self.frames.push_back(Frame { picture, number, refers_to, is_reference, encoded });
            if self.frames.len() > KEPT {
                self.frames.pop_front();
            }
        }
        self.waiting.take().map(|taken| self.begin(now, taken))
    }

    /// Availability of the frame of this picture.
    pub(crate) fn availability(&self, picture: u64) -> Availability {
        match (self.busy, &self.waiting) {
            (Some((number, _, keyframe)), _) if number == picture => Availability::Coming { keyframe },
            (_, Some(taken)) if taken.number == picture => Availability::Coming { keyframe: false },
            _ => Availability::Settled,
        }
    }

    /// The frames that a viewer could be sent for this picture, in order: with two layers older ones too, as it can get
    /// level again.
    pub(crate) fn frames(&self, picture: u64) -> impl DoubleEndedIterator<Item = &Frame> {
        let layered = self.pattern.layers() > 1;
        self.frames.iter().filter(move |frame| frame.picture == picture || layered && frame.picture < picture)
    }

    /// Returns true if the frame of this picture is a keyframe.
    pub(crate) fn is_keyframe(&self, picture: u64) -> bool {
        self.frames.iter().any(|frame| frame.picture == picture && frame.encoded.frame.keyframe)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::publish::sources::camera::Seen;
    use thalweg_sender::frames::{Basis, EncodedFrame};
    use thalweg_units::Bytes;

    const INTERVAL: Span = Span::from_millis(33);

    fn rung(codec: &str) -> Rung {
        Rung::new(layers(&codec.parse().unwrap()), Size::HD, Rate::from_kbps(500), INTERVAL).unwrap()
    }

    fn taken(number: u64) -> Taken {
        Taken { number, captured: Time::ZERO, seen: Seen::Nothing }
    }

    fn at(picture: u64) -> Time {
        Time::ZERO + INTERVAL * picture as i64
    }

    fn encoded(keyframe: bool) -> Option<Encoded> {
        let size = Bytes::new(100);
        let frame = EncodedFrame::new(size, Size::HD).with(|frame| frame.keyframe = keyframe);
        Some(Encoded { frame, data: [].into() })
    }

    /// Encodes a picture at once; returns its plan.
    fn encode(rung: &mut Rung, picture: u64) -> EncodePlan {
        let job = rung.on_picture(at(picture), &taken(picture)).unwrap();
        assert!(rung.on_made(at(picture), encoded(job.plan.keyframe)).is_none());
        job.plan
    }

    #[test]
    fn frames_are_in_two_layers_after_a_keyframe_and_say_what_they_refer_to() {
        let mut rung = rung("model");
        let plans: Vec<EncodePlan> = (0..5).map(|picture| encode(&mut rung, picture)).collect();
        assert!(plans[0].keyframe && plans[1..].iter().all(|plan| !plan.keyframe && !plan.may_drop));
        assert_eq!(plans.iter().map(|plan| plan.layer.number).collect::<Vec<_>>(), [0, 1, 0, 1, 0]);
        let links: Vec<_> = rung.frames(4).map(|frame| (frame.number, frame.refers_to, frame.is_reference)).collect();
        let expected =
            [(0, None, true), (1, Some(0), false), (2, Some(0), true), (3, Some(2), false), (4, Some(2), true)];
        assert_eq!(links, expected);
    }

    #[test]
    fn a_codec_of_one_layer_has_a_chain_of_which_nothing_comes_late() {
        let mut rung = rung("model");
        rung.pattern = layers::Config { group: 1, period: PERIOD }.build().unwrap();
        let plans: Vec<EncodePlan> = (0..3).map(|picture| encode(&mut rung, picture)).collect();
        assert!(plans.iter().all(|plan| plan.basis == Basis::Latest && plan.layer.count == 1));
        let frames: Vec<_> = rung.frames(2).map(|frame| (frame.number, frame.refers_to)).collect();
        assert_eq!(frames, [(2, Some(1))]);
    }

    #[test]
    fn keyframes_are_300_ms_apart_and_those_of_one_viewer_three_in_nine_seconds() {
        let mut rung = rung("model");
        encode(&mut rung, 0);
        let mut keyframes = |from: u64, to: u64, askers: &[Key]| -> Vec<u64> {
            let asked = |rung: &mut Rung, picture: u64| {
                askers.iter().for_each(|viewer| rung.ask_for_keyframe(at(picture), *viewer));
                encode(rung, picture).keyframe
            };
            (from..to).filter(|picture| asked(&mut rung, *picture)).collect()
        };
        // 10 pictures are 330 ms, 273 are 9.009 s.
        assert_eq!(keyframes(1, 300, &[7]), [10, 20, 30, 274, 284, 294]);
        let many: Vec<Key> = (10..40).collect();
        let of_many = keyframes(400, 460, &many);
        assert_eq!(of_many, [400, 410, 420, 430, 440, 450], "all together every 300 ms");
        assert_eq!(keyframes(700, 800, &[]), [700], "what was asked for at 451, and no more");
    }

    #[test]
    fn while_the_encoder_is_busy_the_newest_picture_waits_and_the_others_are_left_out() {
        let mut rung = rung("model");
        rung.on_picture(at(0), &taken(0)).unwrap();
        assert_eq!(rung.availability(0), Availability::Coming { keyframe: true });
        assert!(rung.on_picture(at(1), &taken(1)).is_none() && rung.on_picture(at(2), &taken(2)).is_none());
        assert_eq!(rung.availability(1), Availability::Settled);
        assert_eq!(rung.availability(2), Availability::Coming { keyframe: false });
        let next = rung.on_made(at(2), encoded(true)).unwrap();
        assert_eq!((next.taken.number, rung.availability(0)), (2, Availability::Settled));
        assert!(rung.is_keyframe(0) && rung.frames(1).count() == 1);
        // The encoder makes nothing of it: the pattern goes on where it was.
        assert!(rung.on_made(at(3), None).is_none());
        assert_eq!((rung.made(), encode(&mut rung, 3).layer.number), (1, 1));
    }

    #[test]
    fn a_keyframe_that_nobody_asked_for_begins_the_pattern_anew() {
        let mut rung = rung("model");
        (0..2).for_each(|picture| drop(encode(&mut rung, picture)));
        rung.on_picture(at(2), &taken(2)).unwrap();
        rung.on_made(at(2), encoded(true));
        assert_eq!(encode(&mut rung, 3).layer.number, 1);
        let last = rung.frames(3).next_back().unwrap();
        assert_eq!((last.number, last.refers_to), (3, Some(2)));
    }
}
