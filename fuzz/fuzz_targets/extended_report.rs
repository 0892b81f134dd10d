//! See `thalweg_fuzz::extended_report`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::extended_report(data));
