//! The real clock; no other module reads it.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, Timespec, clock_gettime};
use thalweg_units::{Span, Time};
use thalweg_wire::rtcp::NtpTime;

/// Seconds from the start of NTP's count (1900) to that of Unix (1970): RFC 868.
const NTP_TO_UNIX: u64 = 2_208_988_800;

/// The machine's monotonic clock, counted from when this value was made. A copy counts from the same instant, in every
/// thread.
///
/// The time of day is mapped to [`Time::ZERO`] once, when the clock is made: a later step of the machine's time of day
/// changes no mapping, so two instants keep their distance in either count.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// `CLOCK_MONOTONIC` at [`Time::ZERO`], in nanoseconds: the base of the kernel's timers.
    base: u64,
    origin: Instant,
    wall: SystemTime,
}

impl Clock {
    /// A clock that reads [`Time::ZERO`] now.
    #[allow(clippy::new_without_default)] // Two clocks are two origins; a default would hide that.
    #[allow(clippy::disallowed_methods)] // The one place that reads the clock.
    pub fn new() -> Clock {
        // The three are read within a microsecond of one another; from then on each mapping is exact.
        Clock { base: monotonic(), origin: Instant::now(), wall: SystemTime::now() }
    }

    /// The same clock, advanced by `span`: for tests of long timeouts and for fuzzing.
    #[must_use]
    pub fn later(&self, span: Span) -> Clock {
        Clock { base: self.base.saturating_sub(span.as_nanos() as u64), ..*self }
    }

    /// The time since the clock was made.
    pub fn now(&self) -> Time {
        Time::from_nanos(monotonic().saturating_sub(self.base))
    }

    /// [`Time::ZERO`] for libraries that use the standard library's `Instant`.
    pub fn origin(&self) -> Instant {
        self.origin
    }

    /// The time of day at `time`.
    pub fn wall(&self, time: Time) -> SystemTime {
        self.wall + Duration::from_nanos(time.as_nanos())
    }

    /// The time of day at `time` in the format of RTCP sender reports (RFC 3550 section 4): since 1900, in 2^-32 s.
    pub fn ntp(&self, time: Time) -> NtpTime {
        let unix = self.wall(time).duration_since(UNIX_EPOCH).unwrap_or_default();
        let nanos = u64::try_from(unix.as_nanos()).unwrap_or(u64::MAX);
        let since_1970 = NtpTime::at(Time::from_nanos(nanos)).bits();
        NtpTime::from_bits(since_1970.wrapping_add(NTP_TO_UNIX << 32))
    }

    /// `time` on `CLOCK_MONOTONIC`, for the kernel's timers.
    pub(crate) fn monotonic(&self, time: Time) -> Timespec {
        // A kernel's timespec is signed: a time beyond its range is centuries away.
        let nanos = self.base.saturating_add(time.as_nanos()).min(i64::MAX as u64);
        Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as _ }
    }
}

/// Pauses this thread for `span`: for display updates and for tests, never to time a packet.
#[allow(clippy::disallowed_methods)] // Waiting is what this is for.
pub fn pause(span: Span) {
    std::thread::sleep(Duration::from_nanos(u64::try_from(span.as_nanos()).unwrap_or(0)));
}

fn monotonic() -> u64 {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::Monotonic);
    tv_sec as u64 * 1_000_000_000 + tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_count_from_the_same_instant_and_never_backwards() {
        let clock = Clock::new();
        let copy = clock;
        let times: Vec<Time> = (0..1000).map(|i| if i % 2 == 0 { clock.now() } else { copy.now() }).collect();
        assert!(times.is_sorted());
        assert!(times[999] < Time::ZERO + Span::from_secs(10));
    }

    #[test]
    fn the_origin_is_the_same_instant_in_every_count() {
        let clock = Clock::new();
        let (before, since, after) = (clock.now(), clock.origin().elapsed(), clock.now());
        let since = Time::from_nanos(since.as_nanos() as u64);
        // The two readings when the clock is made are almost simultaneous, unless the thread is preempted between them.
        let slack = Span::from_millis(100);
        assert!(since + slack >= before && since <= after, "{before} {since} {after}");
    }

    #[test]
    fn ntp_counts_from_1900_with_the_fraction_in_the_lower_half() {
        let mut clock = Clock::new();
        clock.wall = UNIX_EPOCH + Duration::from_millis(1_500);
        assert_eq!(clock.ntp(Time::ZERO).bits(), ((2_208_988_800 + 1) << 32) + (1 << 31));
        assert_eq!(clock.ntp(Time::from_millis(500)).bits(), (2_208_988_800 + 2) << 32);
        assert_eq!(clock.wall(Time::from_millis(500)), UNIX_EPOCH + Duration::from_secs(2));
    }

    #[test]
    fn the_kernels_time_saturates_instead_of_wrapping() {
        let clock = Clock::new();
        assert!(clock.monotonic(Time::NEVER).tv_sec > clock.monotonic(Time::ZERO).tv_sec);
        let apart = clock.monotonic(Time::from_millis(1_000)).tv_sec - clock.monotonic(Time::ZERO).tv_sec;
        assert_eq!(apart, 1);
    }
}
