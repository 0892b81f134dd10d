//! Packetisation of frames, and reassembly.

use alloc::vec::Vec;
use core::fmt;

use thalweg_units::Bytes;

use super::Descriptor;
use crate::split::about_equal;
use crate::{ParseError, WriteError};

/// The part of a frame in one packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fragment<'a> {
    /// The descriptor to write before the data.
    pub descriptor: Descriptor,
    /// Part of the frame, at least one byte.
    pub data: &'a [u8],
    /// True for the frame's last part: the packet's marker bit, if no higher spatial layer of the picture follows.
    pub last: bool,
}

/// Splits `frame` into the fewest pieces whose descriptor and data together take at most `limit`, of about equal size,
/// the larger ones last. `descriptor` provides all fields except B and E; only the first piece has its structure. An
/// empty frame gives no pieces.
///
/// # Errors
/// A `limit` too small for the descriptor with its structure and one byte.
pub fn fragments(frame: &[u8], descriptor: Descriptor, limit: Bytes) -> Result<Vec<Fragment<'_>>, WriteError> {
    let first = descriptor.size();
    let others = Descriptor { structure: None, ..descriptor.clone() };
    let extra = first - others.size();
    WriteError::check("limit of a VP9 payload in bytes", limit.get(), first as u64 + 1, u64::MAX)?;
    let room = usize::try_from(limit.get()).unwrap_or(usize::MAX) - others.size();
    // The structure counts as data, so that the packets are about equal; the first has at least one byte of data.
    let Some(share) = about_equal(frame.len() + extra, room).next().filter(|_| !frame.is_empty()) else {
        return Ok(Vec::new());
    };
    let head = share.end.saturating_sub(extra).clamp(1, frame.len());
    let rest = about_equal(frame.len() - head, room).map(|piece| head + piece.start..head + piece.end);
    Ok(core::iter::once(0..head)
        .chain(rest)
        .map(|piece| {
            let (frame_start, last) = (piece.start == 0, piece.end == frame.len());
            let shared = if frame_start { descriptor.clone() } else { others.clone() };
            Fragment { descriptor: Descriptor { frame_start, frame_end: last, ..shared }, data: &frame[piece], last }
        })
        .collect())
}

/// Why payloads do not form a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssemblyError {
    /// A descriptor is malformed.
    Descriptor(ParseError),
    /// The payload at `index` does not start a frame, and no frame is open.
    NoStart {
        /// Its index among the payloads.
        index: usize,
    },
    /// The payload at `index` begins before the previous frame is complete.
    NoEnd {
        /// Its index among the payloads, or the number of payloads.
        index: usize,
    },
    /// The payload at `index` belongs to another picture.
    OtherPicture {
        /// Its index among the payloads.
        index: usize,
    },
}

impl fmt::Display for AssemblyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AssemblyError::Descriptor(error) => error.fmt(f),
            AssemblyError::NoStart { index } => write!(f, "no VP9 frame starts in payload {index}: drop the picture"),
            AssemblyError::NoEnd { index } => {
                write!(f, "the VP9 frame before payload {index} does not end: drop the picture")
            }
            AssemblyError::OtherPicture { index } => write!(f, "VP9 payload {index} belongs to another picture"),
        }
    }
}

impl core::error::Error for AssemblyError {}

/// Reassembles a picture from the payloads of all its packets, in sequence order: one frame, or one for each spatial
/// layer, one after the other. The caller must ensure that none is missing (by sequence numbers and the marker bit).
///
/// # Errors
/// Payloads that do not form whole frames of one picture.
pub fn assemble<'a>(payloads: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<u8>, AssemblyError> {
    let mut picture = Vec::new();
    let mut id = None;
    let mut open = false;
    let mut count = 0;
    for (index, payload) in payloads.into_iter().enumerate() {
        count = index + 1;
        let (descriptor, data) = Descriptor::parse(payload).map_err(AssemblyError::Descriptor)?;
        if *id.get_or_insert(descriptor.picture_id) != descriptor.picture_id {
            return Err(AssemblyError::OtherPicture { index });
        }
        match (open, descriptor.frame_start) {
            (false, false) => return Err(AssemblyError::NoStart { index }),
            (true, true) => return Err(AssemblyError::NoEnd { index }),
            _ => open = !descriptor.frame_end,
        }
        picture.extend_from_slice(data);
    }
    match (open, id) {
        (true, _) => Err(AssemblyError::NoEnd { index: count }),
        (false, None) => Err(AssemblyError::NoStart { index: 0 }),
        (false, Some(_)) => Ok(picture),
    }
}

