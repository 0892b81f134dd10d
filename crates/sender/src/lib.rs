//! The sender engine: decides what to send, and when.
//!
//! A real-time video sender without clock, I/O or pixels: [`Engine`] takes picture numbers, encoded sizes and receiver
//! reports, and returns packets. The kind of sender comes from a [`Scheme`], a composition of a congestion controller
//! (`thalweg-control`), [`pacing`], a [`padding`], a frame policy ([`frames`]) and [`repair`]; each published system is
//! one short file in [`scheme`].
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod engine;
mod event;
pub mod frames;
pub mod pacing;
pub mod padding;
mod parts;
mod probing;
mod queue;
pub mod repair;
pub mod scheme;
#[cfg(test)]
mod testing;

pub use engine::{Camera, Engine, Output};
pub use event::{Event, Timed, Wake, Why};
pub use parts::Parts;
pub use probing::Prober;
pub use scheme::{Registry, Scheme, SenderFactory};
pub use thalweg_types::{Content, FeedbackStyle, Fragment, Packet, PacketSizes};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
