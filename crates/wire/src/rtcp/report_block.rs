//! Report blocks on one stream (RFC 3550 section 6.4.1), in sender and receiver reports.

use alloc::vec::Vec;

use super::NtpShort;
use crate::reader::Reader;
use crate::{ParseError, WriteError};

/// A report block, 24 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReportBlock {
    /// SSRC of the reported stream.
    pub ssrc: u32,
    /// Packets lost since the last report, in 1/256 of those expected.
    pub fraction_lost: u8,
    /// Packets expected and not received since the beginning, -2^23 to 2^23 - 1 (clamped when written, as in RFC 3550
    /// appendix A.3); negative when duplicates arrived.
    pub cumulative_lost: i32,
    /// The highest sequence number received, with the wrap-around count in the upper 16 bits.
    pub highest_sequence: u32,
    /// Interarrival jitter, in ticks of the stream's RTP clock.
    pub jitter: u32,
    /// The middle bits of the last sender report's NTP time; zero if none was received.
    pub last_report: NtpShort,
    /// Time since that sender report was received; zero if none was.
    pub delay: NtpShort,
}

impl ReportBlock {
    fn parse(reader: &mut Reader<'_>) -> Result<ReportBlock, ParseError> {
        Ok(ReportBlock {
            ssrc: reader.u32("report block SSRC")?,
            fraction_lost: reader.u8("report block fraction lost")?,
            // Shifted left and back for sign extension.
            cumulative_lost: ((reader.u24("report block cumulative lost")? << 8) as i32) >> 8,
            highest_sequence: reader.u32("report block highest sequence number")?,
            jitter: reader.u32("report block jitter")?,
            last_report: NtpShort::from_bits(reader.u32("report block last SR")?),
            delay: NtpShort::from_bits(reader.u32("report block delay since last SR")?),
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        let lost = self.cumulative_lost.clamp(-(1 << 23), (1 << 23) - 1);
        let loss = u32::from(self.fraction_lost) << 24 | (lost as u32 & 0xff_ffff);
        let words = [self.ssrc, loss, self.highest_sequence, self.jitter, self.last_report.bits(), self.delay.bits()];
        out.extend(words.into_iter().flat_map(u32::to_be_bytes));
    }
}

/// Parses `count` report blocks.
pub(super) fn parse_blocks(reader: &mut Reader<'_>, count: u8) -> Result<Vec<ReportBlock>, ParseError> {
    (0..count).map(|_| ReportBlock::parse(reader)).collect()
}

/// Appends report blocks and then the profile-specific `extension`, which must be whole words.
pub(super) fn write_blocks(blocks: &[ReportBlock], extension: &[u8], out: &mut Vec<u8>) -> Result<(), WriteError> {
    for block in blocks {
        block.write(out);
    }
    WriteError::check("bytes of a report extension past whole words", (extension.len() % 4) as u64, 0, 0)?;
    out.extend_from_slice(extension);
    Ok(())
}

#[cfg(test)]
pub(super) fn any_block() -> impl proptest::prelude::Strategy<Value = ReportBlock> {
    use proptest::prelude::*;
    (any::<(u32, u8, u32, u32, u32, u32)>(), -(1i32 << 23)..1 << 23).prop_map(|(fields, cumulative_lost)| {
        let (ssrc, fraction_lost, highest_sequence, jitter, last_report, delay) = fields;
        let (last_report, delay) = (NtpShort::from_bits(last_report), NtpShort::from_bits(delay));
        ReportBlock { ssrc, fraction_lost, cumulative_lost, highest_sequence, jitter, last_report, delay }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_past_24_bits_is_written_as_the_end_it_is_past() {
        for (lost, expected) in [(-3, -3), (1 << 23, (1 << 23) - 1), (i32::MIN, -(1 << 23))] {
            let mut out = Vec::new();
            ReportBlock { cumulative_lost: lost, ..ReportBlock::default() }.write(&mut out);
            let block = ReportBlock::parse(&mut Reader::new(&out)).unwrap();
            assert_eq!(block.cumulative_lost, expected);
        }
    }
}
