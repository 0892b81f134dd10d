//! Tracks what the receiver lacks, for an encoder whose references change as soon as it encodes.

use thalweg_types::{Basis, Buffers, LongTerm};

use crate::seam::EncodeError;
use crate::vp8::{ALTREF, GOLDEN};

/// A subset of the decoder's three reference buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct BufferSet(u8);

impl BufferSet {
    const LAST: BufferSet = BufferSet(1);
    const ALL: BufferSet = BufferSet(7);

    fn of(last: bool, long_term: Option<LongTerm>) -> BufferSet {
        let last = if last { BufferSet::LAST.0 } else { 0 };
        BufferSet(match long_term {
            Some(GOLDEN) => last | 2,
            Some(ALTREF) => last | 4,
            // Others are refused before.
            _ => last,
        })
    }

    /// The buffers a frame on this basis may refer to.
    fn read(basis: Basis) -> BufferSet {
        match basis {
            Basis::Buffers(Buffers { last, long_term, .. }) => BufferSet::of(last, long_term.map(|(buffer, _)| buffer)),
            Basis::Latest | Basis::After(_) => BufferSet::ALL,
        }
    }

    /// The buffers that store the frame.
    fn written(basis: Basis) -> BufferSet {
        match basis {
            Basis::Buffers(Buffers { becomes_last, kept_in, .. }) => BufferSet::of(becomes_last, kept_in),
            Basis::Latest | Basis::After(_) => BufferSet::ALL,
        }
    }

    fn meets(self, other: BufferSet) -> bool {
        self.0 & other.0 != 0
    }
}

/// State between offer and commit of an encoder with a single, irrevocable candidate.
#[derive(Debug, Default)]
pub(crate) struct SingleOffer {
    /// A candidate awaiting its commit; it is already in the encoder's buffers.
    pending: Option<Pending>,
    /// Buffers whose content in the encoder differs from the receiver's.
    unsent: BufferSet,
    /// A keyframe was dropped and is still required.
    owed: bool,
}

#[derive(Debug, Clone, Copy)]
struct Pending {
    written: BufferSet,
    /// True if a receiver of all sent frames can decode it.
    sendable: bool,
}

impl SingleOffer {
    /// Returns true if the next frame, on this basis, must be a keyframe regardless of the plan. A frame that is not to
    /// be sent need not be one.
    pub(crate) fn owes_keyframe(&self, basis: Basis) -> bool {
        let lost = match basis {
            Basis::Buffers(Buffers { last, sendable, .. }) => last && sendable && self.unsent.meets(BufferSet::LAST),
            Basis::Latest | Basis::After(_) => self.unsent.meets(BufferSet::ALL),
        };
        self.owed || lost
    }

    /// Records that a picture was encoded on this basis, or as a keyframe; `made` is false when the encoder's own rate
    /// control dropped it.
    pub(crate) fn on_encoded(&mut self, basis: Basis, keyframe: bool, made: bool) {
        if !made {
            // A dropped keyframe is still required.
            self.owed |= keyframe;
            self.pending = None;
            return;
        }
        let planned = !matches!(basis, Basis::Buffers(Buffers { sendable: false, .. }));
        let sendable = keyframe || planned && !self.unsent.meets(BufferSet::read(basis));
        let written = if keyframe { BufferSet::ALL } else { BufferSet::written(basis) };
        self.owed = false;
        self.pending = Some(Pending { written, sendable });
        if sendable {
            self.unsent.0 &= !written.0;
        } else {
            self.unsent.0 |= written.0;
        }
    }

    /// Records the engine's choice.
    pub(crate) fn commit(&mut self, choice: Option<usize>) -> Result<(), EncodeError> {
        let candidates = usize::from(self.pending.is_some());
        match (choice, self.pending) {
            (Some(choice), _) if choice >= candidates => return Err(EncodeError::Choice { choice, candidates }),
            (Some(choice), Some(Pending { sendable: false, .. })) => return Err(EncodeError::Unsendable { choice }),
            (None, Some(Pending { written, .. })) => self.unsent.0 |= written.0,
            _ => {}
        }
        self.pending = None;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_not_sent_costs_a_keyframe() {
        let mut offer = SingleOffer::default();
        offer.on_encoded(Basis::Latest, false, true);
        offer.commit(None).unwrap();
        assert!(offer.owes_keyframe(Basis::Latest));
        offer.on_encoded(Basis::Latest, true, true);
        offer.commit(Some(0)).unwrap();
        assert!(!offer.owes_keyframe(Basis::Latest));
    }

    #[test]
    fn a_keyframe_that_was_dropped_is_still_owed_and_a_dropped_frame_owes_none() {
        let mut offer = SingleOffer::default();
        offer.on_encoded(Basis::Latest, false, false);
        offer.commit(None).unwrap();
        assert!(!offer.owes_keyframe(Basis::Latest));
        offer.on_encoded(Basis::Latest, true, false);
        offer.commit(None).unwrap();
        assert!(offer.owes_keyframe(Basis::Latest));
    }

    #[test]
    fn what_was_not_offered_cannot_be_chosen() {
        let mut offer = SingleOffer::default();
        assert!(offer.commit(Some(0)).is_err());
        offer.on_encoded(Basis::Latest, false, true);
        assert!(offer.commit(Some(1)).is_err());
    }

    const BASE: Buffers = Buffers { last: true, long_term: None, kept_in: None, becomes_last: true, sendable: true };

    #[test]
    fn a_frame_that_no_buffer_keeps_costs_nothing_and_one_in_golden_only_what_refers_to_it() {
        let (base, above) = (Basis::Buffers(BASE), Buffers { becomes_last: false, ..BASE });
        let in_golden = Basis::Buffers(Buffers { kept_in: Some(GOLDEN), ..above });
        let from_golden = Buffers { last: false, long_term: Some((GOLDEN, 2)), ..above };
        let mut offer = SingleOffer::default();
        let mut sent = |basis, keyframe, choice| {
            offer.on_encoded(basis, keyframe, true);
            offer.commit(choice)
        };
        sent(Basis::Latest, true, Some(0)).unwrap();
        sent(Basis::Buffers(above), false, None).unwrap();
        sent(in_golden, false, None).unwrap();
        for sendable in [true, false] {
            let from_golden = Basis::Buffers(Buffers { sendable, ..from_golden });
            assert!(matches!(sent(from_golden, false, Some(0)), Err(EncodeError::Unsendable { choice: 0 })));
            sent(from_golden, false, None).unwrap();
        }
        sent(base, false, Some(0)).unwrap();
        sent(in_golden, false, Some(0)).unwrap();
        sent(Basis::Buffers(from_golden), false, Some(0)).unwrap();
        assert!(!offer.owes_keyframe(base));
        offer.on_encoded(base, false, true);
        offer.commit(None).unwrap();
        assert!(offer.owes_keyframe(base) && offer.owes_keyframe(Basis::Latest));
        let for_its_size = Basis::Buffers(Buffers { sendable: false, ..above });
        assert!(!offer.owes_keyframe(for_its_size), "what is not sent needs none");
    }
}
