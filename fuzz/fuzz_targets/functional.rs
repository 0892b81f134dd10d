//! See `thalweg_fuzz::functional`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::functional(data));
