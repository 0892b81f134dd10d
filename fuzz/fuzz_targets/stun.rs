//! See `thalweg_fuzz::stun`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::stun(data));
