//! A purely functional VP8 codec: decoding and encoding are functions of an explicit state.
//!
//! Other codecs are objects that change with every frame: a frame that was encoded must be sent, and one that was lost
//! cannot be undone. Here everything that a frame depends on is a value, a [`State`], and each frame leads from one
//! state to the next:
//!
//! ```text
//! decode(state, frame) -> picture, state'
//! encode(state, picture, quality) -> frame, state'
//! ```
//!
//! So a sender can encode a picture twice, at two qualities, and send the one that fits, or neither; keep the states
//! that its receiver is known to have, and go back to one when frames are lost; and identify states by their
//! [hash](State::hash) in its packets. This is the idea of Salsify (Fouladi et al., NSDI 2018). The bitstream is plain
//! VP8 (RFC 6386), which every browser decodes.
//!
//! ```
//! use thalweg_vp8::encode::{Analysis, Plan, Settings};
//! use thalweg_vp8::{Image, Size, State, decode};
//!
//! let size = Size::new(64, 48)?;
//! let grey = Image::filled(size, 90, 128, 128);
//! let settings = Settings::default();
//!
//! // One look at a picture, two candidates.
//! let start = State::new();
//! let analysis = Analysis::new(&start, &grey, &Plan::key(40), &settings)?;
//! let (fine, coarse) = (analysis.encode(20), analysis.encode(60));
//!
//! // A receiver of either is in the state that the encoder says.
//! let decoded = decode(&start, &fine.frame)?;
//! assert_eq!(decoded.state, fine.state);
//!
//! // Nothing has changed: the other can be decoded from the same state, now or later.
//! assert_eq!(decode(&start, &coarse.frame)?.state.hash(), coarse.state.hash());
//!
//! // A state goes over the network or into a file and comes back.
//! assert_eq!(State::from_bytes(&fine.state.to_bytes())?, fine.state);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules
//!
//! | module | what |
//! |---|---|
//! | [`image`] | pictures: three planes of whole macroblocks |
//! | [`state`] | what is kept from frame to frame, as a value |
//! | [`syntax`] | the bitstream as values, read and written: [`Frame`](syntax::Frame) is all that a frame says |
//! | [`bool_coder`] | the arithmetic coder below it |
//! | [`predict`], [`residual`], [`filter`] | from modes and coefficients to pixels, the same for decoder and encoder: [`reconstruct`] |
//! | [`kernels`] | the inner loops, in vectors where the processor has them |
//! | [`encode`] | motion search, mode decision, candidates |
//! | [`ivf`] | files of frames |
//!
//! # Untrusted input
//!
//! Frames and states may come from an untrusted source: malformed input gives an error with the reason as text, never a
//! panic. Memory and time are bounded by the picture's size, which is bounded by [`DecodeSettings::max_pixels`]. If a
//! frame is damaged but decodable, the picture is the one that libvpx draws. There are three differences to libvpx. A
//! rejected frame leaves the state unchanged, where libvpx keeps half of it. A frame that copies a reference with the
//! invalid code 3 is rejected, where libvpx uses an arbitrary picture. And in version 3 (whole-pixel chroma, which no
//! encoder uses) chroma from far outside the frame is the frame's edge, where libvpx leaves it undrawn.

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

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
