//! The receiver's RTCP, read: a datagram in, [`RtcpFeedback`] for a sender out.
//!
//! The wire has 16 bits for a packet's number and a clock of its own. A [`Reader`] places numbers by what the sender gave out
//! last ([`Numbering`]; [`Streams`] for senders of several RTP streams) and follows the receiver's clock through its wraps. It
//! opens no socket and knows no key, so simulated and real senders read with the same code.

mod numbering;
mod plain;
mod reader;
mod rtcp_feedback;
mod xr;

pub use numbering::{Numbering, Streams};
pub use reader::Reader;
pub use rtcp_feedback::{DecoderReport, RtcpFeedback};

#[cfg(test)]
mod tests;
