//! A purely functional VP8 codec: decoding and encoding are functions of an explicit state.

pub mod kernels;
