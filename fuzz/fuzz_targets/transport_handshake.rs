//! See `thalweg_fuzz::transport_handshake`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::transport_handshake(data));
