//! What an encoder whose references move as it encodes owes the receiver.

use crate::seam::EncodeError;

/// Between offering and committing, an encoder that makes one candidate and cannot go back remembers two things.
#[derive(Debug, Default)]
pub(crate) struct SingleOffer {
    /// A candidate waits for its commit; its references are in the encoder already.
    pending: bool,
    /// The encoder's references are not the receiver's: the next frame must be a keyframe.
    diverged: bool,
}

impl SingleOffer {
    /// Whether the next frame must be a keyframe, whatever the plan says.
    pub(crate) fn owes_keyframe(&self) -> bool {
        self.diverged
    }

    /// A picture was encoded, as a keyframe or not; `made` is false when the encoder's own rate control dropped it.
    pub(crate) fn on_encoded(&mut self, keyframe: bool, made: bool) {
        self.pending = made;
        // A keyframe that was dropped is still owed.
        self.diverged = !made && (keyframe || self.diverged);
    }

    /// The engine chose.
    pub(crate) fn commit(&mut self, choice: Option<usize>) -> Result<(), EncodeError> {
        let candidates = usize::from(self.pending);
        match choice {
            Some(choice) if choice >= candidates => return Err(EncodeError::Choice { choice, candidates }),
            None if self.pending => self.diverged = true,
            _ => {}
        }
        self.pending = false;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_not_sent_costs_a_keyframe() {
        let mut offer = SingleOffer::default();
        offer.on_encoded(false, true);
        offer.commit(None).unwrap();
        assert!(offer.owes_keyframe());
        offer.on_encoded(true, true);
        offer.commit(Some(0)).unwrap();
        assert!(!offer.owes_keyframe());
    }

    #[test]
    fn a_keyframe_that_was_dropped_is_still_owed_and_a_dropped_frame_owes_none() {
        let mut offer = SingleOffer::default();
        offer.on_encoded(false, false);
        offer.commit(None).unwrap();
        assert!(!offer.owes_keyframe());
        offer.on_encoded(true, false);
        offer.commit(None).unwrap();
        assert!(offer.owes_keyframe());
    }

    #[test]
    fn what_was_not_offered_cannot_be_chosen() {
        let mut offer = SingleOffer::default();
        assert!(offer.commit(Some(0)).is_err());
        offer.on_encoded(false, true);
        assert!(offer.commit(Some(1)).is_err());
    }
}
