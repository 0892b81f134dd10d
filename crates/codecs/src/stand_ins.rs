//! The states of a receiver, for encoders that make sizes only.

use std::collections::BTreeMap;

use thalweg_types::{Basis, StateHash};

use crate::seam::EncodeError;

/// Stand-ins for a receiver's states: numbers that differ where states would.
#[derive(Debug, Default)]
pub(crate) struct StandIns {
    /// Those that may be requested again, by frame number.
    kept: BTreeMap<u64, StateHash>,
    /// The number under which to keep the one that is committed next.
    pub(crate) keep: Option<u64>,
    /// Number of pictures committed, sent or not, so that each sent frame leads to a different state.
    committed: u64,
}

impl StandIns {
    /// State before the first frame, and before a keyframe.
    pub(crate) const NOTHING: StateHash = StateHash(0);

    /// The one that a frame of this basis refers to, if the last frame led to `latest`.
    ///
    /// # Errors
    /// When it was not kept, or forgotten.
    pub(crate) fn source(
        &self,
        codec: &'static str,
        basis: Basis,
        latest: StateHash,
    ) -> Result<StateHash, EncodeError> {
        match basis {
            Basis::After(frame) => {
                let range = "only to one that was kept and not forgotten";
                self.kept.get(&frame).copied().ok_or(EncodeError::Basis { codec, basis, range })
            }
            Basis::Latest | Basis::Buffers(_) => Ok(latest),
        }
    }

    /// The one to which candidate `number` of the present picture leads from `source`.
    pub(crate) fn after(&self, source: StateHash, number: usize) -> StateHash {
        state_after(source, self.committed << 8 | number as u64)
    }

    /// The picture became a frame that leads to this one, or none.
    pub(crate) fn on_commit(&mut self, reached: Option<StateHash>) {
        if let (Some(frame), Some(reached)) = (self.keep, reached) {
            self.kept.insert(frame, reached);
        }
        self.committed += 1;
    }

    /// No later frame refers to it.
    pub(crate) fn forget(&mut self, frame: u64) {
        self.kept.remove(&frame);
    }
}

/// A state hash that no other frame leads to (a step of SplitMix64).
fn state_after(source: StateHash, number: u64) -> StateHash {
    let mixed = (source.0 ^ number).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    StateHash((mixed ^ mixed >> 31).max(1))
}
