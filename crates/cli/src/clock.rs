//! What a thread has computed: unlike the time of day it does not count what others do on the machine.

/// CPU seconds of this thread so far.
#[cfg(unix)]
pub(crate) fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Seconds since this was asked first: other systems' clocks of a thread are not read here.
#[cfg(not(unix))]
#[allow(clippy::disallowed_methods)] // Speed is for people, and they have clocks.
pub(crate) fn cpu_seconds() -> f64 {
    static FIRST: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    FIRST.get_or_init(std::time::Instant::now).elapsed().as_secs_f64()
}
