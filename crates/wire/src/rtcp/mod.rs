//! RTCP (RFC 3550 section 6, RFC 4585): reports and feedback between peers.
//!
//! A datagram holds a compound packet, a sequence of packets; [`parse`] reads all of them and [`Compound`] one by one.
//! Reduced-size compounds (RFC 5506), which need not begin with a report, are accepted: browsers send them. A packet of
//! an unknown type is an [`Opaque`] packet, not an error.
//!
//! ```
//! use thalweg_wire::rtcp::{self, Nack, Packet, Pli};
//!
//! let packets = [
//!     Packet::Nack(Nack::of(1, 2, [1000, 1001, 1010])),
//!     Packet::Pli(Pli { sender_ssrc: 1, media_ssrc: 2 }),
//! ];
//! let mut datagram = Vec::new();
//! rtcp::write(&packets, &mut datagram)?;
//! assert_eq!(datagram.len(), 16 + 12);
//! assert_eq!(rtcp::parse(&datagram), Ok(packets.to_vec()));
//! # Ok::<(), thalweg_wire::WriteError>(())
//! ```

mod application;
mod application_feedback;
mod bye;
pub mod ccfb;
mod compound;
mod decoder_state;
mod fir;
mod header;
mod nack;
mod ntp;
mod opaque;
mod path_report;
mod pli;
mod receiver_report;
mod remb;
mod report_block;
mod sdes;
mod sender_report;
pub mod twcc;
mod xr;

pub use application::Application;
pub use bye::Bye;
pub use compound::{Compound, parse, write};
pub use decoder_state::DecoderState;
pub use fir::{Fir, FirRequest};
pub use nack::{Nack, NackPair};
pub use ntp::{NtpShort, NtpTime};
pub use opaque::Opaque;
pub use path_report::PathReport;
pub use pli::Pli;
pub use receiver_report::ReceiverReport;
pub use remb::Remb;
pub use report_block::ReportBlock;
pub use sdes::{Chunk, Item, Sdes};
pub use sender_report::SenderReport;
pub use xr::{
    BytesDiscarded, Hops, LastReceiverTime, ReceiptTimes, RunLengths, Spread, StatisticsSummary, Xr, XrBlock,
};

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
    /// Sender report: what was sent, and when (200).
    SenderReport(SenderReport),
    /// Receiver report: what was received (201).
    ReceiverReport(ReceiverReport),
    /// Source description (202).
    Sdes(Sdes),
    /// Goodbye: sources that leave (203).
    Bye(Bye),
    /// Application-defined (204).
    Application(Application),
    /// Extended report: which packets arrived and when, and the receiver's own report times (207).
    Xr(Xr),
    /// Requested packets (205, format 1).
    Nack(Nack),
    /// Arrivals of packets of all streams (205, format 15).
    TransportFeedback(twcc::Feedback),
    /// Arrivals and ECN marks of packets by stream (205, format 11).
    CongestionFeedback(ccfb::Feedback),
    /// Picture loss indication (206, format 1).
    Pli(Pli),
    /// Keyframe request (206, format 4).
    Fir(Fir),
    /// The receiver's bandwidth estimate (206, format 15, "REMB").
    Remb(Remb),
    /// The decoder's state after a packet of functional video (206, format 15, "SLFY").
    DecoderState(DecoderState),
    /// The receiver's path measurement (206, format 15, "PATH").
    PathReport(PathReport),
    /// Any other packet.
    Opaque(Opaque),
}

impl Packet {
    fn parse(header: &Header<'_>) -> Result<Packet, ParseError> {
        Ok(match (header.kind, header.count) {
            (sender_report::KIND, _) => Packet::SenderReport(SenderReport::parse(header)?),
            (receiver_report::KIND, _) => Packet::ReceiverReport(ReceiverReport::parse(header)?),
            (sdes::KIND, _) => Packet::Sdes(Sdes::parse(header)?),
            (bye::KIND, _) => Packet::Bye(Bye::parse(header)?),
            (application::KIND, _) => Packet::Application(Application::parse(header)?),
            (xr::KIND, _) => Packet::Xr(Xr::parse(header)?),
            (TRANSPORT, nack::FORMAT) => Packet::Nack(Nack::parse(header)?),
            (TRANSPORT, twcc::FORMAT) => Packet::TransportFeedback(twcc::Feedback::parse(header)?),
            (TRANSPORT, ccfb::FORMAT) => Packet::CongestionFeedback(ccfb::Feedback::parse(header)?),
            (PAYLOAD, pli::FORMAT) => Packet::Pli(Pli::parse(header)?),
            (PAYLOAD, fir::FORMAT) => Packet::Fir(Fir::parse(header)?),
            (PAYLOAD, application_feedback::FORMAT) => match application_feedback::identifier(header) {
                Some(remb::IDENTIFIER) => Packet::Remb(Remb::parse(header)?),
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
    /// When a value exceeds what the format can represent; `out` is then unchanged.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        match self {
            Packet::SenderReport(packet) => packet.write(out),
            Packet::ReceiverReport(packet) => packet.write(out),
            Packet::Sdes(packet) => packet.write(out),
            Packet::Bye(packet) => packet.write(out),
            Packet::Application(packet) => packet.write(out),
            Packet::Xr(packet) => packet.write(out),
            Packet::Nack(packet) => packet.write(out),
            Packet::TransportFeedback(packet) => packet.write(out),
            Packet::CongestionFeedback(packet) => packet.write(out),
            Packet::Pli(packet) => packet.write(out),
            Packet::Fir(packet) => packet.write(out),
            Packet::Remb(packet) => packet.write(out),
            Packet::DecoderState(packet) => packet.write(out),
            Packet::PathReport(packet) => packet.write(out),
            Packet::Opaque(packet) => packet.write(out),
        }
    }
}

#[cfg(test)]
mod testing {
    use super::*;

    /// Asserts that `packet` is written as `bytes` and parsed from them, and that no shorter input parses as it.
    pub(super) fn is_written_as(packet: &Packet, bytes: &[u8]) {
        let mut out = Vec::new();
        packet.write(&mut out).unwrap();
        assert_eq!(out, bytes, "written");
        assert_eq!(parse(bytes).as_deref(), Ok(core::slice::from_ref(packet)), "read");
        for length in 0..bytes.len() {
            assert!(parse(&bytes[..length]).is_err(), "{length} of {} bytes", bytes.len());
        }
    }

    /// Asserts that `packet` survives writing and parsing.
    pub(super) fn survives(packet: Packet) -> Result<(), proptest::test_runner::TestCaseError> {
        let mut out = Vec::new();
        packet.write(&mut out).unwrap();
        proptest::prop_assert_eq!(out.len() % 4, 0);
        proptest::prop_assert_eq!(parse(&out), Ok([packet].to_vec()));
        Ok(())
    }
}
