//! Waits for several sources and a time.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime};
use thalweg_units::{ConfigError, Span, Time, check};

use super::{Lateness, Waker};
use crate::clock::Clock;

/// How a thread waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PollerConfig {
    /// The last part of every wait that spins on the clock instead of sleeping, 0 or longer. It removes the wake-up
    /// time of a sleeping core from the lateness, at the cost of this much CPU time per timer; [`Span::ZERO`], the
    /// default, never spins.
    pub spin: Span,
}

impl PollerConfig {
    /// Checks the range of the values.
    ///
    /// # Errors
    /// When `spin` is longer than a thread may occupy a core.
    pub fn check(&self) -> Result<(), ConfigError> {
        check("spin", self.spin).within(Span::ZERO..=Span::from_millis(1), "50us")
    }
}

/// Something that becomes readable.
pub trait Source {
    /// The file descriptor that the kernel watches.
    fn descriptor(&self) -> BorrowedFd<'_>;

    /// Returns true to wait also for room to write.
    fn wants_to_write(&self) -> bool {
        false
    }
}

/// Why a wait ended. Several reasons may apply at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Woken {
    /// The time of the wake-up: the arrival time of whatever has arrived.
    pub now: Time,
    /// True if the requested time has come.
    pub due: bool,
    /// True if a [`Waker`] was used.
    pub called: bool,
    /// Indices of the sources that are readable, writable if that was requested, or failed.
    pub ready: Vec<usize>,
}

impl Woken {
    /// Returns true if the source at `index` is readable, has failed, or has room for the datagrams that it could not
    /// send.
    pub fn is_ready(&self, index: usize) -> bool {
        self.ready.binary_search(&index).is_ok()
    }
}

/// Lets one thread wait.
///
/// The timer is a timerfd with an absolute time. `ppoll`'s own timeout may be late by its thread's timer slack (50 us)
/// and by a thousandth of the wait, whichever is more (`select_estimate_accuracy` in Linux's fs/select.c); a timerfd
/// has no slack.
#[derive(Debug)]
pub struct Poller {
    clock: Clock,
    config: PollerConfig,
    timer: OwnedFd,
    /// The time that the timer is set to; [`Time::NEVER`] while it is off.
    armed: Time,
    waker: Waker,
    lateness: Lateness,
}

impl Poller {
    /// A poller that waits by `clock`.
    ///
    /// # Errors
    /// When the kernel has no descriptors left, or the configuration is invalid.
    pub fn new(clock: Clock, config: PollerConfig) -> io::Result<Poller> {
        config.check().map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        let waker = Waker::new()?;
        Ok(Poller { clock, config, timer, armed: Time::NEVER, waker, lateness: Lateness::default() })
    }

    /// A handle with which other threads can end the wait.
    pub fn waker(&self) -> Waker {
        self.waker.clone()
    }

    /// The clock it waits by.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Lateness of the waits that ended by time.
    pub fn lateness(&self) -> &Lateness {
        &self.lateness
    }

    /// Waits until one of `sources` is ready, a [`Waker`] is used, or `until`; [`Time::NEVER`] waits without a timeout.
    /// If `until` has passed, checks the sources and returns at once.
    ///
    /// # Errors
    /// When the kernel refuses; an interruption by a signal is a wake-up with no reason.
    pub fn wait(&mut self, until: Time, sources: &[&dyn Source]) -> io::Result<Woken> {
        let already_due = self.clock.now() >= until;
        if !already_due {
            self.arm(until - self.config.spin)?;
        }
        let events = |source: &&dyn Source| {
            PollFlags::IN | if source.wants_to_write() { PollFlags::OUT } else { PollFlags::empty() }
        };
        let mut watched = Vec::with_capacity(sources.len() + 2);
        watched.extend(sources.iter().map(|source| PollFd::from_borrowed_fd(source.descriptor(), events(source))));
        watched.push(PollFd::from_borrowed_fd(self.waker.as_fd(), PollFlags::IN));
        // The timer is not polled while it is off, or set for a time that has passed.
        if !already_due && until.is_set() {
            watched.push(PollFd::from_borrowed_fd(self.timer.as_fd(), PollFlags::IN));
        }
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let count = match poll(&mut watched, already_due.then_some(&at_once)) {
            Err(error) if error == rustix::io::Errno::INTR => 0,
            polled => polled?,
        };
        let happened = |index: &usize| count > 0 && !watched[*index].revents().is_empty();
        let ready: Vec<usize> = (0..sources.len()).filter(happened).collect();
        let called = happened(&sources.len());
        let rang = watched.len() > sources.len() + 1 && happened(&(sources.len() + 1));
        drop(watched);
        if called {
            self.waker.reset();
        }
        let mut now = self.clock.now();
        if rang {
            while now < until && ready.is_empty() && !called {
                std::hint::spin_loop();
                now = self.clock.now();
            }
            // The timer fires once; the next time is set anew.
            self.armed = Time::NEVER;
        }
        if rang && now >= until {
            self.lateness.record(until, now);
        }
        Ok(Woken { now, due: now >= until, called, ready })
    }

