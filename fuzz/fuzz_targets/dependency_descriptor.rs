//! See `thalweg_fuzz::dependency_descriptor`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::dependency_descriptor(data));
