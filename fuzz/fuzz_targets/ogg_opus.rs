//! See `thalweg_fuzz::ogg_opus`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::ogg_opus(data));
