//! A sender engine for real-time video, and the laboratory that measures it.
//!
//! One crate to depend on. These modules are always available and need no clock, no I/O and no `std`:
//!
//! * [`control`]: congestion controllers on their own;
//! * [`sender`]: the engine, which turns a camera's pictures into packets with any controller and frame policy;
//! * [`types`]: the types shared by sender, encoder and receiver;
//! * [`wire`]: RTP, RTCP and payload formats;
//! * [`driver`]: a controller around another program's packets;
//! * [`netsim`]: an emulated path;
//! * [`units`]: times, rates and bytes as types.
//!
//! The rest is behind features, none of which is on by default:
//!
//! | feature | module | what it adds |
//! |---|---|---|
//! | `serde` | | configurations as text |
//! | `lab` | `lab`, `traces`, `learned`, `codecs`, `video` | experiments in virtual time, and learning in them; Rust alone |
//! | `codecs-libvpx` | `codecs`, `video` | VP8 and VP9 (Debian: `libvpx-dev`) |
//! | `codecs-openh264` | `codecs`, `video` | H.264 (a C++ compiler) |
//! | `session` | `session`, `transport`, `receiver` | WebRTC without clock and sockets |
//! | `emulate` | `emulate` | emulated links for real packets (Linux) |
//! | `live` | `live`, `emulate` | a publisher to browsers and WHIP servers (Linux) |
//!
//! # Stability
//!
//! Within a minor version the interface of these does not change: [`units`], [`control`], [`types`], [`driver`], the sender's
//! [`Engine`](sender::Engine), [`Parts`](sender::Parts) and [`FramePolicy`](sender::frames::FramePolicy), and [`prelude`].
//! Types that will get more fields or variants are `#[non_exhaustive]`; one that is not gets another field or variant with a
//! new minor version alone. Everything else may change in any release before 1.0:
//! `wire`, `netsim`, the rest of `sender`, the parameters of controllers and schemes (a file with those of an earlier version
//! may be refused), and all that is behind a feature.
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub use thalweg_control as control;
pub use thalweg_driver as driver;
pub use thalweg_netsim as netsim;
pub use thalweg_sender as sender;
pub use thalweg_types as types;
pub use thalweg_units as units;
pub use thalweg_wire as wire;

#[cfg(feature = "codecs")]
pub use thalweg_codecs as codecs;
#[cfg(all(feature = "emulate", target_os = "linux"))]
pub use thalweg_emulate as emulate;
#[cfg(feature = "lab")]
pub use thalweg_lab as lab;
#[cfg(feature = "lab")]
pub use thalweg_learned as learned;
#[cfg(all(feature = "live", target_os = "linux"))]
pub use thalweg_live as live;
#[cfg(feature = "session")]
pub use thalweg_receiver as receiver;
#[cfg(feature = "session")]
pub use thalweg_session as session;
#[cfg(feature = "lab")]
pub use thalweg_traces as traces;
#[cfg(feature = "session")]
pub use thalweg_transport as transport;
#[cfg(feature = "codecs")]
pub use thalweg_video as video;

/// Prelude for a program with its own controller, policy or sender: `use thalweg::prelude::*;`.
pub mod prelude {
    pub use thalweg_control::{Controller, Feedback, SendLimits, SentPacket};
    pub use thalweg_sender::frames::FramePolicy;
    pub use thalweg_sender::{Camera, Engine, Output, Scheme, SenderFactory};
    pub use thalweg_units::{Bytes, ConfigError, Rate, Size, Span, Time};
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
