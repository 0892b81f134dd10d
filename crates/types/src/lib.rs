//! The types shared by a video sender, its encoder and its receiver.
//!
//! * [`Packet`] and its content: a [`Fragment`] of a frame, a retransmission, XOR FEC over [`Protected`] packets,
//!   audio, padding; [`PacketSizes`] has the sizes of packets;
//! * [`EncodePlan`] and [`EncodedFrame`], between the engine and an encoder; [`layers`] is a pattern of temporal
//!   layers;
//! * [`FeedbackStyle`] and [`ReceiverKind`]: what the receiver reports, and how it handles frames;
//! * [`feedback`]: the receiver's RTCP, read in the sender's own numbers.
//!
//! A sender, a receiver and a codec each depend on these types but not on one another.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod feedback;
pub mod layers;
mod packet;
mod plan;
mod protected;
mod receiver;
mod sizes;
mod state;

pub use packet::{Content, Fragment, Packet};
pub use plan::{Basis, Buffers, EncodePlan, EncodedFrame, Layer, LongTerm, Target};
pub use protected::Protected;
pub use receiver::{FeedbackStyle, ReceiverKind, StatefulReceiver};
pub use sizes::{Cut, PacketSizes};
pub use state::{StateHash, Transition};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
