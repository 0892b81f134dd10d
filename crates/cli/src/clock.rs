//! What a thread has computed: unlike the time of day it does not count what others do on the machine.

/// CPU seconds of this thread so far.
pub(crate) fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
