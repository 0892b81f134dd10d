//! See `thalweg_fuzz::trace_file`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::trace_file(data));
