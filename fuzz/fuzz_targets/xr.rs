//! See `thalweg_fuzz::xr`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::xr(data));
