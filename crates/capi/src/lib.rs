//! Thalweg for C, and for every language that calls C: `thalweg.h` and `libthalweg`.
//!
//! * [`controller`]: a congestion controller around the packets of another program;
//! * [`engine`]: the whole sender, which says what to encode and which packet leaves when;
//! * [`limits`]: what a controller allows, [`schemes`]: what there is, [`error`]: what calls answer.
//!
//! Rust programs use `thalweg-driver` and `thalweg-sender`, of which this is a translation: pointers become references
//! once, at the border, and everything behind it is safe. `docs/c.md` has the calling order and what it costs.
//!
//! The rules of the header hold for every function, and are the safety conditions of all: pointers are NULL or valid
//! for what the declaration says, handles are those that this library made and did not free, and callbacks do not
//! unwind.
#![allow(clippy::missing_safety_doc, reason = "the rules of the header hold for every function")]

// A panic becomes an answer; one that aborts would end the program that called.
#[cfg(not(panic = "unwind"))]
compile_error!("thalweg-capi needs panic = \"unwind\", which is every profile's default");

pub mod clock;
pub mod controller;
pub mod engine;
pub mod error;
mod handle;
pub mod limits;
pub mod schemes;
mod sized;
mod text;

/// Version of this interface: raised when a program that was compiled with an older header no longer works.
pub const THALWEG_ABI: u32 = 1;

/// THALWEG_ABI of the library, to compare with the header's.
#[unsafe(no_mangle)]
pub extern "C" fn thalweg_abi() -> u32 {
    THALWEG_ABI
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
