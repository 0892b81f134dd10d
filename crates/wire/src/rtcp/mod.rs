//! RTCP (RFC 3550 section 6, RFC 4585): what the other side says of what it got.
//!
//! A datagram holds one packet after another, a compound packet; [`parse`] reads them all and [`Compound`] one by one.
//! Reduced-size compounds (RFC 5506), which need not begin with a report, are accepted: browsers send them. A type
//! nobody here knows is an [`Opaque`] packet, not an error.
//!
//! ```
//! use thalweg_wire::rtcp::{self, Nack, Packet, PictureLoss};
//!
//! let packets = [
//!     Packet::Nack(Nack::of(1, 2, [1000, 1001, 1010])),
//!     Packet::PictureLoss(PictureLoss { sender_ssrc: 1, media_ssrc: 2 }),
//! ];
//! let mut datagram = Vec::new();
//! rtcp::write(&packets, &mut datagram)?;
//! assert_eq!(datagram.len(), 16 + 12);
//! assert_eq!(rtcp::parse(&datagram), Ok(packets.to_vec()));
//! # Ok::<(), thalweg_wire::WriteError>(())
//! ```

mod application;
mod application_feedback;
mod bitrate;
pub mod ccfb;
mod compound;
mod decoder_state;
mod description;
mod extended_report;
mod full_intra;
mod goodbye;
mod header;
mod nack;
mod ntp;
mod opaque;
mod path_report;
mod picture_loss;
mod receiver_report;
mod report_block;
mod sender_report;
pub mod twcc;

pub use application::Application;
pub use bitrate::EstimatedBitrate;
pub use compound::{Compound, is_rtcp, parse, write};
pub use decoder_state::DecoderState;
pub use description::{Chunk, Item, SourceDescription};
pub use extended_report::{
    BytesDiscarded, ExtendedBlock, ExtendedReport, Hops, LastReceiverTime, ReceiptTimes, RunLengths, Spread,
    StatisticsSummary,
};
pub use full_intra::{FullIntra, IntraRequest};
pub use goodbye::Goodbye;
pub use nack::{Nack, NackPair};
pub use ntp::{NtpShort, NtpTime};
pub use opaque::Opaque;
pub use path_report::PathReport;
pub use picture_loss::PictureLoss;
pub use receiver_report::ReceiverReport;
pub use report_block::ReportBlock;
pub use sender_report::SenderReport;

use alloc::vec::Vec;

use crate::{ParseError, WriteError};
use header::Header;

/// Packet type of transport-layer feedback (RFC 4585 section 6.1).
const TRANSPORT: u8 = 205;
/// Packet type of payload-specific feedback (RFC 4585 section 6.1).
const PAYLOAD: u8 = 206;

/// One packet of a compound packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Packet {
    /// What a sender has sent, and when (200).
    SenderReport(SenderReport),
    /// What a receiver got (201).
    ReceiverReport(ReceiverReport),
    /// Who the sources are (202).
    SourceDescription(SourceDescription),
    /// Sources that leave (203).
    Goodbye(Goodbye),
    /// Something an application made up (204).
    Application(Application),
    /// What receivers say beyond their reports: which packets came and when, and when they send themselves (207).
    ExtendedReport(ExtendedReport),
    /// Packets that are missed (205, format 1).
    Nack(Nack),
    /// Packets of every stream and when they came (205, format 15).
    TransportFeedback(twcc::Feedback),
    /// Packets of each stream, when they came and how they were marked (205, format 11).
    CongestionFeedback(ccfb::Feedback),
    /// A picture cannot be shown (206, format 1).
    PictureLoss(PictureLoss),
    /// A key frame is wanted (206, format 4).
    FullIntra(FullIntra),
    /// What the receiver thinks the path bears (206, format 15, "REMB").
    EstimatedBitrate(EstimatedBitrate),
    /// What became of a packet of functional video (206, format 15, "SLFY").
    DecoderState(DecoderState),
    /// What a receiver measured of the path (206, format 15, "PATH").
    PathReport(PathReport),
    /// Anything else.
    Opaque(Opaque),
}

