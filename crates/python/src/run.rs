//! Playing a run, and its results.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyKeyError, PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use thalweg_lab::outcome;
use thalweg_lab::record::Keep;
use thalweg_lab::report::{About, html};
use thalweg_lab::run_folder::{self, Input};
use thalweg_lab::simulate::{self, SimulateError};
use thalweg_lab::{Scenario, Simulation, inputs, statistics};
use thalweg_sender::{Registry, SenderFactory};
use thalweg_units::{Seed, Span};

use crate::array::Array;
use crate::errors::{from, raised};
use crate::links::Links;
use crate::scenario;
use crate::sender::Sender;
use crate::table::{self, Table};

/// Ends runs in other threads.
#[pyclass(frozen, module = "thalweg._native")]
#[derive(Default)]
pub(crate) struct Stop(AtomicBool);

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Stop {
        Stop::default()
    }

    /// From now on runs that were given this end with `KeyboardInterrupt`.
    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Stop {
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Between two looks at Python: its signals, and the progress of the run.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Between two looks at the clock, in virtual time: a picture of most videos, some ms of work with pixels and codecs.
const STEP: Span = Span::from_millis(20);

/// Plays a scenario. `progress` is called with the seconds played and the seconds in all.
#[pyfunction]
#[pyo3(signature = (given, sender, links, seed, keep, progress, stop))]
pub(crate) fn run(
    py: Python<'_>,
    given: &Bound<'_, PyAny>,
    sender: &Sender,
    links: Py<Links>,
    seed: Option<u64>,
    keep: &str,
    progress: Option<Py<PyAny>>,
    stop: Option<Py<Stop>>,
) -> PyResult<Run> {
    let mut scenario = scenario::of(given)?;
    scenario.seed = seed.map_or(scenario.seed, Seed::new);
    links.get().check(py, &mut scenario)?;
    let keep = match keep {
        "all" => Keep::All,
        "summary" => Keep::Summary,
        "none" => Keep::Nothing,
        other => return Err(PyValueError::new_err(format!("keep is '{other}', must be 'all', 'summary' or 'none'"))),
    };
    if let (Some(style), Some(scheme)) = (scenario.feedback, sender.0.as_scheme()) {
        scheme.accepts(style).map_err(|error| raised(py, "ScenarioError", &error.to_string(), Some("feedback")))?;
    }
    let total = scenario.duration.as_secs_f64();
    let is_stopped = || stop.as_ref().is_some_and(|stop| stop.get().is_set());
    let look = |done: f64| {
        Python::attach(|py| {
            py.check_signals()?;
            progress.as_ref().map_or(Ok(()), |progress| progress.bind(py).call1((done, total)).map(drop))
        })
    };
    let (played, exception) = py.detach(|| {
        let mut exception = None;
        let mut see = |done: Span| {
            exception = look(done.as_secs_f64()).err();
            if exception.is_some() || is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let played = play(&scenario, &*sender.0, links.get(), keep, &mut see);
        (played, exception)
    });
    match played {
        Ok(run) => Ok(Run { scenario, sender: sender.0.clone(), links, outcome: Arc::new(run.outcome.clone()), run }),
        Err(error) => {
            let raised_in_python = sender.take_exception().or(exception);
            Err(raised_in_python.unwrap_or_else(|| exception_of(py, &error)))
        }
    }
}

#[allow(clippy::disallowed_methods)] // A person waits: how often they are looked at is no part of a run.
fn play(
    scenario: &Scenario,
    sender: &dyn SenderFactory,
    links: &Links,
    keep: Keep,
    see: &mut dyn FnMut(Span) -> ControlFlow<()>,
) -> Result<simulate::Run, SimulateError> {
    let mut find = |name: &str| links.find(name, scenario.duration, scenario.seed);
    let mut simulation = Simulation::new(scenario, sender, &Registry::new(), &mut find)?.keeping(keep);
    let mut looked = Instant::now();
    while !simulation.has_ended() {
        simulation.run_until(simulation.now() + STEP)?;
        if looked.elapsed() >= LOOK_EVERY || simulation.has_ended() {
            looked = Instant::now();
            if see(simulation.now().since_start()).is_break() {
                return Err(SimulateError::Interrupted);
            }
        }
    }
    let mut run = simulation.finish();
    if keep > Keep::Nothing {
        links.curves.judge(scenario, &mut find, &mut run.outcome);
    }
    Ok(run)
}

pub(crate) fn exception_of(py: Python<'_>, error: &SimulateError) -> PyErr {
    let class = match error {
        SimulateError::Interrupted => return PyKeyboardInterrupt::new_err(()),
        SimulateError::Config(_) | SimulateError::Path(_) | SimulateError::Scenario(_) | SimulateError::Video(_) => {
            "ScenarioError"
        }
        _ => "RunError",
    };
    raised(py, class, &error.to_string(), None)
}

/// Figures and series of one sender.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct Outcome(Arc<outcome::Outcome>);

#[pymethods]
impl Outcome {
    /// The figures, as JSON.
    fn summary(&self) -> PyResult<String> {
        serde_json::to_string(&self.0.summary).map_err(|error| from("RunError", &error))
    }

    /// Rates over time.
    fn series(&self) -> PyResult<Table> {
        table::series(&self.0.series)
    }

    /// Every captured picture.
    fn frames(&self) -> PyResult<Table> {
        table::frames(&self.0.frames)
    }

    /// The names of its variables.
    #[getter]
    fn variable_names(&self) -> Vec<&str> {
        self.0.series.variables.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The times of a variable in seconds, and its values.
    fn variable(&self, name: &str) -> PyResult<(Array, Array)> {
        if !self.variable_names().contains(&name) {
            let known = self.variable_names().join(", ");
            return Err(PyKeyError::new_err(format!("unknown variable '{name}': expected one of {known}")));
        }
        let (times, values) = self.0.series.variable(name).iter().copied().unzip();
        Ok((Array::of(times), Array::of(values)))
    }
}

/// Result of a run.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct Run {
    scenario: Scenario,
    sender: Arc<dyn SenderFactory>,
    links: Py<Links>,
    outcome: Arc<outcome::Outcome>,
    run: simulate::Run,
}

#[pymethods]
impl Run {
    /// The scheme's name.
    #[getter]
    fn scheme(&self) -> &str {
        self.sender.name()
    }

    /// The seed.
    #[getter]
    fn seed(&self) -> u64 {
        self.scenario.seed.get()
    }

    /// The hash of all events, as the summary has it.
    #[getter]
    fn fingerprint(&self) -> &str {
        &self.outcome.summary.events_fingerprint
    }

    /// The sender under test.
    fn outcome(&self) -> Outcome {
        Outcome(self.outcome.clone())
    }

    /// The competing senders.
    fn competitors(&self) -> Vec<Outcome> {
        self.run.competitors.iter().map(|outcome| Outcome(Arc::new(outcome.clone()))).collect()
    }

    /// The scenario as it was played, as JSON.
    fn scenario(&self) -> PyResult<String> {
        serde_json::to_string(&self.scenario).map_err(|error| from("RunError", &error))
    }

    /// Every event.
    fn events(&self, py: Python<'_>) -> PyResult<Table> {
        py.detach(|| table::events(&self.run.recorder))
    }

    /// Writes its folder.
    fn write(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        py.detach(|| {
            let inputs = self.inputs(&folder)?;
            let written = run_folder::write(&folder, &self.scenario, &inputs, &*self.sender, &self.run);
            written.map_err(|error| from("RunError", &error))
        })
    }
}

impl Run {
    /// The files that the run read. A trace that a program gave becomes one, in the folder.
    fn inputs(&self, folder: &std::path::Path) -> PyResult<Vec<Input>> {
        let given = &self.links.get().given;
        let mut read = inputs::of(&self.scenario).map_err(|error| from("RunError", &error))?;
        read.retain(|input| !given.contains_key(&input.name));
        for (place, (name, trace)) in given.iter().enumerate() {
            let copy = PathBuf::from(format!("inputs/given-{place}.trace"));
            let path = std::path::absolute(folder.join(&copy))?;
            std::fs::create_dir_all(path.parent().unwrap_or(folder))?;
            std::fs::write(&path, trace.to_text())?;
            let sha256 = inputs::hash(&path).map_err(|error| from("RunError", &error))?;
            read.push(Input { name: name.clone(), path, copy: Some(copy), sha256 });
        }
        Ok(read)
    }
}

/// The mean of values, and half its interval of 95 %; none of a single one.
#[pyfunction]
pub(crate) fn estimate(values: Vec<f64>) -> Option<(f64, Option<f64>)> {
    let found = statistics::estimate(&[values])?;
    Some((found.mean, found.margin()))
}

/// The report of several runs, as one HTML file.
#[pyfunction]
pub(crate) fn report(py: Python<'_>, runs: Vec<Py<Run>>, title: String, path: PathBuf) -> PyResult<()> {
    let outcomes: Vec<outcome::Outcome> = runs.iter().map(|run| (*run.borrow(py).outcome).clone()).collect();
    let command = format!("thalweg {} (Python)", env!("CARGO_PKG_VERSION"));
    let page = py.detach(|| html(&About { title, command, ..About::default() }, &outcomes));
    Ok(std::fs::write(path, page)?)
}
