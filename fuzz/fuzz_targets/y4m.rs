//! See `thalweg_fuzz::y4m`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::y4m(data));
