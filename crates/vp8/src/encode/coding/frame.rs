//! A frame's bytes.

use super::tokens::Tokens;
use crate::state::Coding;
use crate::syntax::header::FrameTag;
use crate::syntax::header::LARGEST_FIRST_PARTITION;
use crate::syntax::{FrameHeader, FrameWriter, MacroblockModes, ModeCoding, Neighbours, Partitions, WriteError};

/// Writes a frame: its header and modes, then its tokens in their partitions. Returns how long the first part is as
/// well; nothing when that is longer than a frame can say.
pub fn write(
    header: &FrameHeader,
    coding: &Coding,
    modes: &[MacroblockModes],
    tokens: &Tokens,
) -> Option<(Vec<u8>, usize)> {
    match try_write(header, coding, modes, tokens) {
        Ok(frame) => Some(frame),
        // Of several partitions of levels all but the last have a limit (16 MiB), a single one has none.
        Err(WriteError::TooLong { most, .. }) if most > LARGEST_FIRST_PARTITION => {
            let header = FrameHeader { partitions: Partitions::One, ..header.clone() };
            try_write(&header, coding, modes, tokens).ok()
        }
        Err(_) => None,
    }
}

fn try_write(
    header: &FrameHeader,
    coding: &Coding,
    modes: &[MacroblockModes],
    tokens: &Tokens,
) -> Result<(Vec<u8>, usize), WriteError> {
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
    let frame = writer.finish()?;
    let modes_size = FrameTag::read(&frame).map_or(0, |(tag, _)| tag.first_partition);
    Ok((frame, modes_size))
}
