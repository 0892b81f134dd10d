//! A scenario played in one call, with what its names mean on this machine.

use std::sync::Arc;

use thalweg_netsim::Trace;
use thalweg_sender::SenderFactory;

use crate::scenario::Scenario;
use crate::simulate::{Run, SimulateError};
use crate::{inputs, simulate, unattended};

impl Scenario {
    /// Plays it for one sender, such as a [`Scheme`](thalweg_sender::Scheme). Links are found by their names
    /// ([`Scenario::find`]); [`simulate()`] takes links from elsewhere and reports progress,
    /// [`Simulation`](crate::Simulation) runs step by step.
    ///
    /// ```
    /// let scheme: thalweg_sender::Scheme = "gcc".parse()?;
    /// let run = thalweg_lab::Scenario::over("2Mbps/500kbps@10s").play(&scheme)?;
    /// assert!(run.outcome.summary.utilization > Some(0.5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When something that it names cannot be found, read or built; the error suggests a fix.
    pub fn play(&self, sender: &dyn SenderFactory) -> Result<Run, SimulateError> {
        simulate(self, sender, &mut self.find(), &mut unattended)
    }

    /// Finds links by name as [`inputs::link`] does: rates, synthetic links of this duration and seed, recordings and
    /// files. It is a [`FindTrace`](crate::FindTrace).
    pub fn find(&self) -> impl FnMut(&str) -> Result<Arc<Trace>, String> + use<> {
        let (duration, seed) = (self.duration, self.seed);
        move |name| inputs::link(name, duration, seed).map_err(|error| error.to_string())
    }
}