    /// Sets the timer, unless it is already set to this time.
    fn arm(&mut self, at: Time) -> io::Result<()> {
        if at == self.armed || !at.is_set() {
            return Ok(());
        }
        let off = Timespec { tv_sec: 0, tv_nsec: 0 };
        // Zero would turn it off; a time in the past fires at once.
        let value = self.clock.monotonic(at.max(Time::from_nanos(1)));
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &Itimerspec { it_interval: off, it_value: value })?;
        self.armed = at;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reactor::{UdpConfig, UdpSocket};

    fn poller() -> (Clock, Poller) {
        let clock = Clock::new();
        (clock, Poller::new(clock, PollerConfig::default()).unwrap())
    }

    #[test]
    fn a_wait_ends_at_its_time_and_never_before() {
        let (clock, mut poller) = poller();
        for micros in [1, 10, 300, 2_000, 2_000, 50] {
            let until = clock.now() + Span::from_micros(micros);
            let woken = poller.wait(until, &[]).unwrap();
            assert!(woken.due && woken.now >= until && woken.ready.is_empty() && !woken.called);
        }
        // Times that had passed before the timer was set are not counted.
        assert!(poller.lateness().count() >= 2);
    }

    #[test]
    fn a_time_that_is_over_returns_at_once_but_still_looks() {
        let (clock, mut poller) = poller();
        let receiver = UdpSocket::bind("127.0.0.1:0".parse().unwrap(), &UdpConfig::default()).unwrap();
        let mut sender = UdpSocket::bind("127.0.0.1:0".parse().unwrap(), &UdpConfig::default()).unwrap();
        assert!(poller.wait(Time::ZERO, &[&receiver]).unwrap().ready.is_empty());
        sender.send(receiver.local_address(), b"hello");
        // Loopback delivers before the send returns.
        let woken = poller.wait(Time::ZERO, &[&receiver]).unwrap();
        assert!(woken.due && woken.is_ready(0) && !woken.is_ready(1));
        assert_eq!(poller.lateness().count(), 0);
        assert!(clock.now() >= woken.now);
    }

    #[test]
    fn a_datagram_ends_a_wait_without_a_time() {
        let (_, mut poller) = poller();
        let quiet = UdpSocket::bind("127.0.0.1:0".parse().unwrap(), &UdpConfig::default()).unwrap();
        let receiver = UdpSocket::bind("127.0.0.1:0".parse().unwrap(), &UdpConfig::default()).unwrap();
        let mut sender = UdpSocket::bind("127.0.0.1:0".parse().unwrap(), &UdpConfig::default()).unwrap();
        sender.send(receiver.local_address(), b"hello");
        let woken = poller.wait(Time::NEVER, &[&quiet, &receiver]).unwrap();
        assert_eq!((woken.due, woken.called, woken.ready), (false, false, vec![1]));
    }

    #[test]
    fn another_thread_ends_a_wait_and_waking_twice_is_waking_once() {
        let (clock, mut poller) = poller();
        let waker = poller.waker();
        std::thread::spawn(move || {
            waker.wake();
            waker.clone().wake();
        })
        .join()
        .unwrap();
        assert!(poller.wait(Time::NEVER, &[]).unwrap().called);
        let woken = poller.wait(clock.now() + Span::from_millis(1), &[]).unwrap();
        assert!(woken.due && !woken.called);
    }

    #[test]
    fn a_time_put_off_does_not_ring_when_it_was_set_first() {
        let (clock, mut poller) = poller();
        let first = clock.now() + Span::from_millis(2);
        poller.waker().wake();
        assert!(poller.wait(first, &[]).unwrap().called);
        let second = first + Span::from_millis(5);
        let woken = poller.wait(second, &[]).unwrap();
        assert!(woken.due && woken.now >= second);
        // The same time after an interruption still fires.
        let third = clock.now() + Span::from_millis(2);
        poller.waker().wake();
        poller.wait(third, &[]).unwrap();
        assert!(poller.wait(third, &[]).unwrap().due);
    }

    #[test]
    fn spinning_for_good_is_refused() {
        for spin in [Span::from_millis(20), Span::from_nanos(-1)] {
            let message = Poller::new(Clock::new(), PollerConfig { spin }).unwrap_err().to_string();
            assert!(message.contains(&spin.to_string()) && message.contains("50us"), "{message}");
        }
    }

    #[test]
    fn spinning_is_never_early() {
        let clock = Clock::new();
        let mut poller = Poller::new(clock, PollerConfig { spin: Span::from_micros(100) }).unwrap();
        for _ in 0..50 {
            let until = clock.now() + Span::from_micros(400);
            assert!(poller.wait(until, &[]).unwrap().now >= until);
        }
        assert!(poller.lateness().count() > 0);
    }
}
