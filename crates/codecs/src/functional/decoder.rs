//! The functional VP8 decoder.

use std::collections::BTreeMap;

use thalweg_types::StateHash;
use thalweg_video::Picture;
use thalweg_vp8::{State, decode};

use super::{CODEC, hash, to_picture};
use crate::seam::{DecodeError, Decoder, States};

/// A VP8 decoder whose only memory is its current [`State`] and the states it was asked to keep.
#[derive(Debug, Default)]
pub struct FunctionalDecoder {
    state: State,
    kept: BTreeMap<StateHash, State>,
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

    fn states(&mut self) -> Option<&mut dyn States> {
        Some(self)
    }
}

impl States for FunctionalDecoder {
    fn current(&self) -> StateHash {
        hash(&self.state)
    }

    fn keep(&mut self) {
        self.kept.insert(self.current(), self.state.clone());
    }

    fn load(&mut self, state: StateHash) -> bool {
        let beginning = State::new();
        let kept = self.kept.get(&state).or((hash(&beginning) == state).then_some(&beginning));
        if let Some(kept) = kept {
            self.state = kept.clone();
        }
        kept.is_some()
    }

    fn forget(&mut self, state: StateHash) {
        self.kept.remove(&state);
    }
}
