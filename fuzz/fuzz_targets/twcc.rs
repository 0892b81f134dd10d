//! See `thalweg_fuzz::twcc`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::twcc(data));
