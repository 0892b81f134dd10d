//! A run as text, which any machine with the same version plays.

use serde::{Deserialize, Serialize};
use thalweg_lab::behaviour::{check_made_by, made_by};
use thalweg_lab::simulate::{Progress, SimulateError};
use thalweg_lab::sweep::Key;
use thalweg_sender::Scheme;

use crate::case::{Case, Options};
use crate::cases::find;
use crate::run::{BenchErrorCause, Others, Played, play};

/// A run of a known case by a scheme.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Build that made it: [`made_by`]. Another refuses to play it.
    pub made_by: String,
    /// The case's id.
    pub case: String,
    /// The scheme with its parameters.
    pub scheme: Scheme,
    /// The seed.
    pub seed: u64,
    /// Options common to all cases.
    pub options: Options,
}

/// Why a job has no result.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// It is none of this version's.
    #[error("case {case}: {why}")]
    Refused {
        /// The case.
        case: String,
        /// The reason, and the fix.
        why: String,
    },
    /// It cannot be played.
    #[error("case {case}, {scheme}: {cause}")]
    Unplayable {
        /// The case.
        case: String,
        /// The scheme.
        scheme: String,
        /// The cause.
        cause: BenchErrorCause,
    },
    /// The progress callback stopped it.
    #[error("interrupted")]
    Interrupted,
}

impl Job {
    pub(crate) fn new(case: &Case, scheme: &Scheme, seed: u64, options: &Options) -> Job {
        Job { made_by: made_by(), case: case.id.clone(), scheme: scheme.clone(), seed, options: options.clone() }
    }

    /// Key of the run: a hash of all of the job, and of its case's present definition.
    pub fn key(&self) -> Key {
        let case = find(&self.case).map(|found| format!("{found:?}")).unwrap_or_default();
        // A job that could not be written could not have been read.
        Key::of_text(&format!("{} {case}", serde_json::to_string(self).unwrap_or_default()))
    }

    /// Plays it; `None` if the case asks for weights and the scheme has none.
    ///
    /// # Errors
    /// When another version made it, or it cannot be played.
    pub fn play(&self, others: &Others, progress: &mut Progress<'_>) -> Result<Option<Played>, JobError> {
        let refused = |why: String| JobError::Refused { case: self.case.clone(), why };
        check_made_by(&self.made_by).map_err(refused)?;
        let found = find(&self.case).map_err(|error| refused(error.to_string()))?;
        let [case] = &found[..] else { return Err(refused("it names several cases: name one".into())) };
        play(case, &self.scheme, self.seed, &self.options, others, progress).map_err(|cause| match cause {
            BenchErrorCause::Simulate(SimulateError::Interrupted) => JobError::Interrupted,
            cause => JobError::Unplayable { case: self.case.clone(), scheme: self.scheme.name.clone(), cause },
        })
    }
}
