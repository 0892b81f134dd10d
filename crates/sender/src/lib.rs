//! What to send, and when.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod frames;
