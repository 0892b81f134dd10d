//! See `thalweg_fuzz::scenario`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::scenario(data));
