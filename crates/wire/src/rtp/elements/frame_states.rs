//! The decoder states before and after a frame.

use super::wrong_length;
use crate::ParseError;

/// In the first packet of each frame of functional video: the decoder state from which the frame is coded, and the
/// decoder's state after decoding it. A decoder that is in another state, and has not kept this one, cannot show the
/// frame; if its state after the frame differs from the target, sender and receiver disagree.
///
/// States are identified by 64-bit hashes ([why](crate::rtp#functional-video)). A keyframe is coded from the state of a
/// decoder that has decoded nothing, which has a hash too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameStates {
    /// The state the frame is coded from.
    pub source: u64,
    /// The state after it.
    pub target: u64,
}

impl FrameStates {
    /// Size of the element in bytes: the max of the one-byte form of RFC 8285.
    pub const SIZE: usize = 16;

    /// Parses the 16 bytes.
    ///
    /// # Errors
    /// Any other length.
    pub fn parse(data: &[u8]) -> Result<FrameStates, ParseError> {
        let Some((source, target)) =
            data.split_first_chunk().and_then(|(source, rest)| Some((source, rest.try_into().ok()?)))
        else {
            return Err(wrong_length("length of frame states", data, 16, 16));
        };
        Ok(FrameStates { source: u64::from_be_bytes(*source), target: u64::from_be_bytes(target) })
    }

    /// Serialises the element.
    pub fn to_bytes(self) -> [u8; FrameStates::SIZE] {
        (u128::from(self.source) << 64 | u128::from(self.target)).to_be_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_source_stands_before_the_target() {
        let states = FrameStates { source: 0x0102_0304_0506_0708, target: 0x1112_1314_1516_1718 };
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18];
        assert_eq!((states.to_bytes(), FrameStates::parse(&bytes)), (bytes, Ok(states)));
    }

    #[test]
    fn any_other_length_is_refused_with_the_right_one() {
        for length in (0..=255).filter(|length| *length != 16) {
            let error = FrameStates::parse(&[0; 255][..length]).unwrap_err();
            let found = length as u64;
            assert_eq!(
                error,
                ParseError::OutOfRange { what: "length of frame states", at: 0, found, min: 16, max: 16 }
            );
        }
    }

    proptest! {
        #[test]
        fn every_16_bytes_are_two_states(bytes: [u8; 16]) {
            prop_assert_eq!(FrameStates::parse(&bytes).unwrap().to_bytes(), bytes);
        }
    }
}
