//! SR: sender reports (RFC 3550 section 6.4.1).

use alloc::vec::Vec;

use super::NtpTime;
use super::header::{Header, count, frame};
use super::report_block::{ReportBlock, parse_blocks, write_blocks};
use crate::{ParseError, WriteError};

/// Packet type of a sender report.
pub(super) const KIND: u8 = 200;

/// A sender report.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SenderReport {
    /// SSRC of the sender's stream.
    pub ssrc: u32,
    /// When the report was sent.
    pub ntp: NtpTime,
    /// The same time in ticks of the stream's RTP clock.
    pub rtp_timestamp: u32,
    /// RTP packets sent since the beginning.
    pub packets: u32,
    /// Payload bytes in them, without headers and padding.
    pub payload_bytes: u32,
    /// Report blocks on streams that the sender itself receives, at most 31.
    pub blocks: Vec<ReportBlock>,
    /// Profile-specific extension, whole 32-bit words.
    pub extension: Vec<u8>,
}

impl SenderReport {
    pub(super) fn parse(header: &Header<'_>) -> Result<SenderReport, ParseError> {
        let mut reader = header.body();
        Ok(SenderReport {
            ssrc: reader.u32("sender report SSRC")?,
            ntp: NtpTime::from_bits(reader.u64("sender report NTP time")?),
            rtp_timestamp: reader.u32("sender report RTP timestamp")?,
            packets: reader.u32("sender report packet count")?,
            payload_bytes: reader.u32("sender report octet count")?,
            blocks: parse_blocks(&mut reader, header.count)?,
            extension: whole_words(reader.rest()),
        })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        frame(out, KIND, count("blocks of a sender report", self.blocks.len())?, |out| {
            out.extend_from_slice(&self.ssrc.to_be_bytes());
            out.extend_from_slice(&self.ntp.bits().to_be_bytes());
            for word in [self.rtp_timestamp, self.packets, self.payload_bytes] {
                out.extend_from_slice(&word.to_be_bytes());
            }
            write_blocks(&self.blocks, &self.extension, out)
        })
    }
}

/// The whole words of `rest`; 1 to 3 bytes of padding are cut off.
pub(super) fn whole_words(rest: &[u8]) -> Vec<u8> {
    rest[..rest.len() - rest.len() % 4].to_vec()
}

#[cfg(test)]
mod tests {
    use super::super::report_block::any_block;
    use super::*;
    use crate::rtcp::{NtpShort, Packet, testing};
    use proptest::prelude::*;

    #[test]
    fn every_field_of_the_diagram_has_its_place() {
        let report = SenderReport {
            ssrc: 0x0102_0304,
            ntp: NtpTime::from_bits(0x1112_1314_1516_1718),
            rtp_timestamp: 0x2122_2324,
            packets: 0x3132_3334,
            payload_bytes: 0x4142_4344,
            blocks: [ReportBlock {
                ssrc: 0x5152_5354,
                fraction_lost: 0x40,
                cumulative_lost: -2,
                highest_sequence: 0x0001_ffff,
                jitter: 0x6162_6364,
                last_report: NtpShort::from_bits(0x7172_7374),
                delay: NtpShort::from_bits(0x0000_8000),
            }]
            .to_vec(),
            extension: [9, 9, 9, 9].to_vec(),
        };
        let bytes = [
            0x81, 200, 0, 13, 1, 2, 3, 4, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x21, 0x22, 0x23, 0x24, 0x31,
            0x32, 0x33, 0x34, 0x41, 0x42, 0x43, 0x44, 0x51, 0x52, 0x53, 0x54, 0x40, 0xff, 0xff, 0xfe, 0, 1, 0xff, 0xff,
            0x61, 0x62, 0x63, 0x64, 0x71, 0x72, 0x73, 0x74, 0, 0, 0x80, 0, 9, 9, 9, 9,
        ];
        testing::is_written_as(&Packet::SenderReport(report), &bytes);
    }

    #[test]
    fn a_32nd_block_and_a_broken_extension_are_refused() {
        let mut out = Vec::new();
        let blocks = [ReportBlock::default()].repeat(32);
        assert!(SenderReport { blocks, ..SenderReport::default() }.write(&mut out).is_err());
        assert!(SenderReport { extension: [1].to_vec(), ..SenderReport::default() }.write(&mut out).is_err());
        assert!(out.is_empty());
    }

    proptest! {
        #[test]
        fn a_sender_report_survives(
            ssrc: u32, ntp: u64, rtp_timestamp: u32, packets: u32, payload_bytes: u32,
            blocks in prop::collection::vec(any_block(), 0..32), extension: Vec<[u8; 4]>,
        ) {
            let (ntp, extension) = (NtpTime::from_bits(ntp), extension.concat());
            let report = SenderReport { ssrc, ntp, rtp_timestamp, packets, payload_bytes, blocks, extension };
            testing::survives(Packet::SenderReport(report))?;
        }
    }
}
