//! See `thalweg_fuzz::rtp`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::rtp(data));
