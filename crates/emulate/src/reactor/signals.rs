//! Signals as a source to wait for.

use std::ffi::c_int;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use signal_hook::SigId;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::{pipe, unregister};

use super::Source;

/// Some signals, which now wake a [`Poller`](super::Poller) instead of ending the process; after this is dropped they
/// have no effect.
#[derive(Debug)]
pub struct Signals {
    receiving: UnixStream,
    registered: Vec<SigId>,
}

impl Signals {
    /// All signals that ask a process to end: Ctrl-C, `kill`, a closed terminal.
    ///
    /// # Errors
    /// When the kernel has no descriptors left.
    pub fn to_end() -> io::Result<Signals> {
        Signals::of(&[SIGINT, SIGTERM, SIGHUP])
    }

    /// Only Ctrl-C, which a terminal sends to a whole process group.
    ///
    /// # Errors
    /// When the kernel has no descriptors left.
    pub fn interrupt() -> io::Result<Signals> {
        Signals::of(&[SIGINT])
    }

    /// Signals for this process only: `kill`, a closed terminal.
    ///
    /// # Errors
    /// When the kernel has no descriptors left.
    pub fn terminate() -> io::Result<Signals> {
        Signals::of(&[SIGTERM, SIGHUP])
    }

    fn of(signals: &[c_int]) -> io::Result<Signals> {
        let (receiving, sending) = UnixStream::pair()?;
        receiving.set_nonblocking(true)?;
        let mut registered = Vec::new();
        for signal in signals {
            registered.push(pipe::register(*signal, sending.try_clone()?)?);
        }
        Ok(Signals { receiving, registered })
    }

    /// Returns true if a signal has arrived since the last call.
    pub fn take(&mut self) -> bool {
        let mut buffer = [0; 16];
        let mut came = false;
        while self.receiving.read(&mut buffer).is_ok_and(|count| count > 0) {
            came = true;
        }
        came
    }
}

impl Source for Signals {
    fn descriptor(&self) -> BorrowedFd<'_> {
        self.receiving.as_fd()
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.registered.iter().for_each(|id| {
            unregister(*id);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::reactor::{Poller, PollerConfig};
    use thalweg_units::Time;

    #[test]
    fn a_signal_ends_a_wait_and_is_taken_once() {
        // A signal that no other test uses: handlers belong to the whole process.
        let mut signals = Signals::of(&[signal_hook::consts::SIGUSR2]).unwrap();
        let mut poller = Poller::new(Clock::new(), PollerConfig::default()).unwrap();
        assert!(!signals.take());
        signal_hook::low_level::raise(signal_hook::consts::SIGUSR2).unwrap();
        assert!(poller.wait(Time::NEVER, &[&signals]).unwrap().is_ready(0));
        assert!(signals.take() && !signals.take());
    }
}
