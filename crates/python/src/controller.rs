//! A controller written in Python, behind the engine's seam.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, OnceLock};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use thalweg_control::{Controller, Demand, Feedback, PaddingLimit, SendLimits, SentPacket};
use thalweg_units::{Bytes, Rate, Time};

use crate::errors::raised;
use crate::feedback;

/// The first exception of the controllers of a run: it ends the run and is raised from it.
pub(crate) type Exception = Arc<Mutex<Option<PyErr>>>;

/// The optional methods that the class overrides; the others are never called.
#[derive(Clone, Copy)]
struct Overrides {
    on_sent: bool,
    on_demand: bool,
    timeout: bool,
    inspect: bool,
}

pub(crate) struct PythonController {
    /// An instance of `thalweg.Controller`; `None` if it could not be made.
    object: Option<Py<PyAny>>,
    overrides: Overrides,
    /// As of the last call: the limits are pure, so they change with no other.
    limits: SendLimits,
    next_timeout: Time,
    exception: Exception,
    failure: OnceLock<String>,
}

impl PythonController {
    /// The controller that `make` returns.
    pub(crate) fn new(make: &Py<PyAny>, exception: &Exception) -> PythonController {
        let none = Overrides { on_sent: false, on_demand: false, timeout: false, inspect: false };
        let mut controller = PythonController {
            object: None,
            overrides: none,
            limits: SendLimits::of_rate(Rate::ZERO),
            next_timeout: Time::NEVER,
            exception: exception.clone(),
            failure: OnceLock::new(),
        };
        let made = Python::attach(|py| {
            let object = make.bind(py).call0()?;
            let base = py.import("thalweg.controller")?.getattr("Controller")?;
            let class = object.get_type();
            let has = |name: &str| PyResult::Ok(!class.getattr(name)?.is(base.getattr(name)?));
            let (on_sent, on_demand, inspect) = (has("on_sent")?, has("on_demand")?, has("inspect")?);
            let timeout = has("on_timeout")? || has("next_timeout")?;
            PyResult::Ok((object.unbind(), Overrides { on_sent, on_demand, timeout, inspect }))
        });
        match made {
            Ok((object, overrides)) => {
                (controller.object, controller.overrides) = (Some(object), overrides);
                controller.call(|_| Ok(()));
            }
            Err(error) => controller.fail(error),
        }
        controller
    }

    fn fail(&self, error: PyErr) {
        let _ = self.failure.set(error.to_string());
        if let Ok(mut first) = self.exception.lock() {
            first.get_or_insert(error);
        }
    }

    /// Calls the object, and reads its limits and its next timeout, which may have changed.
    fn call(&mut self, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<()>) {
        let Some(object) = self.object.as_ref().filter(|_| self.failure.get().is_none()) else { return };
        let called = Python::attach(|py| {
            let object = object.bind(py);
            call(object)?;
            let next = if self.overrides.timeout { next_timeout(object)? } else { Time::NEVER };
            PyResult::Ok((limits(object)?, next))
        });
        match called {
            Ok((limits, next_timeout)) => (self.limits, self.next_timeout) = (limits, next_timeout),
            Err(error) => self.fail(error),
        }
    }
}

impl Controller for PythonController {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let feedback = feedback::Feedback::of(feedback);
        self.call(|object| object.call_method1("on_feedback", (feedback,)).map(drop));
    }

    fn limits(&self) -> SendLimits {
        self.limits
    }

    fn on_sent(&mut self, packet: &SentPacket) {
        if self.overrides.on_sent {
            let packet = feedback::SentPacket::of(packet);
            self.call(|object| object.call_method1("on_sent", (packet,)).map(drop));
        }
    }

    fn on_demand(&mut self, now: Time, demand: Demand) {
        if self.overrides.on_demand {
            let rates = (now.as_secs_f64(), demand.min.as_bps(), demand.max.as_bps());
            self.call(|object| object.call_method1("on_demand", rates).map(drop));
        }
    }

    fn on_timeout(&mut self, now: Time) {
        // One that asks for the present again would stop virtual time.
        let least = now.as_nanos() + MIN_INTERVAL_NS;
        self.call(|object| object.call_method1("on_timeout", (now.as_secs_f64(),)).map(drop));
        self.next_timeout = self.next_timeout.max(Time::from_nanos(least));
    }

    fn next_timeout(&self) -> Time {
        if self.failure.get().is_none() { self.next_timeout } else { Time::NEVER }
    }

    fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        let Some(object) = self.object.as_ref().filter(|_| self.overrides.inspect) else { return };
        let seen = Python::attach(|py| {
            let variables = object.bind(py).call_method0("inspect")?;
            for (name, value) in variables.cast::<PyDict>()? {
                see(lasting(name.extract()?), value.extract()?);
            }
            PyResult::Ok(())
        });
        if let Err(error) = seen {
            self.fail(error);
        }
    }
}

