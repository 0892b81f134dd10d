//! Congestion controllers for the packets of another program: what every adapter to a foreign stack shares.
//!
//! A program that has its own packets, queues and timers, and wants a controller of Thalweg to say how fast it may send:
//! webrtc-rs, QUIC, GStreamer, a program in C. [`Driver`] takes what such a program knows and says what it can follow.
//!
//! * [`Driver`]: departures and reports in, a target out;
//! * [`Departure`], [`Acked`], [`Joined`]: what a program says about its packets;
//! * [`Config`]: rates and sizes as the program counts them;
//! * [`playable`]: which schemes a controller can play alone.
//!
//! Like the controllers it owns no clock and does no I/O.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod config;
mod driver;
mod error;
mod keys;
mod names;
mod packets;
mod raise;
mod reported;
mod silence;
mod sizes;
mod stats;

pub use config::Config;
pub use driver::Driver;
pub use error::DriverError;
pub use names::{playable, scheme};
pub use packets::{Acked, Departure, Joined, Outcome};
pub use sizes::RTP_OVERHEAD;
pub use stats::Stats;
pub use thalweg_types::feedback::RtcpFeedback;
pub use thalweg_wire::ParseError;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
