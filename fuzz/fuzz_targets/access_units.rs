//! See `thalweg_fuzz::access_units`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::access_units(data));
