//! How runs are played: options that `compare` and `run` share.

use std::path::PathBuf;
use std::sync::Arc;

use thalweg_lab::Scenario;
use thalweg_sender::{Registry, SenderFactory};

use super::quality::Quality;
use super::seeds::Seeds;
use super::setting::{Setting, applied};
use crate::contestant::{self, Contestant};
use crate::play::Effort;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Runs")]
pub(crate) struct Playing {
    /// External estimator as NAME=COMMAND, played as a scheme of this name; repeatable
    ///
    /// The command answers lines on its standard input (see docs/tutorials/estimator.md).
    #[arg(long, value_name = "NAME=COMMAND")]
    contestant: Vec<Contestant>,
    #[command(flatten)]
    pub(super) seeds: Seeds,
    /// Set a parameter of each scheme that has it, or of the scenario, by its path in run.toml; repeatable
    ///
    /// Examples: scheme.controller.copa.delta=0.5, scenario.clock_offset=0ms. A table that is absent begins with its
    /// defaults, and none takes one away: scenario.playout={}, scenario.playout.min=20ms, scenario.audio=none.
    /// docs/reference/scheme.md and docs/reference/scenario.md list them.
    #[arg(long, value_name = "PARAMETER=VALUE")]
    set: Vec<Setting>,
    #[command(flatten)]
    pub(super) effort: Effort,
    /// The folder for the report and for each run: run.toml, events.parquet, summary.json
    ///
    /// Results of an earlier command in it move to earlier/1, earlier/2 and so on.
    #[arg(long, short, default_value = "out", value_name = "FOLDER")]
    pub(super) out: PathBuf,
    /// Continue an interrupted command of the same options; finished runs are not played again
    #[arg(long)]
    pub(super) resume: bool,
    // The last, as its heading is that of all that follows.
    #[command(flatten)]
    quality: Quality,
}

impl Playing {
    /// Every scheme, and the contestants.
    pub(super) fn registry(&self) -> anyhow::Result<Registry> {
        contestant::registry(&self.contestant)
    }

    /// Adds the contestants to the schemes to play.
    pub(super) fn join(&self, schemes: &mut Vec<Arc<dyn SenderFactory>>, registry: &Registry) -> anyhow::Result<()> {
        for Contestant { name, .. } in &self.contestant {
            if schemes.iter().all(|scheme| scheme.name() != name) {
                schemes.push(registry.find(name)?);
            }
        }
        Ok(())
    }

    /// Sets the parameters of --set and the metrics to measure.
    ///
    /// # Errors
    /// When there is no such parameter, or a scheme cannot work with the scenario's reports.
    pub(super) fn set(&self, scenarios: &mut [Scenario], schemes: &mut [Arc<dyn SenderFactory>]) -> anyhow::Result<()> {
        self.set.iter().try_for_each(|setting| applied(setting, scenarios, schemes))?;
        for scenario in scenarios.iter() {
            let Some(style) = scenario.feedback else { continue };
            // Now, instead of after the runs before it.
            schemes.iter().filter_map(|scheme| scheme.as_scheme()).try_for_each(|scheme| scheme.accepts(style))?;
        }
        self.quality.add_to(scenarios)
    }
}
