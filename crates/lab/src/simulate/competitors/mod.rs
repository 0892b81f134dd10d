//! Competitors on the path.

mod figures;
mod senders;
mod traffic;

pub(super) use figures::others;
pub(super) use senders::senders;
pub(super) use traffic::CrossTraffic;
