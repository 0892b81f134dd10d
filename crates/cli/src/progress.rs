//! Progress and remaining time of runs on standard error: a bar on a terminal, a line every ten seconds in a log.

mod line;

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use thalweg_units::{Span, Time};

use crate::clock::cpu_seconds;
use line::Line;

static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// From now on there is neither progress nor a note.
pub(crate) fn be_quiet() {
    IS_QUIET.store(true, Ordering::Relaxed);
}

pub(crate) fn is_quiet() -> bool {
    IS_QUIET.load(Ordering::Relaxed)
}

/// `eprintln!` of what is neither a result nor an error, unless --quiet was given.
macro_rules! note {
    ($($part:tt)*) => { if !$crate::progress::is_quiet() { eprintln!($($part)*); } };
}

/// Interval between drawings of the bar.
const BAR_INTERVAL: Duration = Duration::from_millis(100);

/// Interval between lines in a log.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

/// The width of a terminal that does not report its own.
const WIDTH: usize = 80;

/// The progress of several runs, which may play in parallel.
pub(crate) struct Progress {
    /// True if standard error is a terminal whose lines can be erased.
    terminal: bool,
    runs: usize,
    /// Simulated seconds of all runs.
    total: f64,
    started: Instant,
    state: Mutex<State>,
}

struct State {
    /// The number of finished runs, and their simulated seconds.
    done: usize,
    played: f64,
    /// The runs that are playing, by number.
    playing: Vec<(usize, Playing)>,
    begun: usize,
    drawn: Instant,
}

/// A run that is playing.
struct Playing {
    label: String,
    duration: f64,
    /// Simulated seconds so far.
    played: f64,
}

impl Progress {
    /// Progress of runs with these durations.
    #[allow(clippy::disallowed_methods)] // Progress is for people, and they have clocks.
    pub(crate) fn new(durations: impl ExactSizeIterator<Item = Span>) -> Progress {
        let can_erase = std::env::var_os("TERM").is_some_and(|terminal| terminal != "dumb");
        let (runs, now) = (durations.len(), Instant::now());
        Progress {
            terminal: std::io::stderr().is_terminal() && can_erase,
            runs,
            total: durations.map(Span::as_secs_f64).sum(),
            started: now,
            state: Mutex::new(State { done: 0, played: 0.0, playing: Vec::new(), begun: 0, drawn: now }),
        }
    }

    /// Begins a run; returns its own view of the progress.
    #[allow(clippy::disallowed_methods)]
    pub(crate) fn begin(&self, label: String, duration: Span) -> RunProgress<'_> {
        let mut state = self.state();
        let number = state.begun;
        state.begun += 1;
        let playing = Playing { label: label.clone(), duration: duration.as_secs_f64(), played: 0.0 };
        state.playing.push((number, playing));
        self.draw(&mut state);
        RunProgress { all: self, number, label, duration, started: Instant::now(), cpu: cpu_seconds() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Draws the progress, if the last drawing is old enough.
    #[allow(clippy::disallowed_methods)]
    fn draw(&self, state: &mut State) {
        let now = Instant::now();
        let interval = if self.terminal { BAR_INTERVAL } else { LOG_INTERVAL };
        if is_quiet() || now.duration_since(state.drawn) < interval {
            return;
        }
        state.drawn = now;
        let playing: f64 = state.playing.iter().map(|(_, run)| run.played).sum();
        let line = Line {
            share: ((state.played + playing) / self.total.max(1e-9)).min(1.0),
            elapsed: now.duration_since(self.started),
            done: state.done,
            runs: self.runs,
            playing: state.playing.iter().map(|(_, run)| (run.label.as_str(), run.played / run.duration)).collect(),
        };
        if self.terminal {
            draw_over(&line.bar(width() - 1));
        } else {
            eprintln!("{line}");
        }
    }

    fn erase(&self) {
        if self.terminal && !is_quiet() {
            eprint!("\r\x1b[K");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.erase();
    }
}

/// Draws one line of a terminal over the previous one, cut to its width.
pub(crate) fn draw_over(line: &str) {
    // One character less than the width: a full line would wrap on some terminals.
    let fits: String = line.chars().take(width() - 1).collect();
    eprint!("\r\x1b[K{fits}");
    let _ = std::io::stderr().flush();
}

/// Columns of the terminal that standard error is.
fn width() -> usize {
    #[cfg(unix)]
    let asked = columns_of(&std::io::stderr());
    #[cfg(not(unix))]
    let asked = None;
    asked.unwrap_or(WIDTH)
}

/// Returns true if standard output shows bold text: a terminal, unless NO_COLOR is set (no-color.org).
pub(crate) fn bold() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Columns for tables on standard output: those of the terminal; in a pipe or file each row stays one line.
pub(crate) fn width_of_output() -> usize {
    #[cfg(unix)]
    let asked = columns_of(&std::io::stdout());
    #[cfg(not(unix))]
    let asked = std::io::stdout().is_terminal().then_some(WIDTH);
    asked.unwrap_or(usize::MAX)
}

#[cfg(unix)]
fn columns_of(terminal: &impl std::os::fd::AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(terminal).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 1)
}

/// One run's view of the progress.
pub(crate) struct RunProgress<'a> {
    all: &'a Progress,
    number: usize,
    label: String,
    duration: Span,
    started: Instant,
    cpu: f64,
}

impl RunProgress<'_> {
    /// Reports that the run has reached `now`.
    pub(crate) fn report(&self, now: Time) {
        let mut state = self.all.state();
        if let Some((_, run)) = state.playing.iter_mut().find(|(number, _)| *number == self.number) {
            run.played = now.as_secs_f64().min(run.duration);
        }
        self.all.draw(&mut state);
    }

    /// Ends the run without a line of its own: for many short ones.
    pub(crate) fn end(self) {
        let mut state = self.all.state();
        self.leave(&mut state);
        self.all.draw(&mut state);
    }

    fn leave(&self, state: &mut State) {
        state.done += 1;
        state.played += self.duration.as_secs_f64();
        state.playing.retain(|(number, _)| *number != self.number);
    }

    /// Ends the run. Returns simulated seconds over CPU seconds of the thread that played it.
    pub(crate) fn finish(self) -> f64 {
        let mut state = self.all.state();
        self.leave(&mut state);
        self.all.erase();
        note!("{:50} done in {:.1} s", self.label, self.started.elapsed().as_secs_f64());
        self.all.draw(&mut state);
        self.duration.as_secs_f64() / (cpu_seconds() - self.cpu).max(1e-9)
    }
}
