//! The set of media packets that an FEC packet protects.

/// A set of media packets as in FlexFEC: the first one's sequence number and a mask. Never empty, and no packet is
/// [`Protected::LONGEST`] or more after the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Protected {
    first: u64,
    /// Bit j stands for packet first + j, least significant first; headers have the reverse order.
    mask: u128,
}

impl Protected {
    /// Max distance of two packets under one FEC packet: FlexFEC's longest mask (specs/fec.md 2).
    pub const LONGEST: u64 = 109;

    /// Packet `first + j` for each bit j of `mask`. `None` if the mask is empty or longer than a header's, or a number
    /// would overflow.
    pub fn new(first: u64, mask: u128) -> Option<Protected> {
        let lowest = u64::from(mask.trailing_zeros());
        let highest = 127u64.checked_sub(u64::from(mask.leading_zeros()))?;
        if highest - lowest >= Protected::LONGEST || first.checked_add(highest).is_none() {
            return None;
        }
        Some(Protected { first: first + lowest, mask: mask >> lowest })
    }

    /// These packets, in ascending order. `None` if there are none, or they are too far apart.
    pub fn of(sequences: impl IntoIterator<Item = u64>) -> Option<Protected> {
        let mut sequences = sequences.into_iter();
        let first = sequences.next()?;
        let mut mask = 1;
        for sequence in sequences {
            let place = sequence.checked_sub(first).filter(|place| *place < Protected::LONGEST)?;
            mask |= 1 << place;
        }
        Protected::new(first, mask)
    }

    /// The first of them.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The last of them.
    pub fn last(&self) -> u64 {
        self.first + (127 - u64::from(self.mask.leading_zeros()))
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.mask.count_ones()
    }

    /// Returns true if it protects packet `sequence`.
    pub fn contains(&self, sequence: u64) -> bool {
        sequence.checked_sub(self.first).is_some_and(|place| place < Protected::LONGEST && self.mask >> place & 1 == 1)
    }

    /// The set without `sequence`; `None` if that is empty.
    pub fn without(&self, sequence: u64) -> Option<Protected> {
        if !self.contains(sequence) {
            return Some(*self);
        }
        Protected::new(self.first, self.mask & !(1 << (sequence - self.first)))
    }

    /// The sequence numbers in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + use<> {
        let Protected { first, mask } = *self;
        (0..Protected::LONGEST).filter(move |place| mask >> place & 1 == 1).map(move |place| first + place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    #[test]
    fn what_no_header_can_say_is_no_set() {
        assert_eq!(Protected::new(5, 0), None);
        assert_eq!(Protected::new(5, 1 << 109 | 1), None);
        assert_eq!(Protected::new(u64::MAX, 0b11), None);
        assert_eq!(Protected::of([]), None);
        assert_eq!(Protected::of([7, 6]), None);
        assert_eq!(Protected::new(u64::MAX, 1).unwrap().last(), u64::MAX);
        assert_eq!(Protected::new(0, 1 << 127).unwrap().first(), 127);
    }

    proptest! {
        #[test]
        fn a_set_holds_what_it_was_made_of_and_loses_what_is_taken_out(
            first in any::<u32>(),
            places in prop::collection::btree_set(0..Protected::LONGEST, 1..40),
            taken in 0..Protected::LONGEST,
        ) {
            let sequences: Vec<u64> = places.iter().map(|place| u64::from(first) + place).collect();
            // The first number may be any.
            prop_assume!(places.last().unwrap() - places.first().unwrap() < Protected::LONGEST);
            let set = Protected::of(sequences.iter().copied()).unwrap();
            prop_assert_eq!(set.iter().collect::<Vec<_>>(), sequences.clone());
            prop_assert_eq!((set.first(), set.last()), (sequences[0], *sequences.last().unwrap()));
            prop_assert_eq!(set.count() as usize, sequences.len());
            let taken = u64::from(first) + taken;
            let left: Vec<u64> = sequences.iter().copied().filter(|sequence| *sequence != taken).collect();
            prop_assert_eq!(set.without(taken), Protected::of(left));
            prop_assert_eq!(set.contains(taken), sequences.contains(&taken));
        }
    }
}
