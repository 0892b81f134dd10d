//! Sweeps: a grid's jobs, and the folder of their rows.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use thalweg_lab::sweep::{self, Grid, Known, Parts, Row, Shard, Status};
use thalweg_sender::Registry;

use crate::errors::from;
use crate::files::Files;
use crate::json::{of_json, to_json};
use crate::table::{self, Table};
use crate::value;
use crate::work::Work;

/// A grid's jobs.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct Sweep(Arc<sweep::Sweep>);

#[pymethods]
impl Sweep {
    /// Expands the TOML of a grid, or a dict of its shape.
    #[staticmethod]
    fn of(py: Python<'_>, grid: &Bound<'_, PyAny>) -> PyResult<Sweep> {
        let grid: Grid = match grid.is_instance_of::<PyDict>() {
            true => value::read(grid, "GridError")?,
            false => Grid::read(grid.extract()?).map_err(|error| from("GridError", &error))?,
        };
        let expanded = py.detach(|| grid.expand(&Registry::new(), &Files::default()));
        Ok(Sweep(Arc::new(expanded.map_err(|error| from("GridError", &error))?)))
    }

    fn __len__(&self) -> usize {
        self.0.len() as usize
    }

    /// Key of the sweep: a hash of the keys of its jobs.
    #[getter]
    fn key(&self) -> String {
        self.0.key().to_string()
    }

    /// A job, as JSON.
    fn job(&self, number: u32) -> PyResult<String> {
        let job = self.0.job(number, &Registry::new(), &Files::default());
        let job = job.map_err(|error| from("GridError", &error))?;
        to_json(&Work::Run(job))
    }

    /// The duration of a job's run, in seconds of virtual time.
    fn duration_s(&self, number: u32) -> f64 {
        self.0.duration_of(number).as_secs_f64()
    }
}

/// The folder of a sweep while it is played.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct Folder {
    known: Known,
    /// Those that were known, and all that were played since.
    state: Mutex<(Parts, Vec<Row>)>,
}

#[pymethods]
impl Folder {
    /// Opens it; `resume` says whether what is in it is known, and `retry_failed` whether failed runs are not.
    #[new]
    fn new(py: Python<'_>, sweep: &Sweep, out: PathBuf, resume: bool, retry_failed: bool) -> PyResult<Folder> {
        let opened = py.detach(|| Parts::open(&out, Shard::WHOLE));
        let mut parts = opened.map_err(|error| from("RunError", &error))?;
        if retry_failed {
            parts.forget_failed();
        }
        let known = match resume {
            true => Known::of(&sweep.0, Shard::WHOLE, &parts),
            false => Known { rows: Vec::new(), left: (0..sweep.0.len()).collect() },
        };
        let rows = known.rows.clone();
        Ok(Folder { known, state: Mutex::new((parts, rows)) })
    }

    /// The numbers of the jobs that are left to play.
    #[getter]
    fn left(&self) -> Vec<u32> {
        self.known.left.clone()
    }

    /// The numbers of known runs that are to be played again, to see whether they are what they were.
    #[getter]
    fn to_check(&self) -> Vec<u32> {
        self.known.to_check().iter().map(|row| row.job).collect()
    }

    /// Checks a row that was played again.
    fn check(&self, row: &str) -> PyResult<()> {
        let again: Row = of_json(row)?;
        let known = self.known.rows.iter().find(|known| known.job == again.job);
        known.map_or(Ok(()), |known| known.check(&again).map_err(|error| from("RunError", &error)))
    }

    /// Keeps a row, which is in the folder when this returns.
    fn append(&self, py: Python<'_>, row: &str) -> PyResult<()> {
        let row: Row = of_json(row)?;
        py.detach(|| {
            let (parts, rows) = &mut *self.state();
            parts.append(&row).map_err(|error| from("RunError", &error))?;
            rows.push(row);
            Ok(())
        })
    }

    /// Has the rows survive the machine, not only the program.
    fn sync(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.state().0.sync().map_err(|error| from("RunError", &error)))
    }

    /// Writes the table, and returns its path.
    fn write(&self, py: Python<'_>, out: PathBuf) -> PyResult<PathBuf> {
        py.detach(|| sweep::write_results(&out, self.state().1.clone()).map_err(|error| from("RunError", &error)))
    }
}

impl Folder {
    fn state(&self) -> MutexGuard<'_, (Parts, Vec<Row>)> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// The table of a sweep, and its failed runs as JSON.
#[pyfunction]
pub(crate) fn results(py: Python<'_>, out: PathBuf) -> PyResult<(Table, Vec<String>)> {
    let rows = py.detach(|| sweep::read_results(&out)).map_err(|error| from("RunError", &error))?;
    let failed = rows.iter().filter(|row| row.status == Status::Failed).map(to_json).collect::<PyResult<_>>()?;
    Ok((table::rows(&rows)?, failed))
}
