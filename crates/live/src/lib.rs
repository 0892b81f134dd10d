//! The real clock and the real network: publish, watch, emulate.
#![forbid(unsafe_code)]

pub mod clock;
pub mod emulate;
mod encoder;
pub mod media;
pub mod observe;
pub mod publish;
pub mod reactor;
pub mod rehearse;
pub mod shell;
mod thread;
pub mod watch;
pub mod web;
pub mod whip;
