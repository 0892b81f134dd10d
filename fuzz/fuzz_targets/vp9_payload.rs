//! See `thalweg_fuzz::vp9_payload`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::vp9_payload(data));
