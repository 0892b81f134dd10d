//! The files and links of a machine.

use std::sync::Arc;

use thalweg_netsim::Trace;

use crate::run_folder::Input;
use crate::scenario::Scenario;

/// Files of the machine that a sweep needs.
pub trait Files: Sync {
    /// The files that a scenario reads, with their hashes.
    ///
    /// # Errors
    /// When one cannot be read.
    fn inputs(&self, scenario: &Scenario) -> Result<Vec<Input>, String>;

    /// A link of a scenario by its name.
    ///
    /// # Errors
    /// When there is none; the error says what there is.
    fn trace(&self, name: &str, scenario: &Scenario) -> Result<Arc<Trace>, String>;

    /// Replaces the names of files by where they are on this machine; by itself they are where their names say.
    ///
    /// # Errors
    /// When one is not here.
    fn locate(&self, scenario: &mut Scenario, inputs: &[Input]) -> Result<(), String> {
        let _ = (scenario, inputs);
        Ok(())
    }
}
