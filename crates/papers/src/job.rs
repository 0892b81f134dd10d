//! A run of a figure as text, which any machine with the same version plays, and what is kept of it.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use thalweg_sender::{Registry, SenderFactory};

use super::{Distribution, Experiment, Figure, Reading, Sample, figures};
use thalweg_lab::Simulation;
use thalweg_lab::behaviour::{check_made_by, made_by};
use thalweg_lab::bound::Curves;
use thalweg_lab::inputs::{Kind, names};
use thalweg_lab::metrics::Summary;
use thalweg_lab::record::Keep;
use thalweg_lab::run_folder::{Input, read_inputs, read_run, run_file};
use thalweg_lab::scenario::Scenario;
use thalweg_lab::simulate::{Progress, SimulateError};
use thalweg_lab::sweep::{Files, Key};

/// A run of a figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Build that made it: [`made_by`]. Another refuses to play it.
    pub made_by: String,
    /// The figure's name.
    pub figure: String,
    /// The run's run.toml, which lists the files it reads with their hashes.
    pub run: String,
}

/// Kept results of a run of a figure: the values of its readings and distributions, in their order.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptSample {
    summary: Summary,
    values: Vec<Option<f64>>,
    distributed: Vec<Vec<f32>>,
    heights: Vec<u16>,
}

/// Why a job has no result.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// It is none of this version's.
    #[error("figure {figure}: {why}")]
    Refused {
        /// The figure.
        figure: String,
        /// The reason, and the fix.
        why: String,
    },
    /// It cannot be played.
    #[error("figure {figure}: {cause}")]
    Unplayable {
        /// The figure.
        figure: String,
        /// The cause.
        cause: SimulateError,
    },
    /// The progress callback stopped it.
    #[error("interrupted")]
    Interrupted,
}

/// Readings and distributions of a figure; `None` for one without runs.
fn reads(figure: &Figure) -> Option<(&[Reading], &[Distribution])> {
    match &figure.experiment {
        Experiment::Runs { readings, .. } => Some((readings, &figure.distributions)),
        _ => None,
    }
}

impl Job {
    /// A run of a figure, with the key that identifies it.
    ///
    /// # Errors
    /// When its files cannot be read, or it reads standard input.
    pub fn new(
        figure: &Figure,
        scenario: &Scenario,
        sender: &dyn SenderFactory,
        files: &dyn Files,
    ) -> Result<(Key, Job), String> {
        if names(&mut scenario.clone()).iter().any(|(kind, name)| *kind == Kind::Video && *name == "-") {
            return Err("video: standard input can be read only once: name a file".into());
        }
        let inputs = files.inputs(scenario)?;
        let run = run_file(scenario, &inputs, sender)?;
        // What is played elsewhere is what is written here.
        let (read, _) = read_run(&run, &Registry::new()).map_err(|error| error.to_string())?;
        if read != *scenario {
            return Err(format!("{}: its run.toml does not read back as the same scenario: report this", figure.name));
        }
        let of_run = Key::of(scenario, &inputs, sender)?;
        let (made_by, figure_name) = (made_by(), figure.name);
        let key = Key::of_text(&format!("{made_by} {figure_name} {:?} {of_run}", reads(figure)));
        Ok((key, Job { made_by, figure: figure_name.into(), run }))
    }

    /// The files that it reads, with their hashes: what a machine must have to play it.
    ///
    /// # Errors
    /// When it is none of a laboratory's.
    pub fn inputs(&self) -> Result<Vec<Input>, JobError> {
        read_inputs(&self.run).map_err(|error| self.refused(error.to_string()))
    }

    fn refused(&self, why: String) -> JobError {
        JobError::Refused { figure: self.figure.clone(), why }
    }

    /// Plays it.
    ///
    /// # Errors
    /// When another version made it, or it cannot be played.
    pub fn play(
        &self,
        files: &dyn Files,
        curves: &Curves,
        progress: &mut Progress<'_>,
    ) -> Result<KeptSample, JobError> {
        check_made_by(&self.made_by).map_err(|why| self.refused(why))?;
        // To make them takes as long as a short run.
        static FIGURES: LazyLock<Vec<Figure>> = LazyLock::new(figures);
        let figure = FIGURES.iter().find(|figure| figure.name == self.figure);
        let reads = figure.and_then(reads).ok_or_else(|| self.refused("unknown figure".into()))?;
        let registry = Registry::new();
        let read = read_run(&self.run, &registry).map_err(|error| self.refused(error.to_string()))?;
        let (mut scenario, sender) = read;
        let video = scenario.video.label();
        files.locate(&mut scenario, &self.inputs()?).map_err(|why| self.refused(why))?;
        let mut find = |name: &str| files.trace(name, &scenario);
        let played = Simulation::new(&scenario, &*sender, &registry, &mut find)
            .and_then(|simulation| simulation.keeping(Keep::Summary).play(progress));
        let mut run = played.map_err(|error| match error {
            SimulateError::Interrupted => JobError::Interrupted,
            cause => JobError::Unplayable { figure: self.figure.clone(), cause },
        })?;
        curves.judge(&scenario, &mut find, &mut run.outcome);
        run.outcome.summary.video = video;
        Ok(KeptSample::of(&Sample::of(&run.outcome, reads.0, reads.1)))
    }
}

impl KeptSample {
    fn of(sample: &Sample) -> KeptSample {
        KeptSample {
            summary: sample.summary.clone(),
            values: sample.values.iter().map(|(_, value)| *value).collect(),
            distributed: sample.distributed.iter().map(|(_, values)| values.clone()).collect(),
            heights: sample.heights.clone(),
        }
    }

    /// The sample, of a run of this figure; `None` if it is none.
    pub fn sample(self, figure: &Figure) -> Option<Sample> {
        let (readings, distributions) = reads(figure)?;
        let keys = Sample::keys(readings);
        let fits = keys.len() == self.values.len() && distributions.len() == self.distributed.len();
        fits.then(|| Sample {
            summary: self.summary,
            values: keys.into_iter().zip(self.values).collect(),
            distributed: distributions.iter().copied().zip(self.distributed).collect(),
            heights: self.heights,
        })
    }
}
