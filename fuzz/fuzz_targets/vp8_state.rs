//! See `thalweg_fuzz::vp8_state`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::vp8_state(data));
