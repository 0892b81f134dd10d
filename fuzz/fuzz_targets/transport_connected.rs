//! See `thalweg_fuzz::transport_connected`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::transport_connected(data));
