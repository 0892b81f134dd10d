//! The CPU time of a thread, which other programs on the machine do not affect.
#![allow(unsafe_code)]

/// CPU time of this thread in nanoseconds.
pub fn running() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call fills the structure it is given.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
