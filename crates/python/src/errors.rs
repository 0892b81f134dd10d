//! The package's exceptions (python/thalweg/errors.py).

use pyo3::prelude::*;

/// A problem, as the exception of this name in `thalweg.errors`; `path` is the field that it is about, if there is one.
pub(crate) fn raised(py: Python<'_>, class: &str, message: &str, path: Option<&str>) -> PyErr {
    let made = py.import("thalweg.errors").and_then(|errors| errors.getattr(class)?.call1((message, path)));
    made.map_or_else(|error| error, PyErr::from_value)
}

/// The same with the error's own words.
pub(crate) fn from(class: &'static str, error: &dyn std::error::Error) -> PyErr {
    Python::attach(|py| raised(py, class, &error.to_string(), None))
}
