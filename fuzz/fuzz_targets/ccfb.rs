//! See `thalweg_fuzz::ccfb`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::ccfb(data));
