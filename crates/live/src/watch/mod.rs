//! Receiving in a program: does what a browser does with a page's link, and measures everything.
//!
//! ```text
//! network thread:  WHEP (offer, answer, DELETE), one UDP socket, the receiver --- frames ---> decoder thread: pictures, files
//!                                                           <--- states it did not reach ---
//! clock thread:    pings /clock                             all count in one place, which is what is reported
//! ```

mod config;
mod error;
mod network;
mod place;
mod published;
mod session;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use thalweg_units::{Seed, Span};

use crate::measure::Measured;
pub use crate::measure::{Feedback, Report};
use crate::whip::{self, Client, Endpoint};
pub use config::WatchConfig;
pub use error::WatchError;
use network::Network;
pub use place::Place;
use published::Pings;
use thalweg_emulate::clock::{Clock, pause};
use thalweg_emulate::reactor::{Poller, PollerConfig, Waker};
use thalweg_emulate::thread::spawn;
// For `thalweg-fuzz`.
#[doc(hidden)]
pub use published::Published;

/// A running watcher; it ends when finished or dropped.
pub struct Watcher {
    clock: Clock,
    stop: Arc<AtomicBool>,
    waker: Waker,
    measured: Arc<Mutex<Measured>>,
    network: Option<JoinHandle<Result<(), WatchError>>>,
}

impl Watcher {
    /// Starts watching. That no server answers is reported later, by [`Watcher::finish`].
    ///
    /// # Errors
    /// When the configuration is invalid, or the system has no descriptors or no random numbers left.
    pub fn start(config: WatchConfig, clock: Clock) -> Result<Watcher, WatchError> {
        config.check()?;
        let client = whip::Config::default().build()?;
        let poller = Poller::new(clock, PollerConfig::default())?;
        let waker = poller.waker();
        let stop = Arc::new(AtomicBool::new(false));
        let measured = Arc::new(Mutex::new(Measured::new(config.late)));
        let random = Seed::new(getrandom::u64().map_err(|error| WatchError::Random(error.to_string()))?).random();
        if let Some(at) = config.place.clock.clone() {
            let (client, measured, stop) = (client.clone(), measured.clone(), stop.clone());
            // This thread is not joined: a server that does not answer would delay the end.
            drop(spawn("clock", move || ping(&client, &at, &clock, &measured, &stop))?);
        }
        let network = Network::new(config, (clock, client, poller), measured.clone(), stop.clone(), random);
        let network = Some(spawn("watch", move || network.run())?);
        Ok(Watcher { clock, stop, waker, measured, network })
    }

    /// Returns true while it still runs.
    pub fn is_running(&self) -> bool {
        self.network.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// The statistics so far.
    pub fn report(&self) -> Report {
        self.measured.lock().unwrap_or_else(PoisonError::into_inner).report(self.clock.now())
    }

    /// Stops and says goodbye. Returns the statistics and, if the watcher had ended by itself, the error.
    pub fn finish(mut self) -> (Report, Result<(), WatchError>) {
        // Ends first: everything until then is recorded and counted.
        let ended = self.end();
        (self.report(), ended)
    }

    fn end(&mut self) -> Result<(), WatchError> {
        self.stop.store(true, Ordering::Relaxed);
        self.waker.wake();
        match self.network.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(ended)) => ended,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// Measures the offset to the publisher's clock: frequently at first, since the ping with the shortest round trip is
/// the most accurate, then every five seconds.
fn ping(client: &Client, at: &Endpoint, clock: &Clock, measured: &Mutex<Measured>, stop: &AtomicBool) {
    const OFTEN: u32 = 5;
    const STEP: Span = Span::from_millis(100);
    let mut pings = Pings::default();
    for turn in 0u32.. {
        match pings.ping(client, at, clock) {
            Ok(()) => measured.lock().unwrap_or_else(PoisonError::into_inner).on_offset(pings.offset_ms()),
            Err(error) => tracing::debug!(%error, "the publisher's time is not known"),
        }
        let steps = if turn < OFTEN { 1 } else { 50 };
        for _ in 0..steps {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            pause(STEP);
        }
    }
}
