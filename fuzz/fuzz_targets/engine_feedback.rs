//! See `thalweg_fuzz::engine_feedback`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::engine_feedback(data));
