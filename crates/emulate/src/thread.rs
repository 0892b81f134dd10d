//! Named threads; the names show in debuggers.

use std::io;
use std::thread::{Builder, JoinHandle};

/// Starts a thread with this name.
///
/// # Errors
/// When the system cannot start a thread.
pub fn spawn<T: Send + 'static>(name: &str, body: impl FnOnce() -> T + Send + 'static) -> io::Result<JoinHandle<T>> {
    Builder::new().name(name.into()).spawn(body)
}
