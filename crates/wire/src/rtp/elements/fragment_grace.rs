//! The grace period of a packet, and the frame fragment it carries.

use thalweg_units::Span;

use super::wrong_length;
use crate::reader::Reader;
use crate::{ParseError, WriteError, micros};

/// In every packet of a sender that needs interarrival times: the time between sending the previous packet and this
/// one, and the fragment of a frame it carries, if any.
///
/// The receiver subtracts the grace period from the packets' interarrival time, so that a sender's pause does not look
/// like a slow path. In the paper every packet carries the gap before it; the authors' code sends it for the first
/// packet of a frame only and zero for the others, although its pacer spreads them.
///
/// Most significant byte first: grace period u24, which is all that padding and retransmissions need; frame number u32,
/// fragment number u16, number of fragments u16 ([the authors' form](crate::rtp#functional-video)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FragmentGrace {
    /// Time from sending the previous packet, of any kind, to sending this one; zero for the first. Not negative;
    /// written in whole microseconds, rounded down. From 16.777215 s on the max of 24 bits is written, which is read as
    /// [`Span::MAX`]: the interarrival time less the grace period is then negative and not counted, however long the
    /// pause was.
    pub grace: Span,
    /// The part of a frame in the payload; `None` for padding, and for a retransmission whose original carries it.
    pub fragment: Option<FrameFragment>,
}

/// Part of a frame: the payload of one packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameFragment {
    /// The low 32 bits of the frame's number ([`FrameUnwrapper`](crate::unwrap::FrameUnwrapper) extends them). Frames
    /// that are not sent have no number, so that a missing number is a missing frame.
    pub frame: u32,
    /// Index of the part, from 0 to below `fragments`.
    pub fragment: u16,
    /// Number of parts of the frame, 1 to 65535.
    pub fragments: u16,
}

impl FragmentGrace {
    /// Size in bytes of the element without a fragment.
    pub const SMALLEST: usize = 3;
    /// Size in bytes of the element with a fragment.
    pub const LARGEST: usize = 11;
    /// The max of 24 bits, which stands for anything longer.
    const ENDLESS: u32 = 0xff_ffff;

    /// Parses the 3- or 11-byte form; the longer one has a fragment.
    ///
    /// # Errors
    /// Any other length, a frame without fragments, a fragment index beyond the frame's fragments.
    pub fn parse(data: &[u8]) -> Result<FragmentGrace, ParseError> {
        let (smallest, largest) = (FragmentGrace::SMALLEST as u64, FragmentGrace::LARGEST as u64);
        let fragment = match data.len() {
            FragmentGrace::SMALLEST => None,
            FragmentGrace::LARGEST => Some(FrameFragment::parse(Reader::placed(&data[3..], 3))?),
            // Data longer than a grace period has a fragment, for which only one length is valid.
            4.. => return Err(wrong_length("length of a grace period and fragment", data, largest, largest)),
            _ => return Err(wrong_length("length of a grace period", data, smallest, smallest)),
        };
        let grace = match Reader::new(data).u24("grace period")? {
            FragmentGrace::ENDLESS => Span::MAX,
            micros => Span::from_micros(micros.into()),
        };
        Ok(FragmentGrace { grace, fragment })
    }

    /// Serialises the element; only the first [`Self::size`] bytes are used.
    ///
    /// # Errors
    /// A negative grace period, a frame without fragments, a fragment index beyond the frame's fragments.
    pub fn to_bytes(self) -> Result<[u8; FragmentGrace::LARGEST], WriteError> {
        let what = "microseconds by which a grace period is below zero";
        let grace = micros::whole(what, self.grace, FragmentGrace::ENDLESS)?;
        let mut bytes = [0; FragmentGrace::LARGEST];
        bytes[..3].copy_from_slice(&grace.to_be_bytes()[1..]);
        if let Some(fragment) = self.fragment {
            bytes[3..].copy_from_slice(&fragment.to_bytes()?);
        }
        Ok(bytes)
    }

    /// 11 with a fragment, 3 without.
    pub fn size(self) -> usize {
        if self.fragment.is_some() { FragmentGrace::LARGEST } else { FragmentGrace::SMALLEST }
    }
}

impl FrameFragment {
    fn parse(mut reader: Reader<'_>) -> Result<FrameFragment, ParseError> {
        let frame = reader.u32("frame number")?;
        let at = reader.at();
        let fragment = reader.u16("fragment number")?;
        let fragments = reader.u16("number of fragments")?;
        let refused =
            |what, at, found: u16, min, max| Err(ParseError::OutOfRange { what, at, found: found.into(), min, max });
        match fragments.checked_sub(1) {
            None => refused("number of fragments", at + 2, fragments, 1, u16::MAX.into()),
            Some(last) if fragment > last => refused("fragment number", at, fragment, 0, last.into()),
            Some(_) => Ok(FrameFragment { frame, fragment, fragments }),
        }
    }

