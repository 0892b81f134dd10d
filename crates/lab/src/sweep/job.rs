//! A run to play, on this machine or another.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thalweg_sender::{Registry, SenderFactory};

use super::key::by_content;
use super::row::{Cell, Figures, Row, Status};
use super::{Files, Key};
use crate::Simulation;
use crate::behaviour::BEHAVIOUR;
use crate::bound::Curves;
use crate::record::Keep;
use crate::run_folder::{Input, read_inputs, read_run, run_file};
use crate::scenario::Scenario;
use crate::simulate::{Progress, SimulateError};

/// A run with all that determines it, as text: JSON carries it to another machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Its number in the sweep, from 0.
    pub job: u32,
    /// Key of the run.
    pub key: Key,
    /// The [`BEHAVIOUR`] of the laboratory that made it, in hexadecimal: one of another refuses to play it.
    pub behaviour: String,
    /// Its place on the grid's axes.
    pub axes: Vec<(String, Cell)>,
    /// Its run.toml, which lists the files it reads with their hashes.
    pub run: String,
}

/// Why a job has no row.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// It is none of this laboratory's.
    #[error("job {job}: {why}")]
    Refused {
        /// Its number.
        job: u32,
        /// The reason, and the fix.
        why: String,
    },
    /// The progress callback stopped it.
    #[error("interrupted")]
    Interrupted,
}

impl Job {
    pub(super) fn new(
        (job, key): (u32, Key),
        axes: Vec<(String, Cell)>,
        scenario: &Scenario,
        inputs: &[Input],
        sender: &dyn SenderFactory,
    ) -> Result<Job, String> {
        let run = run_file(scenario, inputs, sender)?;
        Ok(Job { job, key, behaviour: format!("{BEHAVIOUR:016x}"), axes, run })
    }

    /// Its scenario and sender.
    ///
    /// # Errors
    /// When it was made by a laboratory of another behaviour, or `registry` does not have the sender.
    pub fn read(&self, registry: &Registry) -> Result<(Scenario, Arc<dyn SenderFactory>), JobError> {
        let refused = |why: String| JobError::Refused { job: self.job, why };
        if self.behaviour != format!("{BEHAVIOUR:016x}") {
            return Err(refused(format!(
                "it was made by a Thalweg of behaviour {}, and this one's is {BEHAVIOUR:016x}: install the same version",
                self.behaviour
            )));
        }
        read_run(&self.run, registry).map_err(|error| refused(error.to_string()))
    }

    /// The files that it reads, with their hashes: what a machine must have to play it.
    ///
    /// # Errors
    /// When it is none of a laboratory's.
    pub fn inputs(&self) -> Result<Vec<Input>, JobError> {
        read_inputs(&self.run).map_err(|error| JobError::Refused { job: self.job, why: error.to_string() })
    }

    /// Plays it. A run that cannot be played to its end is a row too, which says why. `curves` has the bounds of scenarios
    /// that were played before.
    ///
    /// # Errors
    /// When it cannot be read, or `progress` stopped it.
    pub fn play(
        &self,
        registry: &Registry,
        files: &dyn Files,
        curves: &Curves,
        progress: &mut Progress<'_>,
    ) -> Result<Row, JobError> {
        let (mut scenario, sender) = self.read(registry)?;
        let inputs = self.inputs()?;
        let known_by = by_content(&scenario, &inputs);
        files.locate(&mut scenario, &inputs).map_err(|why| JobError::Refused { job: self.job, why })?;
        let mut find = |name: &str| files.trace(name, &scenario);
        let mut row = Row {
            job: self.job,
            key: self.key,
            scheme: sender.name().into(),
            seed: scenario.seed.get(),
            trace: scenario.name.clone(),
            axes: self.axes.clone(),
            fingerprint: String::new(),
            status: Status::Done,
            error: String::new(),
            figures: Figures::default(),
        };
        // Without its events.
        let played = Simulation::new(&scenario, &*sender, registry, &mut find)
            .and_then(|simulation| simulation.keeping(Keep::Summary).play(progress));
        match played {
            Ok(mut run) => {
                curves.judge_as(&known_by, &scenario, &mut find, &mut run.outcome);
                row.fingerprint.clone_from(&run.outcome.summary.events_fingerprint);
                row.figures = Figures::of(&run.outcome.summary);
            }
            Err(SimulateError::Interrupted) => return Err(JobError::Interrupted),
            Err(error) => (row.status, row.error) = (Status::Failed, error.to_string()),
        }
        Ok(row)
    }
}
