//! A whole frame as a value.

use super::corrupt::{Corrupt, WriteError};
use super::header::FrameHeader;
use super::layout::OpenFrame;
use super::macroblocks::{MacroblockReader, MacroblockWriter};
use super::modes::MacroblockModes;
use super::tokens::{Coefficients, MacroblockFactors};
use crate::state::State;

/// All content of a frame. Tools can inspect it, or change it and write it again; the decoder instead reads macroblock
/// by macroblock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The header.
    pub header: FrameHeader,
    /// Its macroblocks in raster order.
    pub macroblocks: Vec<Macroblock>,
}

/// The content of a macroblock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Macroblock {
    /// Its modes.
    pub modes: MacroblockModes,
    /// Its levels: coefficients before dequantisation. `None` when it is skipped.
    pub levels: Option<Box<Coefficients>>,
}

impl Frame {
    /// Reads a frame that can be decoded from a state.
    ///
    /// # Errors
    /// When the frame is corrupt, or is an inter frame and the state has no references.
    pub fn read(state: &State, frame: &[u8]) -> Result<Self, Corrupt> {
        let open = OpenFrame::new(frame)?;
        let coding = state.before(&open.header)?;
        let (mut reader, header) = MacroblockReader::new(open, coding.size);
        let macroblocks = (0..coding.size.macroblocks())
            .map(|_| {
                let modes = reader.modes(&coding.probabilities);
                let mut levels = Box::<Coefficients>::default();
                reader.coefficients(&modes, &coding.probabilities, &MacroblockFactors::ONE, &mut levels);
                Macroblock { modes, levels: (!modes.is_skipped).then_some(levels) }
            })
            .collect();
        Ok(Self { header, macroblocks })
    }

    /// Writes the frame, given the state that it is to be decoded from. A frame coded by libvpx or this crate gives the
    /// same bytes after [`read`](Self::read) and this.
    ///
    /// # Errors
    /// When the frame is an inter frame and the state has no references, when the number of macroblocks is wrong, and
    /// when a part exceeds its maximum length.
    pub fn write(&self, state: &State) -> Result<Vec<u8>, WriteError> {
        let coding = state.before(&self.header).map_err(|_| WriteError::NoKeyFrame)?;
        let (size, count, expected) = (coding.size, self.macroblocks.len(), coding.size.macroblocks());
        if count != expected {
            return Err(WriteError::Macroblocks { count, size, expected });
        }
        let mut writer = MacroblockWriter::new(self.header.clone(), coding.size);
        let nothing = Coefficients::default();
        for Macroblock { modes, levels } in &self.macroblocks {
            writer.write(modes, &coding.probabilities, levels.as_deref().unwrap_or(&nothing));
        }
        writer.finish()
    }
}
