//! See `thalweg_fuzz::red`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::red(data));
