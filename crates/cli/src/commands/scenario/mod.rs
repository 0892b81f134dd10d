//! `thalweg scenario`: what a scenario may say, and whether a file does.

mod explained;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::Context;
use thalweg_lab::scenario::Scenario;
use thalweg_lab::simulate;
use thalweg_lab::simulate::SimulateError;
use thalweg_sender::SenderFactory;

use super::run::File;
use crate::link;
pub(super) use explained::explained;

#[derive(clap::Subcommand)]
#[command(after_help = "Examples:
  thalweg scenario check examples/step.toml
  thalweg scenario schema")]
pub(crate) enum Command {
    /// Check a scenario or a run.toml: build its path, codec and senders, and play half a second of each scheme
    Check {
        /// Scenario or run.toml to check
        file: PathBuf,
    },
    /// Print the JSON schema of a scenario, for editors that complete and check
    Schema,
}

/// Made from the types by tools/reference, which has a test that it is current.
const SCHEMA: &str = include_str!("schema.json");

pub(crate) fn run(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Check { file } => check(file),
        Command::Schema => {
            outln!("{}", SCHEMA.trim_end());
            Ok(())
        }
    }
}

fn check(file: &Path) -> anyhow::Result<()> {
    let File { scenario, schemes, .. } = File::read(file)?;
    for scheme in &schemes {
        begin(&scenario, &**scheme).with_context(|| file.display().to_string())?;
        scenario.notes(&**scheme)?.iter().for_each(|note| note!("{}: {}: {note}", file.display(), scheme.name()));
    }
    let Scenario { name, duration, forward, reverse, competitors, .. } = &scenario;
    let (forth, back, others) = (forward.hops.len(), reverse.hops.len(), competitors.len());
    outln!("{name}: {duration}, {forth} hops forth and {back} back, {others} competitors: OK");
    Ok(())
}

/// Plays until the first report of progress.
fn begin(scenario: &Scenario, scheme: &dyn SenderFactory) -> anyhow::Result<()> {
    let mut find =
        |name: &str| link::find(name, scenario.duration, scenario.seed).map_err(|error| format!("{error:#}"));
    match simulate(scenario, scheme, &mut find, &mut |_| ControlFlow::Break(())) {
        Ok(_) | Err(SimulateError::Interrupted) => Ok(()),
        Err(error) => Err(error).with_context(|| scheme.name().to_string()),
    }
}
