//! Sending to a WHIP server: a session that is begun again whenever it ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use thalweg_units::{Random, Seed, Span};

use super::camera::spawn;
use super::messages::{Key, Outbox};
use super::viewer::State;
use super::{PublishError, random};
use crate::clock::pause;
use crate::whip::{Backoff, Client, Config, Endpoint, Patched, Resource, WhipError};

/// How often a thread that waits looks whether it should stop.
const STEP: Duration = Duration::from_millis(100);
/// A session that lasted this long was a success: the next attempt is soon.
const LASTED: Span = Span::from_secs(10);
/// Attempts at an ICE restart before a new session is begun.
const RESTARTS: usize = 2;
/// What a server has for its answer to our goodbye; a request that takes longer is given up with the process.
const GOODBYE: Duration = Duration::from_millis(500);

/// What an uplink is doing, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UplinkState {
    /// Offering, or waiting to offer again.
    Connecting,
    /// Sending.
    Connected,
    /// It will not try again.
    Failed,
}

/// A session with a WHIP server, kept up until this is dropped.
pub struct Uplink {
    stop: Arc<AtomicBool>,
    shared: Arc<Mutex<Shared>>,
    thread: Option<JoinHandle<()>>,
    /// Closed when the thread is at its end.
    ended: Receiver<()>,
}

struct Shared {
    state: UplinkState,
    sessions: u64,
    error: Option<String>,
}

impl Uplink {
    pub(super) fn start(endpoint: Endpoint, outbox: Outbox) -> Result<Uplink, PublishError> {
        let client = Config::default().build().map_err(|error| PublishError::Config(error.to_string()))?;
        let stop = Arc::new(AtomicBool::new(false));
        let shared = Arc::new(Mutex::new(Shared { state: UplinkState::Connecting, sessions: 0, error: None }));
        let random = Seed::new(random::bits()?).random();
        let work = Work { client, endpoint, outbox, stop: stop.clone(), shared: shared.clone(), random };
        let (running, ended) = channel();
        let thread = spawn("whip", move || {
            work.run();
            drop(running);
        });
        Ok(Uplink { stop, shared, thread: Some(thread), ended })
    }

    /// What it is doing.
    pub fn state(&self) -> UplinkState {
        self.shared.lock().map_or(UplinkState::Failed, |shared| shared.state)
    }

    /// Sessions that the server has begun so far.
    pub fn sessions(&self) -> u64 {
        self.shared.lock().map_or(0, |shared| shared.sessions)
    }

    /// Why it will not try again, if so.
    pub fn error(&self) -> Option<String> {
        self.shared.lock().ok()?.error.clone()
    }
}

impl Drop for Uplink {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Err(RecvTimeoutError::Timeout) = self.ended.recv_timeout(GOODBYE) {
            tracing::warn!("the server does not answer: it will find out by the silence");
        } else if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Work {
    client: Client,
    endpoint: Endpoint,
    outbox: Outbox,
    stop: Arc<AtomicBool>,
    shared: Arc<Mutex<Shared>>,
    random: Random,
}

/// Why a session ended.
enum End {
    Stopped,
    Lost,
    Refused(WhipError),
}

impl Work {
    fn run(mut self) {
        let mut backoff = Backoff::default();
        while !self.stop.load(Ordering::Relaxed) {
            let (end, lasted) = self.session();
            if lasted {
                backoff.reset();
            }
            self.tell(UplinkState::Connecting);
            let wait = match end {
                End::Stopped => return,
                End::Refused(error) if !error.may_pass() => {
                    tracing::error!(%error, "the server refuses for good");
                    if let Ok(mut shared) = self.shared.lock() {
                        (shared.state, shared.error) = (UplinkState::Failed, Some(error.to_string()));
                    }
                    return;
                }
                End::Refused(error) => {
                    let wait = error.retry_after().unwrap_or(Span::ZERO).max(backoff.next(&mut self.random));
                    tracing::warn!(%error, %wait, "no session; trying again");
                    wait
                }
                End::Lost => {
                    let wait = backoff.next(&mut self.random);
                    tracing::warn!(%wait, "the session is lost; trying again");
                    wait
                }
            };
            self.wait(wait);
        }
    }

    fn tell(&self, state: UplinkState) {
        if let Ok(mut shared) = self.shared.lock() {
            shared.state = state;
        }
    }

    fn wait(&self, span: Span) {
        let step = Span::from_millis(STEP.as_millis() as i64);
        let mut left = span;
        while left > Span::ZERO && !self.stop.load(Ordering::Relaxed) {
            pause(left.min(step));
            left -= step;
        }
    }

    /// One session, from offer to end; and whether it lasted.
    fn session(&mut self) -> (End, bool) {
        let (states, news) = channel();
        let (key, offer) = match self.outbox.offer(states) {
            Some(Ok(offered)) => offered,
            Some(Err(error)) => {
                tracing::warn!(%error, "no offer can be made");
                return (End::Lost, false);
            }
            None => return (End::Lost, false),
        };
        let (mut resource, answer) = match self.client.open(&self.endpoint, &offer) {
            Ok(opened) => opened,
            Err(error) => {
                self.outbox.drop_viewer(key);
                return (End::Refused(error), false);
            }
        };
        tracing::info!(resource = resource.address(), "the server answers");
        match self.outbox.accept(key, answer) {
            Some(Ok(())) => {}
            refused => {
                if let Some(Err(error)) = refused {
                    tracing::warn!(%error, "its answer cannot be used");
                }
                let _ = resource.close();
                return (End::Lost, false);
            }
        }
        let (stopped, lasted) = self.attend(key, &mut resource, &news);
        self.outbox.drop_viewer(key);
        if let Err(error) = resource.close() {
            tracing::debug!(%error, "the server does not take back the session");
        }
        (if stopped { End::Stopped } else { End::Lost }, lasted)
    }

    /// Attends to a session until it ends: whether because it was to stop, and whether it lasted.
    fn attend(&mut self, key: Key, resource: &mut Resource, news: &Receiver<State>) -> (bool, bool) {
        let (mut steps, mut restarts) = (0u64, 0);
        let lasted = |steps: u64| STEP.as_millis() as u64 * steps >= LASTED.as_nanos() as u64 / 1_000_000;
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return (true, lasted(steps));
            }
            match news.recv_timeout(STEP) {
                Ok(State::Connected) => {
                    restarts = 0;
                    if let Ok(mut shared) = self.shared.lock() {
                        shared.state = UplinkState::Connected;
                        shared.sessions += 1;
                    }
                }
                Ok(State::Disconnected) => {
                    self.tell(UplinkState::Connecting);
                    restarts += 1;
                    if restarts > RESTARTS || !self.restart(key, resource) {
                        return (false, lasted(steps));
                    }
                }
                Ok(State::Closed) | Err(RecvTimeoutError::Disconnected) => return (false, lasted(steps)),
                Ok(State::Connecting) => {}
                Err(RecvTimeoutError::Timeout) => steps += 1,
            }
        }
    }

    /// Asks the server for an ICE restart; whether it goes along.
    fn restart(&mut self, key: Key, resource: &mut Resource) -> bool {
        let Some(Some(fragment)) = self.outbox.restart(key) else { return false };
        match resource.restart(&fragment) {
            Ok(Patched::Restarted(theirs)) => self.outbox.restarted(key, theirs).unwrap_or(false),
            Ok(Patched::Taken | Patched::Unsupported) => {
                tracing::info!("the server does not restart ICE: a new session is needed");
                false
            }
            Err(error) => {
                tracing::info!(%error, "no ICE restart: a new session is needed");
                false
            }
        }
    }
}
