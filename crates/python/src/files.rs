//! Files that a machine was sent.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use thalweg_lab::inputs::{Kind, named_at, names};
use thalweg_lab::run_folder::Input;
use thalweg_lab::{Scenario, inputs, sweep};

/// Files that were sent to this machine, by the SHA-256 of their content; all others are where their names say.
#[pyclass(frozen, module = "thalweg._native")]
#[derive(Default)]
pub(crate) struct Files(BTreeMap<String, PathBuf>);

#[pymethods]
impl Files {
    #[new]
    fn new(sent: BTreeMap<String, PathBuf>) -> Files {
        Files(sent)
    }
}

impl sweep::Files for Files {
    fn inputs(&self, scenario: &Scenario) -> Result<Vec<Input>, String> {
        inputs::of(scenario).map_err(|error| error.to_string())
    }

    fn trace(&self, name: &str, scenario: &Scenario) -> Result<Arc<thalweg_netsim::Trace>, String> {
        inputs::link(name, scenario.duration, scenario.seed).map_err(|error| error.to_string())
    }

    fn locate(&self, scenario: &mut Scenario, inputs: &[Input]) -> Result<(), String> {
        let sent = |(kind, name): (Kind, &mut String)| {
            let Some(input) = inputs.iter().find(|input| input.name == *name) else { return };
            let Some(path) = self.0.get(&input.sha256) else { return };
            *name = named_at(kind, name, input, path);
        };
        names(scenario).into_iter().for_each(sent);
        Ok(())
    }
}
