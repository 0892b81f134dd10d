//! TCP with Cubic: a sender and a receiver, for bytes that nobody looks at.
//!
//! What a Linux host does, as far as it shows in the competition for a queue: Cubic's window (RFC 9438), slow start with or without
//! HyStart++ (RFC 9406), losses found from selective acknowledgements in the order of sending (RFC 6675, RFC 8985), a probe for a lost
//! tail (RFC 8985), the retransmission timeout (RFC 6298). The receiver's window never limits, and nothing is undone when a loss turns
//! out to have been none.

mod config;
mod cubic;
mod hystart;
mod outstanding;
mod receiver;
mod round_trip;
mod segment;
mod sender;

pub use config::{Acknowledging, ConnectionConfig};
pub use cubic::{Cubic, CubicConfig};
pub use receiver::Receiver;
pub use segment::{Acknowledgement, Segment};
pub use sender::Sender;
