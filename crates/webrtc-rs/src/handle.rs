//! Handle of the application's threads on a controller inside a connection: its state, and commands to it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use thalweg_control::{Decision, SendLimits};
use thalweg_driver::{Driver, Stats};
use thalweg_units::{ConfigError, Rate, Time, check};

/// Decisions kept for somebody who polls them.
const DECISIONS: usize = 1000;

/// A controller inside a connection: what it says, and what the application can set, which counts from the next call of
/// the connection on.
#[derive(Debug, Clone)]
pub struct Handle(Arc<Mutex<Shared>>);

/// Last output of a controller.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Snapshot {
    /// When, since the connection's first call.
    pub at: Time,
    /// The target, as webrtc-rs counts: RTP headers and payload.
    pub target: Rate,
    /// Everything that the controller limits, in bytes on the wire: a window, bursts, the share of frames to keep.
    pub limits: SendLimits,
    /// Diagnostics beside it: smoothed RTT, bytes in flight, loss.
    pub stats: Stats,
}

#[derive(Debug)]
struct Shared {
    snapshot: Snapshot,
    decisions: VecDeque<Decision>,
    sending: Option<bool>,
    demand: Option<(Rate, Rate)>,
}

impl Handle {
    pub(crate) fn new(driver: &Driver) -> Handle {
        let snapshot = snapshot(Time::ZERO, driver);
        Handle(Arc::new(Mutex::new(Shared { snapshot, decisions: VecDeque::new(), sending: None, demand: None })))
    }

    /// The controller's last output.
    pub fn snapshot(&self) -> Snapshot {
        self.lock().snapshot
    }

    /// The next decision of the controller with its reason, oldest first. Of those that nobody polls a thousand are kept.
    pub fn poll_decision(&self) -> Option<Decision> {
        self.lock().decisions.pop_front()
    }

    /// Says whether the application is sending: an estimator cannot tell silence from idleness otherwise
    /// ([`Driver::set_sending`]).
    pub fn set_sending(&self, sending: bool) {
        self.lock().sending = Some(sending);
    }

    /// Sets the targets that the application can use.
    ///
    /// # Errors
    /// When they are out of order.
    pub fn set_demand(&self, min: Rate, max: Rate) -> Result<(), ConfigError> {
        check("target", format_args!("min {min}, max {max}"))
            .is(Rate::ZERO < min && min <= max && max < Rate::MAX, "0 < min <= max")?;
        self.lock().demand = Some((min, max));
        Ok(())
    }

    /// Passes on what the application said.
    pub(crate) fn tell(&self, now: Time, driver: &mut Driver) {
        let (sending, demand) = {
            let mut shared = self.lock();
            (shared.sending.take(), shared.demand.take())
        };
        if let Some(sending) = sending {
            driver.set_sending(now, sending);
        }
        if let Some((min, max)) = demand {
            // In order, as `set_demand` checked.
            let _ = driver.on_demand(now, min, max);
        }
    }

    /// Shows what the controller says now.
    pub(crate) fn show(&self, now: Time, driver: &mut Driver) {
        let mut shared = self.lock();
        while let Some(decision) = driver.poll_decision() {
            if shared.decisions.len() == DECISIONS {
                shared.decisions.pop_front();
            }
            shared.decisions.push_back(decision);
        }
        shared.snapshot = snapshot(now, driver);
    }

    /// Nothing here panics while it holds the lock, so what a poisoned one guards is whole.
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn snapshot(at: Time, driver: &Driver) -> Snapshot {
    Snapshot { at, target: driver.target(), limits: driver.limits(), stats: driver.stats() }
}
