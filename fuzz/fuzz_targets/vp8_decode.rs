//! See `thalweg_fuzz::vp8_decode`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::vp8_decode(data));
