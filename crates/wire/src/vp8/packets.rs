//! Packetisation of frames, and reassembly.

use alloc::vec::Vec;
use core::fmt;

use thalweg_units::Bytes;

use super::Descriptor;
use crate::split::about_equal;
use crate::{ParseError, WriteError};

/// The part of a frame in one packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fragment<'a> {
    /// The descriptor to write before the data.
    pub descriptor: Descriptor,
    /// Part of the frame, at least one byte.
    pub data: &'a [u8],
    /// True for the frame's last part: the packet's marker bit.
    pub last: bool,
}

/// Splits `frame` into the fewest pieces whose descriptor and data together take at most `limit`, of about equal size,
/// the larger ones last. As in libwebrtc, a frame counts as one partition; `descriptor` provides all fields except S
/// and PID. An empty frame gives no pieces.
///
/// # Errors
/// A `limit` too small for the descriptor and one byte.
pub fn fragments(
    frame: &[u8],
    descriptor: Descriptor,
    limit: Bytes,
) -> Result<impl ExactSizeIterator<Item = Fragment<'_>>, WriteError> {
    let size = descriptor.size() as u64;
    WriteError::check("limit of a VP8 payload in bytes", limit.get(), size + 1, u64::MAX)?;
    let room = usize::try_from(limit.get() - size).unwrap_or(usize::MAX);
    Ok(about_equal(frame.len(), room).map(move |piece| Fragment {
        descriptor: Descriptor { partition_start: piece.start == 0, partition: 0, ..descriptor },
        last: piece.end == frame.len(),
        data: &frame[piece],
    }))
}

/// Why payloads do not form a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AssemblyError {
    /// A descriptor is malformed.
    Descriptor(ParseError),
    /// The first payload is not the start of the first partition.
    NoStart,
    /// The payload at `index` starts another frame, or belongs to another picture.
    OtherFrame {
        /// Its index among the payloads.
        index: usize,
    },
}

impl fmt::Display for AssemblyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AssemblyError::Descriptor(error) => error.fmt(f),
            AssemblyError::NoStart => f.write_str("the first payload does not start partition 0 of a VP8 frame"),
            AssemblyError::OtherFrame { index } => write!(f, "VP8 payload {index} belongs to another frame"),
        }
    }
}

impl core::error::Error for AssemblyError {}

/// Reassembles a frame from the payloads of all its packets, in sequence order. The caller must ensure that none is
/// missing (by sequence numbers and the marker bit).
///
/// # Errors
/// Payloads that are not all of one frame, beginning at its start.
pub fn assemble<'a>(payloads: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<u8>, AssemblyError> {
    let mut frame = Vec::new();
    let mut first = None;
    for (index, payload) in payloads.into_iter().enumerate() {
        let (descriptor, data) = Descriptor::parse(payload).map_err(AssemblyError::Descriptor)?;
        let starts = descriptor.partition_start && descriptor.partition == 0;
        match first {
            None if !starts => return Err(AssemblyError::NoStart),
            None => first = Some(descriptor.picture_id),
            Some(picture) if starts || picture != descriptor.picture_id => {
                return Err(AssemblyError::OtherFrame { index });
            }
            Some(_) => {}
        }
        frame.extend_from_slice(data);
    }
    if first.is_some() { Ok(frame) } else { Err(AssemblyError::NoStart) }
}

/// Returns true if a frame is a keyframe: the inverse of its first bit (RFC 6386 section 9.1). An empty one is not.
pub fn is_keyframe(frame: &[u8]) -> bool {
    frame.first().is_some_and(|first| first & 1 == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_frame_is_cut_into_about_equal_pieces_the_larger_last() {
        let frame = [0u8; 3000];
        let sizes: Vec<usize> =
            fragments(&frame, Descriptor::default(), Bytes::new(1132)).unwrap().map(|piece| piece.data.len()).collect();
        assert_eq!(sizes, [1000, 1000, 1000]);
        let sizes: Vec<usize> = fragments(&frame[..11], Descriptor::default(), Bytes::new(5))
            .unwrap()
            .map(|piece| piece.data.len())
            .collect();
        assert_eq!(sizes, [3, 4, 4]);
    }

    #[test]
    fn pieces_of_two_frames_are_no_frame() {
        assert_eq!(assemble([&[0x10u8, 1][..], &[0x10, 2]]), Err(AssemblyError::OtherFrame { index: 1 }));
        assert_eq!(assemble([&[0x00u8, 1][..]]), Err(AssemblyError::NoStart));
        assert!(fragments(&[1], Descriptor::default(), Bytes::new(1)).is_err());
    }

    proptest! {
        #[test]
        fn a_frame_survives_being_cut_and_put_together(frame in prop::collection::vec(any::<u8>(), 1..5000), limit in 2u64..1500) {
            let pieces = fragments(&frame, Descriptor::default(), Bytes::new(limit)).unwrap();
            let mut payloads = Vec::new();
            for piece in pieces {
                let mut payload = Vec::new();
                piece.descriptor.write(&mut payload).unwrap();
                payload.extend_from_slice(piece.data);
                prop_assert!(payload.len() as u64 <= limit && !piece.data.is_empty());
                payloads.push(payload);
            }
            prop_assert_eq!(payloads.len(), frame.len().div_ceil(limit as usize - 1));
            prop_assert_eq!(assemble(payloads.iter().map(Vec::as_slice)), Ok(frame));
        }
    }
}
