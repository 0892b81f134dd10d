//! Two connections of webrtc-rs: in one process over a path in virtual time ([`play`]), or in two on sockets ([`send`],
//! [`receive`]). ICE, DTLS, SRTP and all.

mod call;
mod control;
mod peer;
mod seen;
mod sockets;

pub use call::{Path, play};
pub use control::{Control, Sender, receiver};
pub use peer::{Error, Target, media_engine};
pub use seen::Seen;
pub use sockets::{receive, send};
