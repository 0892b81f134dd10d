//! A purely functional VP8 codec: decoding and encoding are functions of an explicit state.

pub mod bool_coder;
mod decode;
pub mod encode;
pub mod filter;
pub mod image;
pub mod ivf;
pub mod kernels;
mod pool;
pub mod predict;
mod quantize;
pub mod reconstruct;
pub mod residual;
pub mod state;
pub mod syntax;

pub use decode::{DecodeSettings, Decoded, decode};
pub use image::{Image, ImageError, Plane, Size, SizeError};
pub use state::{State, StateError, StateHash};
pub use syntax::Corrupt;