impl Packet {
    fn parse(header: &Header<'_>) -> Result<Packet, ParseError> {
        Ok(match (header.kind, header.count) {
            (sender_report::KIND, _) => Packet::SenderReport(SenderReport::parse(header)?),
            (receiver_report::KIND, _) => Packet::ReceiverReport(ReceiverReport::parse(header)?),
            (description::KIND, _) => Packet::SourceDescription(SourceDescription::parse(header)?),
            (goodbye::KIND, _) => Packet::Goodbye(Goodbye::parse(header)?),
            (application::KIND, _) => Packet::Application(Application::parse(header)?),
            (extended_report::KIND, _) => Packet::ExtendedReport(ExtendedReport::parse(header)?),
            (TRANSPORT, nack::FORMAT) => Packet::Nack(Nack::parse(header)?),
            (TRANSPORT, twcc::FORMAT) => Packet::TransportFeedback(twcc::Feedback::parse(header)?),
            (TRANSPORT, ccfb::FORMAT) => Packet::CongestionFeedback(ccfb::Feedback::parse(header)?),
            (PAYLOAD, picture_loss::FORMAT) => Packet::PictureLoss(PictureLoss::parse(header)?),
            (PAYLOAD, full_intra::FORMAT) => Packet::FullIntra(FullIntra::parse(header)?),
            (PAYLOAD, application_feedback::FORMAT) => match application_feedback::identifier(header) {
                Some(bitrate::IDENTIFIER) => Packet::EstimatedBitrate(EstimatedBitrate::parse(header)?),
                Some(decoder_state::IDENTIFIER) => Packet::DecoderState(DecoderState::parse(header)?),
                Some(path_report::IDENTIFIER) => Packet::PathReport(PathReport::parse(header)?),
                _ => Packet::Opaque(Opaque::parse(header)),
            },
            _ => Packet::Opaque(Opaque::parse(header)),
        })
    }

    /// Appends the packet to `out`.
    ///
    /// # Errors
    /// What the format has no room for; `out` is then as it was.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        match self {
            Packet::SenderReport(packet) => packet.write(out),
            Packet::ReceiverReport(packet) => packet.write(out),
            Packet::SourceDescription(packet) => packet.write(out),
            Packet::Goodbye(packet) => packet.write(out),
            Packet::Application(packet) => packet.write(out),
            Packet::ExtendedReport(packet) => packet.write(out),
            Packet::Nack(packet) => packet.write(out),
            Packet::TransportFeedback(packet) => packet.write(out),
            Packet::CongestionFeedback(packet) => packet.write(out),
            Packet::PictureLoss(packet) => packet.write(out),
            Packet::FullIntra(packet) => packet.write(out),
            Packet::EstimatedBitrate(packet) => packet.write(out),
            Packet::DecoderState(packet) => packet.write(out),
            Packet::PathReport(packet) => packet.write(out),
            Packet::Opaque(packet) => packet.write(out),
        }
    }
}

#[cfg(test)]
mod testing {
    use super::*;

    /// That `packet` is written as `bytes` and read from them, and that no shorter input is taken for it.
    pub(super) fn is_written_as(packet: &Packet, bytes: &[u8]) {
        let mut out = Vec::new();
        packet.write(&mut out).unwrap();
        assert_eq!(out, bytes, "written");
        assert_eq!(parse(bytes).as_deref(), Ok(core::slice::from_ref(packet)), "read");
        for length in 0..bytes.len() {
            assert!(parse(&bytes[..length]).is_err(), "{length} of {} bytes", bytes.len());
        }
    }

    /// That `packet` comes back from its bytes.
    pub(super) fn survives(packet: Packet) -> Result<(), proptest::test_runner::TestCaseError> {
        let mut out = Vec::new();
        packet.write(&mut out).unwrap();
        proptest::prop_assert_eq!(out.len() % 4, 0);
        proptest::prop_assert_eq!(parse(&out), Ok([packet].to_vec()));
        Ok(())
    }
}
