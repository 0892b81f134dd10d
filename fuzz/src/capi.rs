//! The functions of the C library in any order: none is answered by a panic, and what was made can be freed.

#[path = "../../crates/capi/tests/support/calls.rs"]
#[allow(unsafe_code, reason = "they are functions of C")]
mod calls;

use std::ffi::{CStr, CString};

use calls::{Step, names, play_controller, play_engine};
use thalweg_capi::schemes::{THALWEG_FOR_CONTROLLER, THALWEG_FOR_ENGINE};

use crate::steps::Steps;

/// Maximum number of calls: longer inputs take time without adding cases.
const MOST_CALLS: usize = 80;

/// A controller's.
pub fn capi_controller(data: &[u8]) {
    let mut steps = Steps(data);
    let (scheme, toml) = (scheme(&mut steps, THALWEG_FOR_CONTROLLER), toml(&mut steps));
    let (mode, start) = (i32::from(steps.byte() % 3), number(&mut steps));
    play_controller(&scheme, toml.as_deref(), mode, start, &calls(&mut steps));
}

/// An engine's, also with a controller of the caller's.
pub fn capi_engine(data: &[u8]) {
    let mut steps = Steps(data);
    let (scheme, toml) = (scheme(&mut steps, THALWEG_FOR_ENGINE), toml(&mut steps));
    let how = steps.byte();
    let own = (how & 1 != 0).then(|| (0..8).map(|_| number(&mut steps)).collect());
    let scheme: Option<&CStr> = (how & 2 == 0).then_some(&scheme);
    play_engine(scheme, toml.as_deref(), own, &calls(&mut steps));
}

/// The name of one that there is, or any text.
fn scheme(steps: &mut Steps, takes: u32) -> CString {
    let known = names(takes);
    let which = usize::from(steps.byte());
    if which == 255 { text(steps) } else { known[which % known.len()].clone() }
}

/// Parameters as any text, once in four times.
fn toml(steps: &mut Steps) -> Option<CString> {
    (steps.byte() % 4 == 3).then(|| text(steps))
}

fn text(steps: &mut Steps) -> CString {
    let length = steps.byte();
    let bytes: Vec<u8> = steps.take(length.into()).iter().copied().filter(|byte| *byte != 0).collect();
    CString::new(bytes).expect("without zeros")
}

/// Often small: a byte says of how many bytes it is.
fn number(steps: &mut Steps) -> u64 {
    let width = [1, 1, 2, 3, 4, 8][usize::from(steps.byte() % 6)];
    steps.number(width)
}

fn calls(steps: &mut Steps) -> Vec<Step> {
    let mut calls = Vec::new();
    while steps.more() && calls.len() < MOST_CALLS {
        let (call, wrong, length) = (steps.byte(), steps.byte() % 40, steps.byte() % 64);
        let numbers = [(); 4].map(|()| number(steps));
        let later = number(steps);
        calls.push(Step { call, numbers, later, wrong, bytes: steps.take(length.into()).to_vec() });
    }
    calls
}
