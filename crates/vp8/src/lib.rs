//! A purely functional VP8 codec: decoding and encoding are functions of an explicit state.

pub mod bool_coder;
pub mod image;
pub mod kernels;
pub mod syntax;

pub use image::{Image, ImageError, Plane, Size, SizeError};
pub use syntax::Corrupt;
