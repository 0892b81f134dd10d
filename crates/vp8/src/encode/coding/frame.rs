//! A frame's bytes.

use super::macroblocks::CodedModes;
use super::tokens::Tokens;
use crate::encode::motion_bools::MotionBools;
use crate::state::Coding;
use crate::syntax::header::{FrameTag, LARGEST_FIRST_PARTITION};
use crate::syntax::{FrameHeader, FrameKind, FrameWriter, ModeCoding, Neighbours, Partitions, Prediction, WriteError};

/// Writes a frame: its header, its modes and motion, then its tokens in their partitions. Also returns the length of
/// the first partition; `None` when that exceeds the limit of the format.
pub fn write(
    header: &FrameHeader,
    coding: &Coding,
    modes: &[CodedModes],
    motion: Option<&MotionBools>,
    tokens: &Tokens,
) -> Option<(Vec<u8>, usize)> {
    match try_write(header, coding, modes, motion, tokens) {
        Ok(frame) => Some(frame),
        // With several partitions, all but the last have a limit (16 MiB); a single one has none.
        Err(WriteError::TooLong { max, .. }) if max > LARGEST_FIRST_PARTITION => {
            let header = FrameHeader { partitions: Partitions::One, ..header.clone() };
            try_write(&header, coding, modes, motion, tokens).ok()
        }
        Err(_) => None,
    }
}

fn try_write(
    header: &FrameHeader,
    coding: &Coding,
    modes: &[CodedModes],
    motion: Option<&MotionBools>,
    tokens: &Tokens,
) -> Result<(Vec<u8>, usize), WriteError> {
    let mut writer = FrameWriter::new(header.clone());
    write_modes(&mut writer, header, coding, modes, motion);
    let partitions = header.partitions.count();
    for (partition, writer) in writer.partitions.iter_mut().enumerate() {
        tokens.write(writer, &coding.probabilities.coefficients, partition, partitions);
    }
    let frame = writer.finish()?;
    let modes_size = FrameTag::read(&frame).map_or(0, |(tag, _)| tag.first_partition);
    Ok((frame, modes_size))
}

/// Writes the modes of all macroblocks.
fn write_modes(
    writer: &mut FrameWriter,
    header: &FrameHeader,
    coding: &Coding,
    modes: &[CodedModes],
    motion: Option<&MotionBools>,
) {
    let mode_coding = ModeCoding::of(header);
    let mut motion = match (&header.kind, motion) {
        (FrameKind::Inter(header), Some(motion)) => Some(motion.at(header, &coding.probabilities.vectors)),
        _ => None,
    };
    let mut neighbours = Neighbours::new(coding.size);
    for modes in modes {
        mode_coding.write_flags(&mut writer.modes, None, modes.is_skipped);
        if let Some(intra) = &modes.intra {
            mode_coding.write_intra(&mut writer.modes, &coding.probabilities, &neighbours, intra);
            if header.kind.is_key() {
                neighbours.advance(&Prediction::Intra(*intra));
            }
        } else if let Some(motion) = &mut motion {
            writer.modes.burst(|burst| motion.write(burst));
        }
    }
}
