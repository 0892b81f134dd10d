//! Keyframes for viewers of frames that are passed on as they come: who sends them is asked.

use thalweg_units::{Span, Time};

use super::keyframes::Keyframes;
use crate::publish::messages::Key;
use crate::publish::sources::camera::Seen;

/// A request that no keyframe follows is repeated after this time: it or the keyframe may be lost, and it goes through an
/// encoder and over a path there and back.
const AGAIN: Span = Span::from_secs(1);

/// Where frames come from that are passed on. Of a file no keyframes can be asked for.
#[derive(Default)]
pub(crate) struct Upstream {
    ask: Option<Box<dyn Fn() + Send>>,
    keyframes: Keyframes,
    /// When it was asked for the keyframe that has not come yet.
    asked: Option<Time>,
    requests: u64,
}

impl Upstream {
    /// Sets how it is asked for a keyframe.
    pub(crate) fn ask_by(&mut self, ask: Box<dyn Fn() + Send>) {
        self.ask = Some(ask);
    }

    /// A viewer needs a keyframe.
    pub(crate) fn need_keyframe(&mut self, now: Time, viewer: Key) {
        self.keyframes.ask(now, viewer);
        self.request(now);
    }

    /// Something came.
    pub(crate) fn on_picture(&mut self, now: Time, seen: &Seen) {
        if matches!(seen, Seen::Frame(encoded) if encoded.frame.keyframe) {
            self.keyframes.on_made(now);
            self.asked = None;
        }
        self.request(now);
    }

    /// The requests so far; `None` where nobody can be asked.
    pub(crate) fn requests(&self) -> Option<u64> {
        self.ask.as_ref().map(|_| self.requests)
    }

    fn request(&mut self, now: Time) {
        let Some(ask) = &self.ask else { return };
        if self.keyframes.is_due(now) && self.asked.is_none_or(|asked| now - asked >= AGAIN) {
            ask();
            self.asked = Some(now);
            self.requests += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use thalweg_sender::frames::EncodedFrame;
    use thalweg_session::Encoded;
    use thalweg_units::{Bytes, Size};

    fn frame(keyframe: bool) -> Seen {
        let size = Bytes::new(10);
        let frame = EncodedFrame::new(size, Size::HD).with(|frame| frame.keyframe = keyframe);
        Seen::Frame(Encoded { frame, data: Arc::from([0; 10]) })
    }

    /// The times in ms at which the sender was asked within ten seconds, when `viewers` need a keyframe all the time and
    /// one comes as many pictures after a request as `answers`, if at all.
    fn asked(viewers: &[Key], answers: Option<u64>) -> Vec<u64> {
        let mut upstream = Upstream::default();
        assert_eq!(upstream.requests(), None);
        upstream.ask_by(Box::new(|| ()));
        let (mut times, mut coming) = (Vec::new(), None);
        for picture in 0..300 {
            let now = Time::from_millis(33 * picture);
            let before = upstream.requests();
            upstream.on_picture(now, &frame(coming == Some(picture)));
            viewers.iter().for_each(|viewer| upstream.need_keyframe(now, *viewer));
            if upstream.requests() != before {
                times.push(33 * picture);
                coming = answers.map(|after| picture + after);
            }
        }
        assert_eq!(upstream.requests(), Some(times.len() as u64));
        times
    }

    #[test]
    fn of_one_viewer_three_requests_in_nine_seconds_are_granted_and_of_many_one_in_300_ms() {
        assert_eq!(asked(&[7], Some(2)), [0, 396, 792, 9009, 9405, 9801]);
        let of_many = asked(&(0..40).collect::<Vec<_>>(), Some(2));
        assert!(of_many.windows(2).all(|pair| pair[1] - pair[0] >= 300), "{of_many:?}");
        assert!((20..=30).contains(&of_many.len()), "{of_many:?}");
        assert!(asked(&[], Some(2)).is_empty());
    }

    #[test]
    fn a_request_without_an_answer_is_repeated_once_a_second() {
        let repeated = asked(&[7], None);
        assert!(repeated.windows(2).all(|pair| (1000..=1033).contains(&(pair[1] - pair[0]))), "{repeated:?}");
        assert_eq!(repeated.len(), 10);
    }
}
