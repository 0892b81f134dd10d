//! A frame's bytes.

use super::tokens::Tokens;
use crate::state::Coding;
use crate::syntax::header::FrameTag;
use crate::syntax::{FrameHeader, FrameWriter, MacroblockModes, ModeCoding, Neighbours};

/// Writes a frame: its header and modes, then its tokens in their partitions. Returns how long the first part is as well.
pub fn write(header: &FrameHeader, coding: &Coding, modes: &[MacroblockModes], tokens: &Tokens) -> (Vec<u8>, usize) {
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
    let frame = writer.finish();
    let modes_size = FrameTag::read(&frame).map_or(0, |(tag, _)| tag.first_partition);
    (frame, modes_size)
}
