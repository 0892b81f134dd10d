//! CPU time of a thread, which unlike the time of day does not count what other threads and processes do; and the time of day, for
//! people who wait.

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

/// The time of day after this much time, as 14:20:05 UTC.
#[cfg(all(feature = "live", target_os = "linux"))]
#[allow(clippy::disallowed_methods)] // For people, and they have clocks.
pub(crate) fn after(time: thalweg_units::Span) -> String {
    let now = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
    let seconds = (now.as_secs_f64() + time.as_secs_f64()) as u64 % 86_400;
    format!("{:02}:{:02}:{:02} UTC", seconds / 3600, seconds / 60 % 60, seconds % 60)
}
