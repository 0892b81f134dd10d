//! See `thalweg_fuzz::incoming`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::incoming(data));
