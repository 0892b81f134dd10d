//! Already encoded frames, sent unchanged.

use thalweg_sender::frames::EncodePlan;
use thalweg_session::Encoded;

/// Which frames can be sent to one viewer: after a skipped frame none until the next keyframe, since no keyframe can be
/// made on request.
#[derive(Debug, Default)]
pub(super) struct Passthrough {
    /// The number of the frame that can follow the last one sent.
    next: Option<u64>,
    /// The frame that the engine decides about.
    offered: u64,
}

impl Passthrough {
    /// Frame `number`, if the viewer can decode it and the plan allows it.
    pub(super) fn offer(&mut self, number: u64, frame: &Encoded, plan: &EncodePlan) -> Vec<Encoded> {
        self.offered = number;
        let follows = self.next == Some(number) && !plan.keyframe;
        if follows || frame.frame.keyframe {
            vec![frame.clone()]
        } else {
            self.next = None;
            Vec::new()
        }
    }

    /// Whether the frame just offered is sent.
    pub(super) fn commit(&mut self, sent: bool) {
        self.next = sent.then_some(self.offered + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_sender::frames::{EncodedFrame, Target};
    use thalweg_units::{Bytes, Rate, Size, Span};

    fn frame(keyframe: bool) -> Encoded {
        let size = Bytes::new(3);
        let frame = EncodedFrame { size, keyframe, layer: 0, quantizer: None, picture: Size::HD, transition: None };
        Encoded { frame, data: [1, 2, 3].as_slice().into() }
    }

    fn plan(keyframe: bool) -> EncodePlan {
        let targets = vec![Target::Rate(Rate::from_kbps(500))];
        EncodePlan { keyframe, ..EncodePlan::new(targets, Size::HD, Span::from_millis(33)) }
    }

    #[test]
    fn after_a_frame_that_was_left_out_nothing_goes_until_a_keyframe() {
        let mut pass = Passthrough::default();
        let mut send = |number, keyframe, wanted: bool, sent: bool| {
            let offered = !pass.offer(number, &frame(keyframe), &plan(wanted)).is_empty();
            if offered {
                pass.commit(sent);
            }
            offered
        };
        assert!(!send(0, false, true, true), "a stream begins with a keyframe");
        assert!(send(1, true, true, true));
        assert!(send(2, false, false, true));
        assert!(send(3, false, false, false), "the engine leaves it out");
        assert!(!send(4, false, false, true));
        assert!(send(5, true, false, true));
        assert!(!send(7, false, false, true), "6 was never asked for");
        assert!(send(8, true, false, true));
        assert!(!send(9, false, true, true), "a keyframe is wanted and cannot be made");
        assert!(!send(10, false, false, true));
    }
}
