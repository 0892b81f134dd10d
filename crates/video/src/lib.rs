//! Pictures, their sources, and metrics of their similarity.
//!
//! * [`Picture`]: 8-bit I420, and [`scale`] to another size;
//! * [`source`]: y4m, anything ffmpeg reads, a built-in scene; and which of them give access by number;
//! * [`Video`]: a video by name, and [`footage`], which opens it;
//! * [`quality`]: PSNR, SSIM by two variants, MS-SSIM, and VMAF by ffmpeg;
//! * [`barcode`]: numbers drawn on pictures;
//! * [`ffmpeg`]: the program that reads all other formats.
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
