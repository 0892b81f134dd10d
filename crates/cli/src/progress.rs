//! Progress and remaining time of runs on standard error: a bar on a terminal, a line every ten seconds in a log.

mod line;

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
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

/// The most runs of which each says that it is done: of more the bar alone tells how far they are.
const MOST_LINES: usize = 16;

/// Positions of the bar from nothing played to everything.
const POSITIONS: u64 = 10_000;

/// The progress of several runs, which may play in parallel.
pub(crate) struct Progress {
    bar: ProgressBar,
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
        let (runs, now) = (durations.len(), Instant::now());
        Progress {
            bar: bar("[{bar:30}] {wide_msg}"),
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
        let interval = if self.bar.is_hidden() { LOG_INTERVAL } else { BAR_INTERVAL };
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
        if self.bar.is_hidden() {
            eprintln!("{line}");
        } else {
            self.bar.set_position((line.share * POSITIONS as f64) as u64);
            self.bar.set_message(line.to_string());
        }
    }
}

/// One line of the terminal that standard error is; hidden in a pipe, in a file, on a terminal that erases nothing, and with --quiet.
fn bar(template: &str) -> ProgressBar {
    let can_erase = std::env::var_os("TERM").is_some_and(|terminal| terminal != "dumb");
    let target = if can_erase && !is_quiet() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let style = ProgressStyle::with_template(template).expect("a template").progress_chars("##-");
    ProgressBar::with_draw_target(Some(POSITIONS), target).with_style(style)
}

/// A line about a command that goes on until it is ended, erased with it.
#[cfg(all(feature = "live", target_os = "linux"))]
pub(crate) struct StatusLine(ProgressBar);

#[cfg(all(feature = "live", target_os = "linux"))]
impl StatusLine {
    pub(crate) fn new() -> StatusLine {
        StatusLine(bar("{wide_msg}"))
    }

    pub(crate) fn is_hidden(&self) -> bool {
        self.0.is_hidden()
    }

    pub(crate) fn show(&self, text: String) {
        self.0.set_message(text);
    }

    /// Calls `say`, which may print.
    pub(crate) fn above<T>(&self, say: impl FnOnce() -> T) -> T {
        self.0.suspend(say)
    }
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
    let asked = std::io::stdout().is_terminal().then_some(80);
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
        let took = self.started.elapsed().as_secs_f64();
        if self.all.runs <= MOST_LINES {
            self.all.bar.suspend(|| note!("{:50} done in {took:.1} s", self.label));
        }
        self.all.draw(&mut state);
        self.duration.as_secs_f64() / (cpu_seconds() - self.cpu).max(1e-9)
    }
}
