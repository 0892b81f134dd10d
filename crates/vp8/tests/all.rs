//! Decoder and encoder beside other implementations, and every table of kernels beside the scalar one.

mod encoder;
mod kernels;
#[cfg(feature = "libvpx")]
mod libvpx;
mod state;
#[path = "common/streams.rs"]
mod streams;
