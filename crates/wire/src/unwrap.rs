//! Extends wrapping counters from the wire to 64 bits.

/// Unwraps a counter of `BITS` bits.
///
/// Each value is placed within half a cycle of the last one, forwards when exactly opposite. The first value has one
/// cycle added, so that reordering around the start never goes below zero.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unwrapper<const BITS: u32> {
    last: Option<u64>,
}

/// For RTP and transport-wide sequence numbers (RFC 3550, RFC 4588, transport-wide-cc).
pub type SequenceUnwrapper = Unwrapper<16>;
/// For the reference time of transport-wide feedback, in units of 64 ms: wraps after 12.4 days.
pub type ReferenceTimeUnwrapper = Unwrapper<24>;
/// For RTP timestamps; at 90 kHz they wrap after 13.3 hours.
pub type TimestampUnwrapper = Unwrapper<32>;
/// For the bytes sent before a packet ([`BytesBefore`](crate::rtp::BytesBefore)), by [`Unwrapper::after`] 0; they wrap
/// after 4 GiB.
pub type BytesUnwrapper = Unwrapper<32>;
/// For the frame numbers of functional video ([`FrameFragment`](crate::rtp::FrameFragment),
/// [`DecoderState`](crate::rtcp::DecoderState)); at 60 fps they wrap after 2.3 years. When a sender unwraps a reported
/// number relative to its last one ([`Unwrapper::after`] and [`Unwrapper::peek`]), the result may be a number it has
/// not sent yet: reports are untrusted.
pub type FrameUnwrapper = Unwrapper<32>;

impl<const BITS: u32> Unwrapper<BITS> {
    const TURN: u64 = 1 << BITS;

    /// A counter without a previous value.
    pub const fn new() -> Unwrapper<BITS> {
        Unwrapper { last: None }
    }

    /// A counter whose last value was `last`: for a sender that reads back the 64-bit numbers it assigned.
    pub const fn after(last: u64) -> Unwrapper<BITS> {
        Unwrapper { last: Some(last) }
    }

    /// The unwrapped value of `value` (its low `BITS` bits are used), which becomes the reference for the next one.
    pub fn unwrap(&mut self, value: u32) -> u64 {
        let unwrapped = self.peek(value);
        self.last = Some(unwrapped);
        unwrapped
    }

    /// The unwrapped value of `value`, without changing the state.
    pub fn peek(&self, value: u32) -> u64 {
        let value = u64::from(value) & (Self::TURN - 1);
        let Some(last) = self.last else { return Self::TURN + value };
        let ahead = value.wrapping_sub(last) & (Self::TURN - 1);
        if ahead <= Self::TURN / 2 {
            last.saturating_add(ahead)
        } else {
            // A value that would be below zero belongs to the next cycle.
            last.checked_sub(Self::TURN - ahead).unwrap_or(last + ahead)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_sequence_goes_on_after_65535() {
        let mut unwrapper = SequenceUnwrapper::new();
        let start = unwrapper.unwrap(65_534);
        assert_eq!(unwrapper.unwrap(65_535), start + 1);
        assert_eq!(unwrapper.unwrap(1), start + 3);
        assert_eq!(unwrapper.unwrap(0), start + 2);
        assert_eq!(unwrapper.unwrap(65_533), start - 1);
    }

    #[test]
    fn a_sender_reads_its_own_numbers_back() {
        assert_eq!(SequenceUnwrapper::after(200_000).peek((199_990u64 & 0xffff) as u32), 199_990);
        assert_eq!(SequenceUnwrapper::after(3).peek(65_535), 65_535);
    }

    #[test]
    fn frames_go_on_after_32_bits_and_a_frame_to_come_is_told_from_one_sent() {
        let mut unwrapper = FrameUnwrapper::after(u32::MAX.into());
        assert_eq!(unwrapper.peek(0), 1 << 32);
        assert_eq!((unwrapper.unwrap(3), unwrapper.unwrap(u32::MAX - 1)), ((1 << 32) + 3, u64::from(u32::MAX) - 1));
        assert_eq!((FrameUnwrapper::after(9).peek(9), FrameUnwrapper::after(9).peek(10)), (9, 10));
        assert_eq!(FrameUnwrapper::after(9).peek(u32::MAX), u64::from(u32::MAX));
    }

    proptest! {
        #[test]
        fn steps_of_less_than_half_a_turn_are_followed(
            start in 1u64 << 24..1 << 40, steps in prop::collection::vec(-8_000_000i64..8_000_000, 1..50),
        ) {
            let mut unwrapper = ReferenceTimeUnwrapper::after(start);
            let mut truth = start;
            for step in steps {
                truth = truth.saturating_add_signed(step).max(1 << 24);
                prop_assert_eq!(unwrapper.unwrap((truth & 0xff_ffff) as u32), truth);
            }
        }

        #[test]
        fn no_value_panics(last: u64, value: u32) {
            TimestampUnwrapper::after(last & (u64::MAX >> 1)).unwrap(value);
        }
    }
}
