//! See `thalweg_fuzz::rtcp`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::rtcp(data));
