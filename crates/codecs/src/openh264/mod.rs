//! H.264 by Cisco's openh264, whose source comes with its crate and needs only a C++ compiler (and `nasm` in the path for its
//! assembly: without, it takes several times as long).

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
