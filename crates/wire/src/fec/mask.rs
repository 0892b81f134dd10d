//! The set of packets that an FEC packet protects.

use crate::WriteError;

/// A non-empty set of packets: a sequence number, and a bit mask of the numbers from there on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mask {
    pub(crate) first: u16,
    /// Bit j, counted from the lowest, stands for packet `first + j`.
    pub(crate) places: u128,
}

impl Mask {
    /// Packet `first + j` (wrapping) for each bit j of `places`; `longest` is the max number of places.
    pub(crate) fn within(longest: u16, first: u16, places: u128) -> Result<Mask, WriteError> {
        let mask = Mask { first, places };
        WriteError::check("length of a mask of protected packets", mask.length().into(), 1, longest.into())?;
        Ok(mask)
    }

    /// The sequence number of place 0, which need not be in the set.
    pub fn first(&self) -> u16 {
        self.first
    }

    /// The places, bit j for packet `first + j`.
    pub fn places(&self) -> u128 {
        self.places
    }

    /// Number of packets in the set.
    pub fn count(&self) -> u32 {
        self.places.count_ones()
    }

    /// Number of places up to the last packet.
    pub(crate) fn length(&self) -> u32 {
        u128::BITS - self.places.leading_zeros()
    }

    /// Returns true if `sequence` is in the set.
    pub fn contains(&self, sequence: u16) -> bool {
        let place = u32::from(sequence.wrapping_sub(self.first));
        self.places.checked_shr(place).is_some_and(|rest| rest & 1 == 1)
    }

    /// The sequence numbers in the set, in order.
    pub fn sequences(&self) -> impl Iterator<Item = u16> + use<> {
        let Mask { first, places } = *self;
        (0..128u16).filter(move |place| places >> place & 1 == 1).map(move |place| first.wrapping_add(place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn numbers_go_on_after_the_last() {
        let mask = Mask::within(109, 65_535, 0b1011).unwrap();
        assert_eq!(mask.sequences().collect::<Vec<_>>(), [65_535, 0, 2]);
        assert!(mask.contains(0) && !mask.contains(1) && mask.contains(2) && !mask.contains(65_534));
    }

    #[test]
    fn no_packet_and_one_too_far_are_refused() {
        assert!(Mask::within(48, 0, 0).is_err());
        assert!(Mask::within(48, 0, 1 << 48).is_err());
        assert_eq!(Mask::within(48, 0, 1 << 47).unwrap().length(), 48);
    }
}
