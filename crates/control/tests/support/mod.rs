//! A small closed loop in virtual time: a sender that obeys [`thalweg_control::SendLimits`], a bottleneck, a receiver.
//!
//! It uses controllers only through the crate's public API, like any program. Each test file uses a part of it.
#![allow(dead_code, unused_imports)]

pub mod bottleneck;
pub mod claims;
pub mod encoder;
pub mod feedback;
pub mod record;
pub mod sender;
pub mod simulation;
pub mod subjects;

pub use bottleneck::Schedule;
pub use feedback::{Clock, Style};
pub use record::Record;
pub use sender::{Pacing, Source};
pub use simulation::{Jitter, REFERENCE, Scenario};
