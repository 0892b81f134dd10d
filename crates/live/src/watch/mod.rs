//! Watching from a program: what a browser does with a page's link, and everything measured on the way.
//!
//! ```text
//! network thread:  WHEP (offer, answer, DELETE), one UDP socket, the receiver --- frames ---> decoder thread: pictures, files
//!                                                           <--- states it did not reach ---
//! clock thread:    pings /clock                             all count in one place, which is what is reported
//! ```

mod config;
mod decoder;
mod error;
mod measured;
mod network;
mod place;
mod published;
mod record;
mod report;
mod session;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use thalweg_units::{Seed, Span};

use crate::clock::{Clock, pause};
use crate::reactor::{Poller, PollerConfig, Waker};
use crate::thread::spawn;
use crate::whip::{self, Client, Endpoint};
pub use config::{Feedback, WatchConfig};
pub use error::WatchError;
use measured::Measured;
use network::Network;
pub use place::Place;
use published::Pings;
pub use report::Report;

/// Somebody who watches, until this is finished or dropped.
pub struct Watcher {
    clock: Clock,
    stop: Arc<AtomicBool>,
    waker: Waker,
    measured: Arc<Mutex<Measured>>,
    network: Option<JoinHandle<Result<(), WatchError>>>,
}

impl Watcher {
    /// Begins. That nobody answers is known later, from [`Watcher::finish`].
    ///
    /// # Errors
    /// When the configuration makes no sense, or the system has no descriptors or no randomness.
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
            // Nobody waits for its end: a server that does not answer would hold that up.
            drop(spawn("clock", move || ping(&client, &at, &clock, &measured, &stop))?);
        }
        let network = Network::new(config, (clock, client, poller), measured.clone(), stop.clone(), random);
        let network = Some(spawn("watch", move || network.run())?);
        Ok(Watcher { clock, stop, waker, measured, network })
    }

    /// Whether it still watches.
    pub fn is_running(&self) -> bool {
        self.network.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// What was seen so far.
    pub fn report(&self) -> Report {
        self.measured.lock().unwrap_or_else(PoisonError::into_inner).report(self.clock.now())
    }

    /// Stops, says goodbye, and returns what was received and, if it ended by itself, why.
    pub fn finish(mut self) -> (Report, Result<(), WatchError>) {
        // The end first: what comes until then is recorded, and counts.
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

/// Learns the publisher's time: at first often, for the quickest answer is the one to go by, then every five seconds.
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
