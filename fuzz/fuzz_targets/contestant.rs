//! See `thalweg_fuzz::contestant`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::contestant(data));
