//! See `thalweg_fuzz::published`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::published(data));
