//! Scenarios: of a link, from a file or from a dict.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use thalweg_codecs::Codec;
use thalweg_lab::run_folder::{read_inputs, read_run};
use thalweg_lab::{Scenario, inputs};
use thalweg_sender::Registry;

use crate::errors::raised;
use crate::value;

/// A scenario as JSON, whole and checked: `given` is a dict in the shape of a file, the path of a scenario or of a
/// `run.toml`, or the name of a link.
#[pyfunction]
pub(crate) fn scenario(given: &Bound<'_, PyAny>) -> PyResult<String> {
    let read = of(given)?;
    serde_json::to_string(&read).map_err(|error| wrong(given.py(), &error.to_string()))
}

/// A codec's parameters by its name, as JSON.
#[pyfunction]
pub(crate) fn codec(py: Python<'_>, name: &str) -> PyResult<String> {
    let failed = |message: String| raised(py, "ScenarioError", &format!("codec: {message}"), Some("codec"));
    let codec: Codec = name.parse().map_err(|error: thalweg_codecs::ParseCodecError| failed(error.to_string()))?;
    serde_json::to_string(&codec).map_err(|error| failed(error.to_string()))
}

/// The scenario that is meant.
pub(crate) fn of(given: &Bound<'_, PyAny>) -> PyResult<Scenario> {
    if given.is_instance_of::<PyDict>() {
        return value::read(given, "ScenarioError");
    }
    let path: PathBuf = given.extract().map_err(|_| {
        let what = given.get_type().name().map_or_else(|_| String::new(), |name| name.to_string());
        wrong(given.py(), &format!("a scenario is a dict, the path of a file or the name of a link, not a {what}"))
    })?;
    if path.extension().is_some_and(|ending| ending == "toml") {
        return file(&path).map_err(|message| wrong(given.py(), &format!("{}: {message}", path.display())));
    }
    let link = path.to_string_lossy();
    let scenario = Scenario::over(&link);
    // Now, instead of when it is played.
    match inputs::link(&link, scenario.duration, scenario.seed) {
        Ok(_) => Ok(scenario),
        Err(error) => Err(wrong(given.py(), &format!("{error}; or the path of a scenario, which ends in .toml"))),
    }
}

fn wrong(py: Python<'_>, message: &str) -> PyErr {
    raised(py, "ScenarioError", message, None)
}

fn file(path: &Path) -> Result<Scenario, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let table: toml::Table = toml::from_str(&text).map_err(|error| error.to_string())?;
    if !(table.contains_key("scenario") && table.contains_key("scheme")) {
        return toml::from_str(&text).map_err(|error| error.to_string());
    }
    // Its sender may be one that only the program which played it has; what is played here is asked for by name.
    #[derive(serde::Deserialize)]
    struct Played {
        scenario: Scenario,
    }
    let read = read_run(&text, &Registry::new()).map(|(scenario, _)| scenario);
    let read = read.or_else(|_| toml::from_str::<Played>(&text).map(|played| played.scenario));
    let mut scenario = read.map_err(|error| error.to_string())?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let read = read_inputs(&text).map_err(|error| error.to_string())?;
    inputs::resolve(&mut scenario, &read, folder).map_err(|error| error.to_string())?;
    Ok(scenario)
}
