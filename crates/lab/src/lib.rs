//! Experiments in virtual time.
//!
//! A [`Scenario`] defines video, codec and path; [`simulate()`] runs it for one scheme in virtual time, with real
//! pixels, packets, feedback and decoding. The results are [`record`]s of all events and an [`Outcome`], which
//! [`report`] draws.

pub mod behaviour;
pub mod bound;
pub mod contestant;
pub mod environment;
pub mod explain;
pub mod hunt;
pub mod inputs;
pub mod journal;
pub mod kept;
pub mod metrics;
mod named;
mod notes;
pub mod outcome;
mod play;
pub mod playout;
pub mod record;
pub mod report;
pub mod run_folder;
pub mod scenario;
pub mod seeds;
mod series;
pub mod setting;
pub mod simulate;
pub mod statistics;
pub mod sweep;
pub mod trace_file;
pub mod tune;
pub mod undershoot;

pub use named::{NoSender, named};
pub use notes::Note;
pub use outcome::Outcome;
pub use scenario::Scenario;
pub use simulate::{Simulation, simulate, simulate_with, unattended};
pub use thalweg_netsim::FindTrace;
pub use undershoot::Undershoot;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
