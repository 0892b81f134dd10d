//! The real clock and the real network: publish, watch, receive, relay, emulate.
//!
//! Linux only: timers are timerfds, `shell` needs network namespaces and TUN devices.
#![forbid(unsafe_code)]

#[cfg(not(target_os = "linux"))]
compile_error!(
    "thalweg-live needs Linux (timerfd, network namespaces, TUN devices); everything below it builds without: \
     the command line leaves it out by itself"
);

pub mod blackbox;
pub mod clock;
pub mod emulate;
pub mod encoder;
pub(crate) mod joining;
pub mod measure;
pub mod media;
pub mod observe;
pub(crate) mod outbox;
pub(crate) mod peers;
pub mod publish;
pub mod reactor;
pub mod receive;
pub mod relay;
pub mod shell;
pub mod thread;
pub mod watch;
pub mod web;
pub mod whip;
