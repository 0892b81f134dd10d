//! See `thalweg_fuzz::vp8_payload`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::vp8_payload(data));
