//! Thalweg's congestion controllers in [webrtc-rs](https://github.com/webrtc-rs/webrtc).
//!
//! * [`register`]: a controller that sees each departure, with probes and padding ([`Interceptor`]).
//! * [`Estimator`]: behind webrtc-rs's own seam, in place of its `Gcc`: one line, and less to see.
//! * [`Handle`]: what the application's threads see of a controller, and tell it.
#![forbid(unsafe_code)]

mod clock;
mod estimator;
mod handle;
mod interceptor;
mod padder;
mod register;

pub use estimator::Estimator;
pub use handle::{Handle, Snapshot};
pub use interceptor::{Feedback, Interceptor};
pub use register::register;
pub use thalweg_driver::{Config, Driver, Stats, playable};
pub use thalweg_units::{Bytes, Rate};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
