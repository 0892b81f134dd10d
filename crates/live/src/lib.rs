//! The real clock and the real network: publish, watch, emulate.
#![forbid(unsafe_code)]

pub mod whip;
