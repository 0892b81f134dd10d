//! Congestion controllers for real-time media.
//!
//! A congestion controller receives the packets that were sent ([`SentPacket`]) and their outcome ([`Feedback`]), and
//! limits the bytes in flight and the send rate ([`SendLimits`]). It handles packets, not video. It owns no clock and
//! does no I/O: the caller passes the time.
//!
//! * [`Controller`]: the trait that every controller implements.
//! * [`History`]: sent packets and their fate, which turns every kind of report into the same [`Feedback`].
//! * [`estimate`]: filters that controllers share.
//! * [`ecn`]: when packets say ECT(1), and a limit that marks lower.
//! * one folder per controller.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod controller;
mod decisions;
pub mod ecn;
pub mod estimate;
mod feedback;
mod packet;

pub mod bbr;
pub mod belabox;
pub mod camel;
pub mod cnadu;
pub mod copa;
pub mod fbra;
pub mod fixed;
pub mod gcc;
pub mod nada;
pub mod openpilot;
pub mod pudica;
pub mod rebera;
mod reporting;
pub mod rocc;
pub mod rrtcc;
pub mod salsify;
pub mod scream;
pub mod scream_libwebrtc;
pub mod sqp;
pub mod tfrc;
pub mod thalweg;
mod trains;

pub use controller::{
    Controller, Decision, Demand, DynController, FrameQueued, MediaLimit, PaddingLimit, Probe, SendLimits, Signal,
};
pub use decisions::Decisions;
pub use feedback::{
    Acknowledgement, Cause, Config as LossDetectionConfig, End, Fate, Feedback, History, PathReport, Report,
};
pub use packet::{FramePlace, MSS, PacketId, Payload, SentPacket};
pub use thalweg_units::ConfigError;

#[cfg(test)]
mod testing;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
