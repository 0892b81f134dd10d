//! Senders: schemes by name or as a dict, and schemes around a controller written in Python.

use std::any::Any;
use std::sync::Arc;

use pyo3::prelude::*;
use thalweg_control::{Controller, Feedback, SendLimits};
use thalweg_lab::named;
use thalweg_sender::{Parts, Registry, Scheme, SenderFactory};
use thalweg_units::{Bytes, ConfigError, Rate, Size};

use crate::controller::{Exception, PythonController};
use crate::errors::{from, raised};
use crate::value;

/// A sender that runs can be played with.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct Sender(pub(crate) Arc<dyn SenderFactory>);

#[pymethods]
impl Sender {
    /// The scheme or the bound of this name, or the policy of this file (`onnx:FILE`).
    #[staticmethod]
    fn named(name: &str) -> PyResult<Sender> {
        named(&Registry::new(), name).map(Sender).map_err(|error| from("SchemeError", &error))
    }

    /// A scheme by its parameters, in the shape of `run.toml`.
    #[staticmethod]
    fn of(scheme: &Bound<'_, PyAny>) -> PyResult<Sender> {
        Ok(Sender(Arc::new(value::read::<Scheme>(scheme, "SchemeError")?)))
    }

    /// A scheme whose controllers are what `make` returns. `about` is TOML for `run.toml`.
    #[staticmethod]
    fn controlled(py: Python<'_>, name: String, around: &Sender, make: Py<PyAny>, about: String) -> PyResult<Sender> {
        let Some(around) = around.0.as_scheme().cloned() else {
            let message = format!("'{}' knows its link: no controller can be around it", around.0.name());
            return Err(raised(py, "SchemeError", &message, Some("around")));
        };
        let exception = Exception::default();
        Ok(Sender(Arc::new(Controlled { name, around, make, about, exception })))
    }

    /// The controller of python/tests/test_controller.py in Rust, in `gcc`.
    #[staticmethod]
    fn aimd_for_a_test() -> PyResult<Sender> {
        let gcc: Scheme =
            "gcc".parse().map_err(|error: thalweg_sender::scheme::UnknownScheme| from("SchemeError", &error))?;
        Ok(Sender(Arc::new(gcc.with_controller("aimd", || Ok(Aimd(Rate::from_kbps(500)))))))
    }

    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// Its parameters as JSON; `None` for what is no scheme.
    fn parameters(&self) -> Option<String> {
        serde_json::to_string(self.0.as_scheme()?).ok()
    }
}

impl Sender {
    /// Exception raised by a controller in Python.
    pub(crate) fn take_exception(&self) -> Option<PyErr> {
        self.0.as_any()?.downcast_ref::<Controlled>()?.exception.lock().ok()?.take()
    }
}

struct Controlled {
    name: String,
    around: Scheme,
    make: Py<PyAny>,
    about: String,
    exception: Exception,
}

impl SenderFactory for Controlled {
    fn name(&self) -> &str {
        &self.name
    }

    fn parts(&self, source: Size) -> Result<Parts, ConfigError> {
        let mut parts = self.around.parts(source)?;
        parts.controller = Box::new(PythonController::new(&self.make, &self.exception));
        Ok(parts)
    }

    fn based_on(&self) -> Option<&dyn SenderFactory> {
        Some(&self.around)
    }

    fn describe(&self) -> String {
        self.about.clone()
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

/// 100 kbit/s more with each report, a tenth less after a loss.
struct Aimd(Rate);

impl Controller for Aimd {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let lost = feedback.lost_bytes() > Bytes::ZERO;
        self.0 = if lost { self.0.scale(0.9) } else { self.0 + Rate::from_kbps(100) };
    }

    fn limits(&self) -> SendLimits {
        SendLimits::of_rate(self.0)
    }
}
