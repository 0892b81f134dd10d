//! See `thalweg_fuzz::capi_engine`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::capi_engine(data));
