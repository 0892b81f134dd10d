//! See `thalweg_fuzz::transport_begin`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::transport_begin(data));