/// Returns true if a frame is a keyframe, from the first byte of its uncompressed header (VP9 bitstream specification
/// section 6.2): marker, profile, show_existing_frame, frame type. An empty one is not.
pub fn is_keyframe(frame: &[u8]) -> bool {
    let Some(first) = frame.first() else { return false };
    // Profile 3 has a reserved bit after it.
    let flags = if first & 0x30 == 0x30 { first << 5 } else { first << 4 };
    first >> 6 == 0b10 && flags & 0xc0 == 0
}

#[cfg(test)]
mod tests {
    use super::super::descriptor::tests::any_descriptor;
    use super::super::{PictureId, Structure};
    use super::*;
    use proptest::prelude::*;
    use thalweg_units::Size;

    #[test]
    fn a_key_frame_is_not_shown_again_and_of_type_0() {
        // Marker 10, profile bits, show_existing_frame, frame_type; profile 3 has one bit more.
        for (first, expected) in [
            (0b1000_0010, true),
            (0b1000_0110, false),
            (0b1000_1000, false),
            (0b1010_0010, true),
            (0b1011_0000, true),
            (0b1011_0010, false),
            (0b1011_0100, false),
            (0b0000_0010, false),
        ] {
            assert_eq!(is_keyframe(&[first, 0x49, 0x83, 0x42]), expected, "{first:08b}");
        }
        assert!(!is_keyframe(&[]));
    }

    #[test]
    fn only_the_first_packet_has_the_structure_and_its_share_is_less_by_it() {
        let structure = Structure { spatial_layers: 1, sizes: Some([Size::new(640, 360)].to_vec()), group: None };
        let descriptor =
            Descriptor { picture_id: Some(PictureId::Long(1)), structure: Some(structure), ..Descriptor::default() };
        let pieces = fragments(&[7; 30], descriptor.clone(), Bytes::new(16)).unwrap();
        let sizes: Vec<_> =
            pieces.iter().map(|piece| (piece.descriptor.size(), piece.data.len(), piece.last)).collect();
        assert_eq!(sizes, [(8, 6, false), (3, 12, false), (3, 12, true)]);
        assert!(fragments(&[7; 30], descriptor, Bytes::new(8)).is_err());
    }

    #[test]
    fn frames_of_layers_follow_each_other_in_a_picture() {
        // I, then B and E: two whole frames of picture 5.
        assert_eq!(assemble([&[0x8c, 5, 1][..], &[0x8c, 5, 2]]), Ok([1, 2].to_vec()));
        assert_eq!(assemble([&[0x88, 5, 1][..], &[0x84, 5, 2]]), Ok([1, 2].to_vec()));
        assert_eq!(assemble([&[0x88, 5, 1][..], &[0x8c, 5, 2]]), Err(AssemblyError::NoEnd { index: 1 }));
        assert_eq!(assemble([&[0x88, 5, 1][..]]), Err(AssemblyError::NoEnd { index: 1 }));
        assert_eq!(assemble([&[0x84, 5, 1][..]]), Err(AssemblyError::NoStart { index: 0 }));
        assert_eq!(assemble([&[0x8c, 5, 1][..], &[0x84, 5, 2]]), Err(AssemblyError::NoStart { index: 1 }));
        assert_eq!(assemble([&[0x88, 5, 1][..], &[0x84, 6, 2]]), Err(AssemblyError::OtherPicture { index: 1 }));
        assert_eq!(assemble([]), Err(AssemblyError::NoStart { index: 0 }));
    }

    proptest! {
        #[test]
        fn a_frame_survives_being_cut_and_put_together(
            frame in prop::collection::vec(any::<u8>(), 1..5000), descriptor in any_descriptor(), room in 1u64..1500,
        ) {
            let limit = descriptor.size() as u64 + room;
            let pieces = fragments(&frame, descriptor.clone(), Bytes::new(limit)).unwrap();
            let smallest = Descriptor { structure: None, ..descriptor.clone() }.size();
            let extra = descriptor.size() - smallest;
            prop_assert_eq!(pieces.len(), (frame.len() + extra).div_ceil(limit as usize - smallest));
            let mut payloads = Vec::new();
            for piece in pieces {
                let mut payload = Vec::new();
                piece.descriptor.write(&mut payload).unwrap();
                payload.extend_from_slice(piece.data);
                prop_assert!(payload.len() as u64 <= limit && !piece.data.is_empty());
                payloads.push(payload);
            }
            prop_assert_eq!(assemble(payloads.iter().map(Vec::as_slice)), Ok(frame));
        }
    }
}
