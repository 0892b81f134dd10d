//! Policies and controllers that were learned.

mod learned;
mod observations;
#[cfg(feature = "onnx")]
mod onnx;
