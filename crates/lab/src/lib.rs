//! Experiments in virtual time.
//!
//! A [`Scenario`] says which video goes through which codec over which path; [`simulate()`] plays it for one scheme, with real
//! pixels, packets, feedback and decoding, but no clock; what happened comes out as [`record`]s and as an [`Outcome`], which
//! [`report`] draws.

pub mod metrics;
pub mod outcome;
pub mod record;
pub mod report;
pub mod reproduce;
pub mod run_folder;
pub mod scenario;
pub mod simulate;
pub mod undershoot;

pub use outcome::Outcome;
pub use scenario::Scenario;
pub use simulate::{Simulation, simulate, simulate_with, unattended};
pub use thalweg_link::FindTrace;
pub use undershoot::Undershoot;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
