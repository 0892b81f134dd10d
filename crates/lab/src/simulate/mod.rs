//! Runs a scenario in virtual time: in one call ([`simulate()`]), or step by step ([`Simulation`]).

mod capacity;
mod changes;
mod comparisons;
mod competitors;
mod crossed;
mod feedback_requests;
mod flow;
mod frames;
mod ledger;
mod microphone;
mod network;
mod sharing;
mod simulation;
mod stills;
mod summarize;
mod ticks;
mod under_way;
mod viewer;

use std::ops::ControlFlow;

use thalweg_codecs::{DecodeError, EncodeError};
use thalweg_netsim::FindTrace;
use thalweg_sender::{Registry, SenderFactory};
use thalweg_units::Time;
use thalweg_video::quality::VmafError;
use thalweg_video::source::SourceError;

use crate::outcome::Outcome;
use crate::record::Recorder;
use crate::scenario::Scenario;

pub use capacity::FlowCapacity;
pub use frames::{Encoded, Frames};
pub use simulation::Simulation;
pub use summarize::{Played, summarize};
pub use viewer::Viewer;

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    /// A parameter of a scheme or of cross traffic is out of range.
    #[error("{0}")]
    Config(#[from] thalweg_units::ConfigError),
    /// The path cannot be built.
    #[error("path: {0}")]
    Path(String),
    /// The video cannot be read.
    #[error("video: {0}")]
    Video(#[from] SourceError),
    /// The encoder failed.
    #[error("encoder: {0}")]
    Encode(#[from] EncodeError),
    /// The decoder rejected a complete frame.
    #[error("decoder: {0}")]
    Decode(#[from] DecodeError),
    /// VMAF could not be computed.
    #[error("{0}")]
    Vmaf(#[from] VmafError),
    /// The scenario's settings are inconsistent.
    #[error("{0}")]
    Scenario(String),
    /// The controller of this sender can decide no more ([`Engine::failure`](thalweg_sender::Engine::failure)).
    #[error("{sender}: {why}")]
    Controller {
        /// The sender's name.
        sender: String,
        /// The controller's reason.
        why: String,
    },
    /// The progress callback stopped the run.
    #[error("interrupted")]
    Interrupted,
}

/// Called with the virtual time at intervals; [`ControlFlow::Break`] ends the run with [`SimulateError::Interrupted`].
pub type Progress<'a> = dyn FnMut(Time) -> ControlFlow<()> + 'a;

/// A [`Progress`] callback that does nothing.
pub fn unattended(_now: Time) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// The result of a run.
pub struct Run {
    /// Figures and series of the sender under test.
    pub outcome: Outcome,
    /// The outcomes of the competing senders, in the scenario's order.
    pub competitors: Vec<Outcome>,
    /// Every event.
    pub recorder: Recorder,
    /// When links dropped reports, by flow; flows beyond the end lost none.
    pub reports_dropped: Vec<Vec<Time>>,
}

/// Runs `scenario` for one sender, such as a [`Scheme`](thalweg_sender::Scheme). `find` looks up traces by name.
///
/// # Errors
/// When something that the scenario names cannot be found, read or built; the error suggests a fix.
pub fn simulate(
    scenario: &Scenario,
    sender: &dyn SenderFactory,
    find: &mut FindTrace<'_>,
    progress: &mut Progress<'_>,
) -> Result<Run, SimulateError> {
    simulate_with(scenario, sender, &Registry::new(), find, progress)
}

/// The same, with competitors from a program's own `registry`.
///
/// # Errors
/// See [`simulate()`].
pub fn simulate_with(
    scenario: &Scenario,
    sender: &dyn SenderFactory,
    registry: &Registry,
    find: &mut FindTrace<'_>,
    progress: &mut Progress<'_>,
) -> Result<Run, SimulateError> {
    Simulation::new(scenario, sender, registry, find)?.play(progress)
}
