//! Pictures, where they come from, and how alike two of them are.
//!
//! * [`Picture`]: 8-bit I420, and [`scale`] to another size;
//! * [`source`]: y4m, anything ffmpeg reads, a built-in scene; and which of their pictures can be had again;
//! * [`Video`]: pictures by the name a person gives them, and [`footage`], which opens it;
//! * [`quality`]: PSNR, and SSIM by two variants;
//! * [`barcode`]: which picture is it;
//! * [`ffmpeg`]: the program that reads everything else.
#![forbid(unsafe_code)]

pub mod barcode;
pub mod ffmpeg;
pub mod footage;
mod picture;
pub mod quality;
mod scale;
pub mod source;
mod video;
mod widest;

pub use picture::{Picture, PictureError, Plane};
pub use scale::scale;
pub use thalweg_units::Size;
pub use video::Video;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
