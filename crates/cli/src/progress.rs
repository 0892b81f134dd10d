//! How far runs have got, on standard error.

use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::time::Instant;

use thalweg_units::{Span, Time};

use crate::clock::cpu_seconds;

/// The widest line that is written over.
const WIDTH: usize = 110;

/// One line that is written over, where standard error is a terminal; and a line for each run that is done.
pub(crate) struct Progress {
    runs: usize,
    terminal: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    done: usize,
    /// Those that are playing: label and share of the way.
    playing: Vec<(String, f64)>,
}

impl Progress {
    /// For this many runs.
    pub(crate) fn new(runs: usize) -> Progress {
        Progress { runs, terminal: std::io::stderr().is_terminal(), state: Mutex::default() }
    }

    /// A run begins; its own view of the progress.
    #[allow(clippy::disallowed_methods)] // Progress is for people, and they have clocks.
    pub(crate) fn begin(&self, label: String, duration: Span) -> RunProgress<'_> {
        self.change(|state| state.playing.push((label.clone(), 0.0)));
        RunProgress { all: self, label, duration, started: Instant::now(), cpu: cpu_seconds() }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        change(&mut state);
        if self.terminal {
            let playing: Vec<String> =
                state.playing.iter().map(|(label, share)| format!("{label} {:.0}%", share * 100.0)).collect();
            let line = format!("{}/{} done; {}", state.done, self.runs, playing.join(", "));
            let line: String = line.chars().take(WIDTH).collect();
            eprint!("\r{line:WIDTH$}");
            let _ = std::io::stderr().flush();
        }
    }
}

/// One run's view of the progress.
pub(crate) struct RunProgress<'a> {
    all: &'a Progress,
    label: String,
    duration: Span,
    started: Instant,
    cpu: f64,
}

impl RunProgress<'_> {
    pub(crate) fn tell(&self, now: Time) {
        let share = now.as_secs_f64() / self.duration.as_secs_f64();
        self.all.change(|state| {
            if let Some(run) = state.playing.iter_mut().find(|run| run.0 == self.label) {
                run.1 = share;
            }
        });
    }

    /// Simulated seconds over CPU seconds of the thread that played it.
    pub(crate) fn finish(self) -> f64 {
        let taken = self.started.elapsed().as_secs_f64();
        let start = if self.all.terminal { format!("\r{:WIDTH$}\r", "") } else { String::new() };
        eprintln!("{start}{:50} done in {taken:.1} s", self.label);
        self.all.change(|state| {
            state.done += 1;
            state.playing.retain(|run| run.0 != self.label);
        });
        self.duration.as_secs_f64() / (cpu_seconds() - self.cpu).max(1e-9)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.terminal {
            eprint!("\r{:WIDTH$}\r", "");
        }
    }
}
