//! See `thalweg_fuzz::block_code`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::block_code(data));
