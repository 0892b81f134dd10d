//! Which frames a peer needs: those that a frame says it refers to, or every one, in order.

use thalweg_sender::Parts;
use thalweg_types::Fragment;
use thalweg_units::{Span, Time};

/// A peer that needs every frame and requests a packet of one captured longer ago than this, or than three round trips,
/// is sent a keyframe: a picture that stands for half a second is a freeze (crates/live/src/web/page/score.js), and the
/// keyframe has a way to go. libwebrtc would request one only after 3 s (`kMaxWaitForFrame`).
const PATIENCE: Span = Span::from_millis(250);
const ROUND_TRIPS: i64 = 3;

/// References of a scheme's frames at this peer.
#[derive(Debug)]
pub(super) struct Order {
    /// True if they may refer to others than the one before, which their packets are to say.
    pub(super) names_references: bool,
    /// True if they would, but the peer could not be told so ([`super::setup::fit`]).
    fell_back: bool,
    /// The newest keyframe.
    keyframe: Option<u64>,
}

impl Order {
    /// The order of frames of these parts, as they were fitted to the peer; `fell_back` if that changed it.
    pub(super) fn of(parts: &Parts, fell_back: bool) -> Order {
        Order { names_references: parts.frames.names_references(), fell_back, keyframe: None }
    }

    /// The same of the scheme that comes after it.
    pub(super) fn turn(&mut self, next: Order) {
        *self = Order { keyframe: self.keyframe, ..next };
    }

    /// A frame was chosen to be sent.
    pub(super) fn on_frame(&mut self, frame: u64, keyframe: bool) {
        if keyframe {
            self.keyframe = Some(frame);
        }
    }

    /// Returns true if the peer, which requests this fragment, is better sent a keyframe.
    pub(super) fn is_over(&self, now: Time, fragment: &Fragment, round_trip: Span) -> bool {
        let is_needed = self.keyframe.is_none_or(|keyframe| fragment.frame >= keyframe);
        self.fell_back && is_needed && now - fragment.captured > PATIENCE.max(round_trip * ROUND_TRIPS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fragment;

    #[test]
    fn who_needs_every_frame_is_sent_a_keyframe_where_retransmissions_do_not_come_through_and_not_twice_for_one_loss() {
        let mut order = Order { names_references: false, fell_back: true, keyframe: None };
        let (soon, late, round_trip) = (Time::from_millis(250), Time::from_millis(251), Span::from_millis(50));
        let lost = fragment(7, (0, 1));
        order.on_frame(6, false);
        assert!(!order.is_over(soon, &lost, round_trip) && order.is_over(late, &lost, round_trip));
        assert!(!order.is_over(late, &lost, Span::from_millis(100)), "it may be under way");
        order.on_frame(9, true);
        assert!(!order.is_over(late, &lost, round_trip), "the keyframe is under way");
        assert!(order.is_over(late, &fragment(9, (0, 1)), round_trip), "of which a packet was lost");
        order.turn(Order { names_references: true, fell_back: false, keyframe: None });
        assert!(!order.is_over(late, &fragment(9, (0, 1)), round_trip), "frames say what they refer to");
    }
}
