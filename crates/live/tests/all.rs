//! Calls by the clock: each in one process, over loopback and over emulated links.

use std::sync::{Mutex, PoisonError};

#[path = "../../transport/tests/world/ends.rs"]
mod ends;
mod http;
#[path = "../../../tests/in_real_time.rs"]
mod in_real_time;
mod load;
mod receive;
#[cfg(feature = "libvpx")]
mod relay;
mod watch;

/// Plays a test in real time, and no other beside it: the processor is fast enough for one with media, and what a process is
/// measured for is its own.
fn alone(test: impl FnMut()) {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    in_real_time::in_real_time(test);
}
