//! The module `thalweg._native`: what the Python package in `python/thalweg` is built on. It binds `thalweg_lab`, and
//! has nothing of its own: what a user meets, with its documentation, is Python.

mod array;
mod controller;
mod environment;
mod errors;
mod feedback;
mod files;
mod json;
mod links;
#[cfg(feature = "live")]
mod publish;
mod run;
mod scenario;
mod sender;
mod sweep;
mod table;
mod value;
mod work;

use pyo3::prelude::*;
use thalweg_control::Payload;
use thalweg_lab::bound::BOUNDS;
use thalweg_sender::scheme::known;

/// The schemes and bounds with what each is.
#[pyfunction]
fn schemes() -> Vec<(&'static str, &'static str)> {
    known().iter().map(|known| (known.name, known.about)).chain(BOUNDS).collect()
}

/// Identifier of this build's behaviour: equal for builds whose runs are equal.
#[pyfunction]
fn behaviour_id() -> String {
    format!("{:016x}", thalweg_lab::behaviour::BEHAVIOUR)
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("version", env!("CARGO_PKG_VERSION"))?;
    module.add("PAYLOADS", Payload::ALL.map(Payload::name))?;
    module.add("INFO", environment::INFO)?;
    for function in [
        wrap_pyfunction!(schemes, module)?,
        wrap_pyfunction!(behaviour_id, module)?,
        wrap_pyfunction!(scenario::scenario, module)?,
        wrap_pyfunction!(scenario::codec, module)?,
        wrap_pyfunction!(run::run, module)?,
        wrap_pyfunction!(run::report, module)?,
        wrap_pyfunction!(run::estimate, module)?,
        wrap_pyfunction!(sweep::results, module)?,
        wrap_pyfunction!(work::files_of, module)?,
        wrap_pyfunction!(work::play, module)?,
    ] {
        module.add_function(function)?;
    }
    #[cfg(feature = "live")]
    module.add_function(wrap_pyfunction!(publish::publish, module)?)?;
    module.add_class::<array::Array>()?;
    module.add_class::<environment::Call>()?;
    module.add_class::<environment::Environment>()?;
    module.add_class::<environment::Environments>()?;
    module.add_class::<environment::Rows>()?;
    module.add_class::<feedback::Feedback>()?;
    module.add_class::<feedback::SentPacket>()?;
    module.add_class::<files::Files>()?;
    module.add_class::<links::Links>()?;
    module.add_class::<links::Trace>()?;
    module.add_class::<run::Outcome>()?;
    module.add_class::<run::Run>()?;
    module.add_class::<run::Stop>()?;
    module.add_class::<sender::Sender>()?;
    module.add_class::<sweep::Folder>()?;
    module.add_class::<sweep::Sweep>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<work::Plan>()
}
