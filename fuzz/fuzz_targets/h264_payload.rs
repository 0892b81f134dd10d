//! See `thalweg_fuzz::h264_payload`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::h264_payload(data));
