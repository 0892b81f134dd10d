//! See `thalweg_fuzz::link_header`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::link_header(data));
