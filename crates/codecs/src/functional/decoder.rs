//! Decoding.

use thalweg_video::Picture;
use thalweg_vp8::{State, decode};

use super::{CODEC, to_picture};
use crate::seam::{DecodeError, Decoder};

/// A VP8 decoder whose whole memory is a [`State`].
#[derive(Debug, Default)]
pub struct FunctionalDecoder {
    state: State,
}

impl FunctionalDecoder {
    /// The state after the frames decoded so far.
    pub fn state(&self) -> &State {
        &self.state
    }
}

impl Decoder for FunctionalDecoder {
    fn decode(&mut self, data: &[u8]) -> Result<Option<Picture>, DecodeError> {
        let error = |reason: String| DecodeError { codec: CODEC, length: data.len(), reason };
        let decoded = decode(&self.state, data).map_err(|corrupt| error(corrupt.to_string()))?;
        self.state = decoded.state;
        if !decoded.is_shown {
            return Ok(None);
        }
        to_picture(&decoded.image).map(Some).map_err(|wrong| error(wrong.to_string()))
    }
}
