//! Sending to a WHIP server: a session that is restarted whenever it ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use thalweg_units::{Random, Seed, Span};

use super::PublishError;
use super::messages::{Key, Outbox, State};
use crate::whip::{Backoff, Client, Config, Endpoint, Patched, Resource, WhipError};
use thalweg_emulate::clock::{Clock, pause};
use thalweg_emulate::thread::spawn;

/// How often a waiting thread checks whether it should stop.
const STEP: Duration = Duration::from_millis(100);
/// A session of at least this length counts as a success: the next attempt follows soon.
const LASTED: Span = Span::from_secs(10);
/// Time for a server to answer our goodbye; a request that takes longer is abandoned when the process ends.
const GOODBYE: Duration = Duration::from_millis(500);

/// The state of a WHIP session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhipState {
    /// Offering, or waiting to offer again.
    Connecting,
    /// Sending.
    Connected,
    /// It will not try again.
    Failed,
}

/// A session with a WHIP server, kept up until this is dropped.
pub struct WhipSession {
    stop: Arc<AtomicBool>,
    shared: Arc<Mutex<Shared>>,
    thread: Option<JoinHandle<()>>,
    /// Closed when the thread has ended.
    ended: Receiver<()>,
}

struct Shared {
    state: WhipState,
    error: Option<Arc<WhipError>>,
}

impl WhipSession {
    pub(super) fn start(endpoint: Endpoint, outbox: Outbox, clock: Clock) -> Result<WhipSession, PublishError> {
        let client = Config::default().build().map_err(|error| PublishError::Config(error.to_string()))?;
        let stop = Arc::new(AtomicBool::new(false));
        let shared = Arc::new(Mutex::new(Shared { state: WhipState::Connecting, error: None }));
        let random = getrandom::u64().map_err(|error| PublishError::Random(error.to_string()))?;
        let work = Work {
            client,
            endpoint,
            outbox,
            clock,
            stop: stop.clone(),
            shared: shared.clone(),
            random: Seed::new(random).random(),
        };
        let (running, ended) = channel();
        let thread = spawn("whip", move || {
            work.run();
            drop(running);
        })?;
        Ok(WhipSession { stop, shared, thread: Some(thread), ended })
    }

    /// The present state.
    pub fn state(&self) -> WhipState {
        self.shared.lock().map_or(WhipState::Failed, |shared| shared.state)
    }

    /// The server's latest refusal, if any: after that of a session that has failed it will not try again.
    pub fn error(&self) -> Option<Arc<WhipError>> {
        self.shared.lock().ok()?.error.clone()
    }
}

impl Drop for WhipSession {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Err(RecvTimeoutError::Timeout) = self.ended.recv_timeout(GOODBYE) {
            tracing::warn!("the server does not answer: it will find out by its own timeout");
        } else if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Work {
    client: Client,
    endpoint: Endpoint,
    outbox: Outbox,
    clock: Clock,
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
            self.set_state(WhipState::Connecting);
            let wait = match end {
                End::Stopped => return,
                End::Refused(error) if !error.may_pass() => {
                    tracing::error!(%error, "the server refuses for good");
                    if let Ok(mut shared) = self.shared.lock() {
                        (shared.state, shared.error) = (WhipState::Failed, Some(Arc::new(error)));
                    }
                    return;
                }
                End::Refused(error) => {
                    let wait = error.retry_after().unwrap_or(Span::ZERO).max(backoff.next(&mut self.random));
                    tracing::warn!(%error, wait = %wait.whole_millis(), "no session; trying again");
                    if let Ok(mut shared) = self.shared.lock() {
                        shared.error = Some(Arc::new(error));
                    }
                    wait
                }
                End::Lost => {
                    let wait = backoff.next(&mut self.random);
                    tracing::warn!(wait = %wait.whole_millis(), "the session is lost; trying again");
                    wait
                }
            };
            self.wait(wait);
        }
    }

    fn set_state(&self, state: WhipState) {
        if let Ok(mut shared) = self.shared.lock() {
            shared.state = state;
        }
    }

    fn wait(&self, span: Span) {
        let step = Span::from_nanos(STEP.as_nanos() as i64);
        let until = self.clock.now() + span;
        while self.clock.now() < until && !self.stop.load(Ordering::Relaxed) {
            pause((until - self.clock.now()).min(step));
        }
    }

    /// One session, from offer to end; also returns whether it lasted.
    fn session(&mut self) -> (End, bool) {
        let (states, state_changes) = channel();
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
        let begun = self.clock.now();
        let end = self.attend(key, &mut resource, &state_changes);
        let lasted = self.clock.now() - begun >= LASTED;
        self.outbox.drop_viewer(key);
        if let Err(error) = resource.close() {
            tracing::debug!(%error, "the server does not take back the session");
        }
        (end, lasted)
    }

    /// Serves a session until it ends; returns why it ended.
    fn attend(&mut self, key: Key, resource: &mut Resource, state_changes: &Receiver<State>) -> End {
        while !self.stop.load(Ordering::Relaxed) {
            match state_changes.recv_timeout(STEP) {
                Ok(State::Connected) => self.set_state(WhipState::Connected),
                Ok(State::Disconnected) => {
                    self.set_state(WhipState::Connecting);
                    // Another path is searched until the connection is given up.
                    if !self.restart(key, resource) {
                        return End::Lost;
                    }
                }
                Ok(State::Closed) | Err(RecvTimeoutError::Disconnected) => return End::Lost,
                Ok(State::Connecting) | Err(RecvTimeoutError::Timeout) => {}
            }
        }
        End::Stopped
    }

    /// Asks the server for an ICE restart; returns whether the server supports it.
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
