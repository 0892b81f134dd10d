//! See `thalweg_fuzz::ulpfec`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::ulpfec(data));
