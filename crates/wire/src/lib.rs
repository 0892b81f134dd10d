//! Wire formats of real-time media.
//!
//! RTP packets ([`rtp`]), retransmissions ([`rtx`]), redundant payloads ([`red`]), FEC ([`flexfec`], [`ulpfec`]),
//! payloads of [`vp8`], [`vp9`], [`h264`], [`av1`] and [`opus`], and RTCP ([`rtcp`]), each parsed from and written to
//! plain byte slices. Parsing never panics: an error is a [`ParseError`] with the field, the offset and the allowed
//! range. [`unwrap`] extends the wire's wrapping counters, and [`overhead`] computes the size of a payload with all its
//! headers.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod av1;
mod bits;
mod error;
mod fec;
pub mod flexfec;
pub mod h264;
mod micros;
pub mod negotiated;
pub mod opus;
pub mod overhead;
mod reader;
pub mod red;
pub mod rtcp;
pub mod rtp;
pub mod rtx;
mod split;
pub mod ulpfec;
pub mod unwrap;
pub mod vp8;
pub mod vp9;

pub use error::{ParseError, WriteError};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
