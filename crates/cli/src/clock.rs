//! CPU time of a thread: unlike the time of day it does not count what other threads and processes do.

/// CPU seconds of this thread so far.
#[cfg(unix)]
pub(crate) fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Seconds since the first call: thread clocks of other systems are not read here.
#[cfg(not(unix))]
#[allow(clippy::disallowed_methods)] // Speed is for people, and they have clocks.
pub(crate) fn cpu_seconds() -> f64 {
    static FIRST: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    FIRST.get_or_init(std::time::Instant::now).elapsed().as_secs_f64()
}