    fn to_bytes(self) -> Result<[u8; 8], WriteError> {
        WriteError::check("number of fragments", self.fragments.into(), 1, u16::MAX.into())?;
        WriteError::check("fragment number", self.fragment.into(), 0, u64::from(self.fragments) - 1)?;
        let number = u64::from(self.frame) << 32 | u64::from(self.fragment) << 16 | u64::from(self.fragments);
        Ok(number.to_be_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overhead;
    use crate::rtp::{Extension, ExtensionBuffer, FrameStates};
    use alloc::string::ToString;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    const FRAGMENT: FrameFragment = FrameFragment { frame: 0x0102_0304, fragment: 5, fragments: 0x0607 };

    fn of(grace: Span) -> FragmentGrace {
        FragmentGrace { grace, fragment: None }
    }

    #[test]
    fn the_length_tells_a_fragment_from_padding() {
        let padding = of(Span::from_millis(33));
        let media = FragmentGrace { fragment: Some(FRAGMENT), ..padding };
        // 33000 is 0x80e8.
        let bytes = [0, 0x80, 0xe8, 1, 2, 3, 4, 0, 5, 6, 7];
        assert_eq!((media.to_bytes(), media.size()), (Ok(bytes), 11));
        assert_eq!((padding.to_bytes().map(|bytes| bytes[..3] == [0, 0x80, 0xe8]), padding.size()), (Ok(true), 3));
        assert_eq!(FragmentGrace::parse(&bytes), Ok(media));
        assert_eq!(FragmentGrace::parse(&bytes[..3]), Ok(padding));
    }

    #[test]
    fn any_other_length_is_refused_with_the_right_one() {
        for length in (0..=255).filter(|length| ![3, 11].contains(length)) {
            let error = FragmentGrace::parse(&[1; 255][..length]).unwrap_err().to_string();
            let allowed = if length < 3 { "3 to 3" } else { "11 to 11" };
            assert!(error.contains(&alloc::format!("is {length}, allowed is {allowed}")), "{error}");
        }
    }

    #[test]
    fn a_grace_period_past_24_bits_takes_all_of_a_pause_of_any_length_off() {
        let read = |grace: Span| FragmentGrace::parse(&of(grace).to_bytes().unwrap()[..3]).unwrap().grace;
        assert_eq!(read(Span::from_nanos(16_777_214_999)), Span::from_micros(16_777_214));
        for millis in [16_778, 60_000, 86_400_000] {
            let pause = Span::from_millis(millis);
            assert_eq!(read(pause), Span::MAX);
            assert!(pause + Span::from_millis(100) - read(pause) < Span::ZERO);
        }
        assert_eq!(read(Span::from_nanos(16_777_215_000)), Span::MAX);
        assert_eq!(read(Span::MAX), Span::MAX);
    }

    #[test]
    fn a_grace_period_below_zero_is_refused() {
        let error = of(Span::from_millis(-2)).to_bytes().unwrap_err().to_string();
        assert!(
            error.starts_with("microseconds by which a grace period is below zero is 2000, the wire has room"),
            "{error}"
        );
    }

    #[test]
    fn a_fragment_that_its_frame_has_not_is_refused_both_ways() {
        for (fragment, fragments, what, at, min, max) in [
            (0, 0, "number of fragments", 9, 1, 65_535),
            (7, 0, "number of fragments", 9, 1, 65_535),
            (1, 1, "fragment number", 7, 0, 0),
            (65_535, 65_535, "fragment number", 7, 0, 65_534),
        ] {
            let part = FrameFragment { frame: 1, fragment, fragments };
            let found = u64::from(if fragments == 0 { fragments } else { fragment });
            let written = FragmentGrace { grace: Span::ZERO, fragment: Some(part) }.to_bytes();
            assert_eq!(written, Err(WriteError { what, found, min, max }));
            let ([a, b], [c, d]) = (fragment.to_be_bytes(), fragments.to_be_bytes());
            let read = FragmentGrace::parse(&[0, 0, 0, 0, 0, 0, 1, a, b, c, d]);
            assert_eq!(read, Err(ParseError::OutOfRange { what, at, found, min, max }));
        }
    }

    #[test]
    fn beside_the_transport_sequence_number_it_all_fits_the_one_byte_form() {
        let grace = FragmentGrace { grace: Span::ZERO, fragment: Some(FRAGMENT) };
        let (grace, states) = (grace.to_bytes().unwrap(), FrameStates { source: 1, target: 2 }.to_bytes());
        let elements = [&[0; 4][..], &grace, &states].map(|data| Extension { id: 14, data });
        for (count, bytes) in [(2, 24), (3, 40)] {
            let buffer = ExtensionBuffer::of(&elements[..count]).unwrap();
            assert_eq!((buffer.as_extensions().profile(), buffer.as_extensions().size()), (0xbede, bytes));
            let lengths: Vec<usize> = elements[..count].iter().map(|element| element.data.len()).collect();
            assert_eq!(overhead::extension_block(&lengths).get(), bytes as u64);
        }
    }

    proptest! {
        #[test]
        fn what_can_be_read_is_written_as_the_same_bytes(bytes: [u8; 11]) {
            let value = FragmentGrace::parse(&bytes[..3]).unwrap();
            prop_assert_eq!(&value.to_bytes().unwrap()[..value.size()], &bytes[..3]);
            let has_such_a_fragment = bytes[7..9] < bytes[9..];
            let read = FragmentGrace::parse(&bytes);
            prop_assert_eq!(read.is_ok(), has_such_a_fragment);
            prop_assert!(read.is_err() || read.unwrap().to_bytes() == Ok(bytes));
        }

        #[test]
        fn what_is_written_is_read_again_to_the_microsecond(
            nanos in 0i64..16_777_215_000, frame: u32, fragments in 1u16..=u16::MAX, part: u16, has_fragment: bool,
        ) {
            let fragment = has_fragment.then_some(FrameFragment { frame, fragment: part % fragments, fragments });
            let written = FragmentGrace { grace: Span::from_nanos(nanos), fragment };
            let read = FragmentGrace::parse(&written.to_bytes().unwrap()[..written.size()]).unwrap();
            prop_assert_eq!(read.fragment, fragment);
            prop_assert_eq!(read.grace, Span::from_micros(nanos / 1_000));
        }
    }
}
