//! Wakes a thread at the right moment: for sockets, other threads, and a timer with nanosecond resolution.
//!
//! ```no_run
//! use thalweg_emulate::clock::Clock;
//! use thalweg_emulate::reactor::{Poller, PollerConfig, UdpConfig, UdpSocket};
//! use thalweg_units::Span;
//!
//! # fn main() -> std::io::Result<()> {
//! let clock = Clock::new();
//! let mut poller = Poller::new(clock, PollerConfig::default())?;
//! let mut socket = UdpSocket::bind("127.0.0.1:0".parse().unwrap(), &UdpConfig::default())?;
//! let waker = poller.waker(); // for other threads
//! loop {
//!     let woken = poller.wait(clock.now() + Span::from_millis(5), &[&socket])?;
//!     if woken.is_ready(0) {
//!         socket.receive(|datagram| println!("{} at {}", datagram.from, woken.now));
//!     }
//! }
//! # }
//! ```

mod lateness;
mod poller;
mod signals;
mod udp;
mod waker;

pub use lateness::Lateness;
pub use poller::{Poller, PollerConfig, Source, Woken};
pub use signals::Signals;
pub use udp::{Received, Transmit, UdpConfig, UdpCounts, UdpSocket};
pub use waker::Waker;
