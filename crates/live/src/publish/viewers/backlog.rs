//! Encoded frames that wait for a viewer's sender.
//!
//! A sender that is not ready for a picture waits for the next one. Of frames that refer to one another none can be left
//! out, so each is handed over when the one before has gone, late, but not too late.

use std::collections::VecDeque;

use thalweg_units::{Span, Time};

/// How long a frame may wait: until then what is behind may catch up, as after a large keyframe. Equal to what a viewer may
/// be sent at once of its target.
const LONGEST: Span = Span::from_millis(500);

/// The pictures whose frames wait, in order.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    waiting: VecDeque<(u64, Time)>,
    /// The one that the sender was given and has neither used nor left out.
    given: Option<(u64, Time)>,
}

impl Backlog {
    /// A picture's frame has come. Where one has waited too long all before this one are forgotten: the viewer needs a
    /// keyframe.
    pub(crate) fn add(&mut self, now: Time, picture: u64) {
        let oldest = self.given.or(self.waiting.front().copied());
        if oldest.is_some_and(|(_, came)| now - came > LONGEST) {
            self.waiting.clear();
            self.given = None;
        }
        self.waiting.push_back((picture, now));
    }

    /// The picture to give to the sender now, if there is one and it is ready.
    pub(crate) fn next(&mut self) -> Option<u64> {
        if self.given.is_none() {
            self.given = self.waiting.pop_front();
            return self.given.map(|(picture, _)| picture);
        }
        None
    }

    /// The sender asked for this picture's frame: the next may follow.
    pub(crate) fn on_used(&mut self, picture: u64) {
        self.given.take_if(|(given, _)| *given == picture);
    }

    /// The sender left this picture out: it is given again.
    pub(crate) fn on_left_out(&mut self, picture: u64) {
        let again = self.given.take_if(|(given, _)| *given == picture);
        again.into_iter().for_each(|given| self.waiting.push_front(given));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_given_when_the_one_before_has_gone_and_again_when_it_was_left_out() {
        let mut backlog = Backlog::default();
        (0..3).for_each(|picture| backlog.add(Time::from_millis(33 * picture), picture));
        assert_eq!((backlog.next(), backlog.next()), (Some(0), None));
        backlog.on_used(7);
        assert_eq!(backlog.next(), None);
        backlog.on_left_out(0);
        assert_eq!(backlog.next(), Some(0));
        backlog.on_used(0);
        // What the encoder makes nothing of is left out too, after it was used.
        backlog.on_left_out(0);
        assert_eq!((backlog.next(), backlog.next()), (Some(1), None));
        backlog.on_used(1);
        assert_eq!(backlog.next(), Some(2));
    }

    #[test]
    fn what_waited_for_more_than_half_a_second_is_forgotten() {
        for lets_go in [true, false] {
            let mut backlog = Backlog::default();
            let mut given = Vec::new();
            for picture in 0..40 {
                backlog.add(Time::from_millis(33 * picture), picture);
                given.extend(backlog.next());
                // The sender is busy for half a second, or for longer.
                if picture >= 15 && lets_go || picture >= 20 {
                    while let Some((last, _)) = backlog.given {
                        backlog.on_used(last);
                        given.extend(backlog.next());
                    }
                }
            }
            let expected: Vec<u64> = if lets_go { (0..40).collect() } else { [0].into_iter().chain(16..40).collect() };
            assert_eq!(given, expected);
        }
    }
}