/// Between two timeouts of a controller at least: as for estimators of other projects (lab/src/contestant).
const MIN_INTERVAL_NS: u64 = 1_000_000;

/// Result of `next_timeout()`: seconds, or None for never.
fn next_timeout(object: &Bound<'_, PyAny>) -> PyResult<Time> {
    let seconds: Option<f64> = object.call_method0("next_timeout")?.extract()?;
    match seconds {
        None => Ok(Time::NEVER),
        Some(seconds) if seconds >= 0.0 => Ok(Time::from_secs_f64(seconds.min(MOST_SECONDS))),
        Some(seconds) => {
            let message = format!("next_timeout() returned {seconds}: must be a time in seconds, 0 or more, or None");
            Err(raised(object.py(), "ControllerError", &message, None))
        }
    }
}

/// More than any run lasts, and fewer than nanoseconds in 64 bits hold.
const MOST_SECONDS: f64 = 1e9;

/// A rate below this, in bit/s, is meant in another unit: a packet of 1200 bytes would take ten seconds.
const LEAST_BPS: f64 = 1000.0;

/// Result of `limits()`: a rate in bit/s, or `thalweg.SendLimits`.
fn limits(object: &Bound<'_, PyAny>) -> PyResult<SendLimits> {
    let returned = object.call_method0("limits")?;
    let wrong = |message: &str| raised(object.py(), "ControllerError", message, None);
    if returned.is_none() {
        return Err(wrong(
            "limits() returned None: must return a rate in bit/s, such as 500_000, or thalweg.SendLimits",
        ));
    }
    let rate = |name: &str, value: f64| match value {
        _ if value == 0.0 || value.is_finite() && value >= LEAST_BPS => Ok(Rate::from_bps_f64(value)),
        _ if value > 0.0 && value < LEAST_BPS => {
            let message = format!("limits() returned {value} as {name}, in bit/s less than one packet in ten seconds");
            Err(wrong(&format!("{message}: if Mbit/s are meant, return {value} * 1e6")))
        }
        _ => Err(wrong(&format!("limits() returned {value} as {name}: must be bit/s, finite and 0 or more"))),
    };
    if let Ok(value) = returned.extract::<f64>() {
        return Ok(SendLimits::of_rate(rate("the rate", value)?));
    }
    let optional = |name: &str| returned.getattr(name)?.extract::<Option<f64>>();
    let bytes = |name: &str| {
        let value: Option<u64> = returned.getattr(name)?.extract()?;
        PyResult::Ok(value.map(Bytes::new))
    };
    let mut limits = SendLimits::of_rate(rate("capacity", returned.getattr("capacity")?.extract()?)?);
    if let Some(pacing) = optional("pacing")? {
        limits.pacing = rate("pacing", pacing)?;
    }
    if let Some(padding) = optional("padding")? {
        limits.padding = PaddingLimit::up_to(rate("padding", padding)?);
    }
    (limits.window, limits.burst) = (bytes("window")?, bytes("burst")?);
    Ok(limits)
}

/// A name that lasts as long as the program: records refer to names without owning them. A controller has few.
fn lasting(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let Ok(mut names) = NAMES.lock() else { return "" };
    if let Some(known) = names.get(name) {
        return known;
    }
    let lasting: &'static str = Box::leak(name.into());
    names.insert(lasting);
    lasting
}
