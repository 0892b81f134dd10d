//! GCC beside a policy: it decides all the time, and its decisions are reported only while it leads.

use thalweg_control::Decisions;
use thalweg_control::gcc::{self, Gcc};
use thalweg_control::{Controller, Decision};
use thalweg_units::ConfigError;

pub(super) struct Shadow {
    pub(super) gcc: Gcc,
    /// Decisions about who leads.
    changes: Decisions,
}

impl Shadow {
    pub(super) fn new() -> Result<Shadow, ConfigError> {
        Ok(Shadow { gcc: Gcc::new(gcc::Config::default())?, changes: Decisions::default() })
    }

    pub(super) fn record(&mut self, change: Decision) {
        self.changes.push(change);
    }

    /// The next decision: on who leads first, then those of GCC if it does.
    pub(super) fn poll(&mut self, leads: bool) -> Option<Decision> {
        let change = self.changes.pop();
        change.or_else(|| std::iter::from_fn(|| self.gcc.poll_decision()).find(|_| leads))
    }
}
