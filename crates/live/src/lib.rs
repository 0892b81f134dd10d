//! The real network: publish, watch, receive, relay.
//!
//! Linux only, as the event loop of [`thalweg_emulate`] under it is.
#![forbid(unsafe_code)]

#[cfg(not(target_os = "linux"))]
compile_error!(
    "thalweg-live needs Linux (timerfd); what does not use the network builds without: \
     the command line leaves it out by itself"
);

pub mod blackbox;
pub mod encoder;
#[cfg(test)]
#[path = "../../../tests/in_real_time.rs"]
mod in_real_time;
pub(crate) mod joining;
pub mod measure;
pub mod media;
pub mod observe;
pub(crate) mod outbox;
pub(crate) mod peers;
pub mod publish;
pub mod receive;
pub mod relay;
pub mod watch;
pub mod web;
pub mod whip;
