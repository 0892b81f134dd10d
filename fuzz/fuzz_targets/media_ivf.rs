//! See `thalweg_fuzz::media_ivf`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::media_ivf(data));
