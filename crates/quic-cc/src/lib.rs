//! Thalweg's congestion controllers for the QUIC stacks quinn 0.11 (feature `quinn`) and noq 1.4 (feature `noq`).
//!
//! * [`Factory`]: for `TransportConfig::congestion_controller_factory` of either stack;
//! * [`Settings`]: a scheme that QUIC's acknowledgements can drive, and its rates;
//! * [`Handle`], [`Snapshot`]: what an application reads and sets while a connection runs;
//! * [`Flow`]: a controller on one path, with QUIC's instants, sizes and window; the adapter of a third stack begins here.
//!
//! QUIC's acknowledgements have no arrival times: a packet counts as arrived when the sender receives its acknowledgement,
//! so that the controller's delay is the round trip, with up to `max_ack_delay` (25 ms) of the receiver's wait in it.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod factory;
mod flow;
mod frames;
mod handle;
#[cfg(feature = "noq")]
pub mod noq;
#[cfg(feature = "quinn")]
pub mod quinn;
mod settings;

pub use factory::Factory;
pub use flow::Flow;
pub use handle::{Handle, Snapshot};
pub use settings::{EXPERIMENTAL, FIRST_CLASS, Settings};
pub use thalweg_units::{Bytes, ConfigError, Rate, Span};

#[cfg(all(doctest, feature = "quinn"))]
#[doc = include_str!("../README.md")]
struct Readme;
