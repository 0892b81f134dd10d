//! Reading the receiver's RTCP: takes datagrams and returns [`RtcpFeedback`] for a sender.
//!
//! RTCP carries only 16 bits of a packet's number, and times of the receiver's clock. A [`Reader`] extends numbers by
//! those the sender used last ([`Numbering`]; [`Streams`] for senders with several RTP streams) and follows the
//! receiver's clock through its wraparounds. It opens no socket and holds no key, so simulated and real senders use the
//! same code.

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
