//! See `thalweg_fuzz::sdp`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::sdp(data));
