//! Runs that are kept in a folder as soon as they are played, and may be played on other machines.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;
use thalweg_lab::kept::{Kept, Planned};
use thalweg_lab::run_folder::FolderError;

/// Where runs are kept.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Runs on many machines")]
pub(crate) struct Keeping {
    /// Keep each finished run in this folder, and skip those that it has
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
    /// Write the runs that are left into the folder of --keep, for `python -m thalweg play`, and play nothing
    #[arg(long, requires = "keep")]
    plan: bool,
}

impl Keeping {
    /// The folder, if one is given.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub(crate) fn open(&self) -> Result<Option<Kept>, FolderError> {
        self.keep.as_deref().map(Kept::open).transpose()
    }

    /// Returns true if a folder is given.
    pub(crate) fn is_given(&self) -> bool {
        self.keep.is_some()
    }

    /// The folder for a plan, if one is asked for.
    ///
    /// # Errors
    /// As [`Keeping::open`].
    pub(crate) fn planned(&self) -> Result<Option<Kept>, FolderError> {
        if self.plan { self.open() } else { Ok(None) }
    }
}

/// Writes what is left to play, with the name of its kind.
///
/// # Errors
/// When the folder cannot be written.
pub(crate) fn plan<J: Serialize>(kept: &Kept, kind: &str, left: Vec<Planned<J>>) -> anyhow::Result<()> {
    let named = |Planned { key, seconds, job }| Planned { key, seconds, job: BTreeMap::from([(kind, job)]) };
    let named: Vec<_> = left.into_iter().map(named).collect();
    let path = kept.plan(&named)?;
    outln!("{} runs to play: {}", named.len(), path.display());
    Ok(())
}
