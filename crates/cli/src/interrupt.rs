//! Ctrl-C: what was played is shown, and a second Ctrl-C ends the program at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::SIGINT;
#[cfg(all(feature = "live", target_os = "linux"))]
use signal_hook::consts::{SIGHUP, SIGTERM};
use signal_hook::flag;

static REQUESTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// The exit code of a program that was interrupted, as shells have it: 128 and the signal's number.
pub(crate) const EXIT_CODE: u8 = 130;

/// Returns true if Ctrl-C was pressed since [`listen`].
pub(crate) fn requested() -> bool {
    REQUESTED.get().is_some_and(|requested| requested.load(Ordering::Relaxed))
}

/// From now on Ctrl-C, SIGTERM and SIGHUP are requests, however often they come: for a command whose processes would
/// outlive it.
#[cfg(all(feature = "live", target_os = "linux"))]
pub(crate) fn listen_to_all() {
    let requested = REQUESTED.get_or_init(Arc::default);
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let _ = flag::register(signal, requested.clone());
    }
}

/// From now on the first Ctrl-C is a request, and the second ends the program.
pub(crate) fn listen() {
    let requested = REQUESTED.get_or_init(Arc::default);
    // The order matters: the first signal must find the flag unset. Without a handler Ctrl-C ends the program anyway.
    let _ = flag::register_conditional_shutdown(SIGINT, EXIT_CODE.into(), requested.clone())
        .and_then(|_| flag::register(SIGINT, requested.clone()));
}
