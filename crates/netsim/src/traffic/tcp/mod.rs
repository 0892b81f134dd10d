//! TCP with Cubic, Reno or Prague: a sender and a receiver, of bytes without contents.
//!
//! They model a Linux host as far as it matters in the competition for a queue: Cubic's window (RFC 9438) or Reno's,
//! slow start with or without HyStart++ (RFC 9406), loss detection from selective acknowledgements in sending order
//! (RFC 6675, RFC 8985), a tail loss probe (RFC 8985), the retransmission timeout (RFC 6298). The receive window never
//! limits, and a window reduction is not undone when the loss turns out to be spurious.

mod config;
mod cubic;
mod hystart;
mod outstanding;
mod prague;
mod receiver;
mod round_trip;
mod segment;
mod sender;

pub use config::{Acknowledging, Congestion, ConnectionConfig};
pub use cubic::{Cubic, CubicConfig};
pub use receiver::Receiver;
pub use segment::{Acknowledgement, Segment};
pub use sender::Sender;
