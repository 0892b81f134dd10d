//! A crate without the standard library over those that need none.
//!
//! It defines what a program can have once, and `std` defines too: where any crate of the tree brings `std`, the compiler stops with
//! "found duplicate lang item `panic_impl`" (E0152). So this says on any machine what a target without `std` would.

#![no_std]

pub use {thalweg_driver, thalweg_control, thalweg_netsim, thalweg_types, thalweg_sender, thalweg_units, thalweg_wire};

#[cfg(feature = "proof")]
pub use thalweg_video;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
