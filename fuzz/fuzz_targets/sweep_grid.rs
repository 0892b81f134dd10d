//! See `thalweg_fuzz::sweep_grid`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::sweep_grid(data));
