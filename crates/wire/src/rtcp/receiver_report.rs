//! RR: receiver reports (RFC 3550 section 6.4.2).

use alloc::vec::Vec;

use super::header::{Header, count, frame};
use super::report_block::{ReportBlock, parse_blocks, write_blocks};
use super::sender_report::whole_words;
use crate::{ParseError, WriteError};

/// Packet type of a receiver report.
pub(super) const KIND: u8 = 201;

/// A receiver report.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReceiverReport {
    /// SSRC of the reporter.
    pub ssrc: u32,
    /// One block per stream, at most 31.
    pub blocks: Vec<ReportBlock>,
    /// Profile-specific extension, whole 32-bit words.
    pub extension: Vec<u8>,
}

impl ReceiverReport {
    pub(super) fn parse(header: &Header<'_>) -> Result<ReceiverReport, ParseError> {
        let mut reader = header.body();
        Ok(ReceiverReport {
            ssrc: reader.u32("receiver report SSRC")?,
            blocks: parse_blocks(&mut reader, header.count)?,
            extension: whole_words(reader.rest()),
        })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        frame(out, KIND, count("blocks of a receiver report", self.blocks.len())?, |out| {
            out.extend_from_slice(&self.ssrc.to_be_bytes());
            write_blocks(&self.blocks, &self.extension, out)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::report_block::any_block;
    use super::*;
    use crate::rtcp::{Packet, testing};
    use proptest::prelude::*;

    #[test]
    fn a_report_on_nothing_is_eight_bytes() {
        let report = ReceiverReport { ssrc: 0x0102_0304, ..ReceiverReport::default() };
        testing::is_written_as(&Packet::ReceiverReport(report), &[0x80, 201, 0, 1, 1, 2, 3, 4]);
    }

    proptest! {
        #[test]
        fn a_receiver_report_survives(
            ssrc: u32, blocks in prop::collection::vec(any_block(), 0..32), extension: Vec<[u8; 4]>,
        ) {
            let extension = extension.concat();
            testing::survives(Packet::ReceiverReport(ReceiverReport { ssrc, blocks, extension }))?;
        }
    }
}
