//! A frame's bytes.

use super::tokens::Tokens;
use crate::state::Coding;
use crate::syntax::{FrameHeader, FrameWriter, MacroblockModes, ModeCoding, Neighbours};

/// Writes a frame: its header and modes, then its tokens in their partitions.
pub fn write(header: &FrameHeader, coding: &Coding, modes: &[MacroblockModes], tokens: &Tokens) -> Vec<u8> {
    let mut writer = FrameWriter::new(header.clone());
    let mode_coding = ModeCoding::of(header);
    let mut neighbours = Neighbours::new(coding.size);
    for modes in modes {
        mode_coding.write(&mut writer.modes, &coding.probabilities, &neighbours, modes);
        neighbours.advance(&modes.prediction);
    }
    let partitions = header.partitions.count();
    for (partition, writer) in writer.partitions.iter_mut().enumerate() {
        tokens.write(writer, &coding.probabilities.coefficients, partition, partitions);
    }
    writer.finish()
}
