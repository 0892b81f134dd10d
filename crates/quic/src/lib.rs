//! What Thalweg's congestion controllers for quinn and noq share.
//!
//! * [`Settings`]: a scheme that QUIC's acknowledgements can drive, and its rates;
//! * [`Flow`]: its controller on one path, with QUIC's instants, sizes and window;
//! * [`Handle`], [`Snapshot`]: what an application reads and says while a connection runs.
//!
//! QUIC's acknowledgements have no arrival times: a packet counts as arrived when the sender hears of it, so that the
//! controller's delay is the round trip, with up to `max_ack_delay` (25 ms) of the receiver's wait in it.
#![forbid(unsafe_code)]

mod flow;
mod frames;
mod handle;
mod settings;

pub use flow::Flow;
pub use handle::{Handle, Snapshot};
pub use settings::{EXPERIMENTAL, FIRST_CLASS, Settings};
