//! Every encoder and decoder through the interface that they share.

#[cfg(feature = "dav1d")]
mod av1;
mod functional;
#[cfg(feature = "openh264")]
mod h264;
mod layers;
#[path = "support/measure.rs"]
#[allow(dead_code, reason = "tools/calibrate uses all of it")]
mod measure;
mod model;
mod states;
mod traffic;
#[cfg(feature = "libvpx")]
mod vp8;
#[cfg(feature = "libvpx")]
mod vp9;
