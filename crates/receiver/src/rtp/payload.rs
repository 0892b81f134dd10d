//! What of a frame a payload is, by the codec's packing.

use thalweg_wire::ParseError;
use thalweg_wire::vp8::{self, Descriptor, PictureId};

use super::config::Codec;

/// Whether a frame begins with a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// It says so.
    Yes,
    /// It says it does not.
    No,
    /// It does if the packet before it was of another frame: the payload does not say.
    #[allow(dead_code)]
    AfterAnother,
}

/// What a payload tells before the frame is whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Glimpse {
    /// Whether a frame begins with it.
    pub(super) start: Start,
    /// The picture, of 7 or 15 bits, where it is said.
    pub(super) picture: Option<u16>,
}

/// A frame as its encoder made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Assembled {
    pub(super) data: Vec<u8>,
    pub(super) keyframe: bool,
}

impl Codec {
    /// What a payload tells.
    ///
    /// # Errors
    /// A malformed descriptor.
    pub(super) fn glimpse(self, payload: &[u8]) -> Result<Glimpse, ParseError> {
        match self {
            Codec::Vp8 => {
                let (descriptor, _) = Descriptor::parse(payload)?;
                let starts = descriptor.partition_start && descriptor.partition == 0;
                let picture = descriptor.picture_id.map(|id| match id {
                    PictureId::Short(id) => id.into(),
                    PictureId::Long(id) => id,
                });
                Ok(Glimpse { start: if starts { Start::Yes } else { Start::No }, picture })
            }
        }
    }

    /// The bytes of the frame in a payload.
    ///
    /// # Errors
    /// A malformed descriptor.
    pub(super) fn data(self, payload: &[u8]) -> Result<&[u8], ParseError> {
        match self {
            Codec::Vp8 => Ok(Descriptor::parse(payload)?.1),
        }
    }

    /// The frame that these payloads are, in order; `None` if they are none.
    pub(super) fn assemble<'a>(self, payloads: impl Iterator<Item = &'a [u8]>) -> Option<Assembled> {
        let data = match self {
            Codec::Vp8 => vp8::assemble(payloads).ok()?,
        };
        (!data.is_empty()).then(|| Assembled { keyframe: self.is_keyframe(&data), data })
    }

    /// Whether a frame, from its first byte on, refers to no other.
    pub(super) fn is_keyframe(self, frame: &[u8]) -> bool {
        match self {
            Codec::Vp8 => vp8::is_keyframe(frame),
        }
    }
}
