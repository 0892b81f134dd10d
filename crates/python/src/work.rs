//! Jobs that any process of any machine plays: a job as JSON, and the results that are kept of jobs.

use std::ops::ControlFlow;
use std::path::PathBuf;

use pyo3::exceptions::{PyIndexError, PyKeyboardInterrupt};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use thalweg_lab::bound::Curves;
use thalweg_lab::kept::{self, Kept, Planned};
use thalweg_lab::sweep;
use thalweg_lab::sweep::Key;
use thalweg_rmcat::Others;
use thalweg_sender::Registry;
use thalweg_units::Time;

use crate::errors::{from, raised};
use crate::files::Files;
use crate::json::{of_json, to_json};
use crate::run::Stop;

/// A job with its kind.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Work {
    /// A run of a sweep.
    Run(sweep::Job),
    /// A run of a case of the bench.
    Bench(thalweg_rmcat::Job),
    /// A run of a figure.
    Figure(thalweg_papers::Job),
}

/// The files that a job reads: SHA-256 and path of each.
#[pyfunction]
pub(crate) fn files_of(job: &str) -> PyResult<Vec<(String, PathBuf)>> {
    let inputs = match of_json(job)? {
        Work::Run(job) => job.inputs().map_err(|error| from("RunError", &error))?,
        Work::Figure(job) => job.inputs().map_err(|error| from("RunError", &error))?,
        // Its cases have no files; a folder of frame sizes is where its path says.
        Work::Bench(_) => Vec::new(),
    };
    Ok(inputs.into_iter().map(|input| (input.sha256, input.path)).collect())
}

/// Bounds of the scenarios that this process has played: a sweep plays each with several schemes.
static CURVES: Curves = Curves::new();
/// The same of the bench's runs without the contestant.
static OTHERS: Others = Others::new();

/// Plays a job, and returns its result as JSON.
#[pyfunction]
#[pyo3(signature = (job, files, stop = None))]
pub(crate) fn play(py: Python<'_>, job: &str, files: &Files, stop: Option<Py<Stop>>) -> PyResult<String> {
    let work: Work = of_json(job)?;
    let stop = stop.as_ref().map(Py::get);
    let mut see = |_: Time| match stop.is_some_and(Stop::is_set) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let refused = |error: &dyn std::error::Error| raised(py, "VersionError", &error.to_string(), None);
    let interrupted = || PyKeyboardInterrupt::new_err(());
    match work {
        Work::Run(job) => match py.detach(|| job.play(&Registry::new(), files, &CURVES, &mut see)) {
            Ok(row) => to_json(&row),
            Err(sweep::JobError::Interrupted) => Err(interrupted()),
            Err(error) => Err(refused(&error)),
        },
        Work::Bench(job) => match py.detach(|| job.play(&OTHERS, &mut see)) {
            Ok(played) => to_json(&played),
            Err(thalweg_rmcat::JobError::Interrupted) => Err(interrupted()),
            Err(error @ thalweg_rmcat::JobError::Refused { .. }) => Err(refused(&error)),
            Err(error) => Err(from("RunError", &error)),
        },
        Work::Figure(job) => match py.detach(|| job.play(files, &CURVES, &mut see)) {
            Ok(sample) => to_json(&sample),
            Err(thalweg_papers::JobError::Interrupted) => Err(interrupted()),
            Err(error @ thalweg_papers::JobError::Refused { .. }) => Err(refused(&error)),
            Err(error) => Err(from("RunError", &error)),
        },
    }
}

/// A folder of results, and the jobs that are left in it.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct Plan {
    kept: Kept,
    left: Vec<Planned<Work>>,
}

#[pymethods]
impl Plan {
    /// Opens the folder that `--plan` wrote.
    #[new]
    fn new(py: Python<'_>, folder: PathBuf) -> PyResult<Plan> {
        py.detach(|| {
            let mut left: Vec<Planned<Work>> = kept::planned(&folder).map_err(|error| from("RunError", &error))?;
            let kept = Kept::open(&folder).map_err(|error| from("RunError", &error))?;
            left.retain(|job| !kept.has(job.key));
            Ok(Plan { kept, left })
        })
    }

    fn __len__(&self) -> usize {
        self.left.len()
    }

    /// A job, as JSON.
    fn job(&self, place: usize) -> PyResult<String> {
        to_json(&self.at(place)?.job)
    }

    /// The duration of a job's run, in seconds of virtual time.
    fn duration_s(&self, place: usize) -> PyResult<f64> {
        Ok(self.at(place)?.seconds)
    }

    /// Keeps the result of a job, which is in the folder when this returns.
    fn put(&self, py: Python<'_>, place: usize, result: &str) -> PyResult<()> {
        let key: Key = self.at(place)?.key;
        py.detach(|| self.kept.put_text(key, result).map_err(|error| from("RunError", &error)))
    }
}

impl Plan {
    fn at(&self, place: usize) -> PyResult<&Planned<Work>> {
        let none = || PyIndexError::new_err(format!("unknown job {place}: there are {}", self.left.len()));
        self.left.get(place).ok_or_else(none)
    }
}
