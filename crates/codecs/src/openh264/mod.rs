//! H.264 by Cisco's openh264, whose source is part of its crate and needs only a C++ compiler.
//!
//! With `nasm` in the path at build time it is twice as fast and makes the same bytes: 5 instead of 12 ms to encode a
//! picture of 1280x720 at 2 Mbps and 2 instead of 3 ms to decode it; 13 instead of 28 and 5 instead of 8 ms at
//! 1920x1080 and 4 Mbps (medians of `cargo run --release -p thalweg-calibrate -- coding-time` on a 2026 server core
//! that was running other work too).

#[cfg(feature = "openh264")]
mod decoder;
#[cfg(feature = "openh264")]
mod encoder;
#[cfg(feature = "openh264")]
mod library;
mod settings;

#[cfg(feature = "openh264")]
pub use decoder::H264Decoder;
#[cfg(feature = "openh264")]
pub use encoder::H264Encoder;
pub use settings::{Complexity, Settings, Usage};

#[cfg(feature = "openh264")]
const CODEC: &str = "openh264 H.264";
