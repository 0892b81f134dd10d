//! Links: traces made in Python, and how a scenario's names find theirs.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use thalweg_lab::bound::Curves;
use thalweg_lab::inputs;
use thalweg_units::{Rate, Seed, Span};

use crate::array::Array;
use crate::errors::{from, raised};

/// Delivery opportunities of 1500 bytes, repeated without end.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct Trace(pub(crate) Arc<thalweg_netsim::Trace>);

#[pymethods]
impl Trace {
    /// The link of this name: a file of any format, a rate, or a synthetic link of this duration and seed.
    #[staticmethod]
    fn named(name: &str, seconds: f64, seed: u64) -> PyResult<Trace> {
        let link = inputs::link(name, Span::from_secs_f64(seconds), Seed::new(seed));
        link.map(Trace).map_err(|error| from("TraceError", &error))
    }

    /// These rates in bit/s, each for so many milliseconds.
    #[staticmethod]
    fn of_rates(rates_bps: Vec<f64>, step_ms: u64) -> PyResult<Trace> {
        let pieces = rates_bps.iter().map(|rate| (step_ms, Rate::from_bps_f64(*rate)));
        let trace = thalweg_netsim::Trace::from_rates(pieces);
        trace.map(|trace| Trace(Arc::new(trace))).map_err(|error| from("TraceError", &error))
    }

    /// Opportunities at these milliseconds, in order.
    #[staticmethod]
    fn of_opportunities(millis: Vec<u64>) -> PyResult<Trace> {
        let trace = thalweg_netsim::Trace::new(millis);
        trace.map(|trace| Trace(Arc::new(trace))).map_err(|error| from("TraceError", &error))
    }

    /// The times of the opportunities, in milliseconds.
    fn opportunities_ms(&self) -> Array {
        Array::of(self.0.millis().iter().map(|at| *at as i64).collect())
    }

    /// The time after which it repeats, in seconds.
    #[getter]
    fn period_s(&self) -> f64 {
        self.0.period().as_secs_f64()
    }

    /// Its mean rate, in bit/s.
    #[getter]
    fn mean_rate_bps(&self) -> f64 {
        self.0.mean_rate().as_bps_f64()
    }

    /// Writes it in Mahimahi's format.
    fn write(&self, path: PathBuf) -> PyResult<()> {
        Ok(std::fs::write(path, self.0.to_text())?)
    }
}

/// The traces that a program gives by name, and the bounds of the scenarios over them.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct Links {
    pub(crate) given: BTreeMap<String, Arc<thalweg_netsim::Trace>>,
    pub(crate) curves: Curves,
}

#[pymethods]
impl Links {
    #[new]
    fn new(py: Python<'_>, given: BTreeMap<String, Py<Trace>>) -> Links {
        let given = given.into_iter().map(|(name, trace)| (name, trace.borrow(py).0.clone())).collect();
        Links { given, curves: Curves::new() }
    }
}

impl Links {
    /// The link of this name: of those given, or as the command line finds it.
    pub(crate) fn find(&self, name: &str, duration: Span, seed: Seed) -> Result<Arc<thalweg_netsim::Trace>, String> {
        match self.given.get(name) {
            Some(trace) => Ok(trace.clone()),
            None => inputs::link(name, duration, seed).map_err(|error| error.to_string()),
        }
    }

    /// Refuses a trace that a scenario does not name: it would be ignored.
    pub(crate) fn check(&self, py: Python<'_>, scenario: &mut thalweg_lab::Scenario) -> PyResult<()> {
        let names: Vec<String> = inputs::names(scenario).into_iter().map(|(_, name)| name.clone()).collect();
        match self.given.keys().find(|given| !names.contains(given)) {
            None => Ok(()),
            Some(unused) => {
                let known = names.join(", ");
                let message = format!("the scenario has no link '{unused}' that could be this trace; it names {known}");
                Err(raised(py, "ScenarioError", &message, Some("traces")))
            }
        }
    }
}
