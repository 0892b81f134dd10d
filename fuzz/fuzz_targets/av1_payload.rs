//! See `thalweg_fuzz::av1_payload`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::av1_payload(data));
