//! Threads that produce something at given times until they are stopped.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use thalweg_units::{Span, Time};

use thalweg_emulate::clock::{Clock, pause};
use thalweg_emulate::thread::spawn;

/// Such a thread. Dropping this stops it.
pub(crate) struct Running {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// Starts a thread that runs `body`; `ended` gets its result if it ended by itself.
    ///
    /// # Errors
    /// When the system cannot start a thread.
    pub(crate) fn start<T: 'static>(
        name: &str,
        body: impl FnOnce(&AtomicBool) -> T + Send + 'static,
        ended: impl FnOnce(T) + Send + 'static,
    ) -> io::Result<Running> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = spawn(name, move || {
            let end = body(&stopped);
            if !stopped.load(Ordering::Relaxed) {
                ended(end);
            }
        })?;
        Ok(Running { stop, thread: Some(thread) })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // A thread that waits for standard input or a device may never wake up: it is left to the end of the process.
        if let Some(thread) = self.thread.take().filter(|thread| thread.is_finished()) {
            let _ = thread.join();
        }
    }
}

/// Waits until `due`, or until `stop` is set.
pub(crate) fn wait_until(clock: &Clock, due: Time, stop: &AtomicBool) {
    /// The maximum delay of a stop.
    const STEP: Span = Span::from_millis(100);
    loop {
        let left = due - clock.now();
        if left <= Span::ZERO || stop.load(Ordering::Relaxed) {
            return;
        }
        pause(left.min(STEP));
    }
}
