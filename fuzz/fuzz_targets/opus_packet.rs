//! See `thalweg_fuzz::opus_packet`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::opus_packet(data));
