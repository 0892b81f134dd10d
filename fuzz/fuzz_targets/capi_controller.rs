//! See `thalweg_fuzz::capi_controller`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| thalweg_fuzz::capi_controller(data));
