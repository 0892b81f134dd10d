//! How far a run has got, on standard error.

use std::io::{IsTerminal, Write};
use std::time::Instant;

use thalweg_units::{Span, Time};

/// One line that is written over, where standard error is a terminal; otherwise a line when a run is done.
pub(crate) struct Progress {
    label: String,
    duration: Span,
    terminal: bool,
    started: Instant,
}

impl Progress {
    #[allow(clippy::disallowed_methods)] // Progress is for people, and they have clocks.
    pub(crate) fn new(label: String, duration: Span) -> Progress {
        Progress { label, duration, terminal: std::io::stderr().is_terminal(), started: Instant::now() }
    }

    pub(crate) fn tell(&self, now: Time) {
        if self.terminal {
            let share = 100.0 * now.as_secs_f64() / self.duration.as_secs_f64();
            eprint!("\r{:40} {share:3.0}%", self.label);
            let _ = std::io::stderr().flush();
        }
    }

    /// Simulated seconds over seconds taken.
    pub(crate) fn finish(&self) -> f64 {
        let taken = self.started.elapsed().as_secs_f64();
        let start = if self.terminal { "\r" } else { "" };
        eprintln!("{start}{:40} done in {taken:.1} s", self.label);
        self.duration.as_secs_f64() / taken.max(1e-9)
    }
}
