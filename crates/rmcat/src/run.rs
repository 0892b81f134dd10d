//! One run of a case.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};
use thalweg_control::gcc;
use thalweg_lab::run_folder::FolderError;
use thalweg_lab::simulate::{Progress, Run, SimulateError, simulate_with};
use thalweg_sender::scheme::ControllerConfig;
use thalweg_sender::{Registry, Scheme, SenderFactory};
use thalweg_units::{Bytes, ConfigError, Seed};

use crate::case::{Case, Options, Reference};
use crate::contestant::Contestant;
use crate::log::Log;
use crate::measure::{Measured, Seen};
use crate::network::{Network, Phase};
use crate::outcome::{Figures, Trajectory};

/// Cause of a failure.
#[derive(Debug, thiserror::Error)]
pub enum BenchErrorCause {
    /// A parameter of the case, an option, or the contestant is out of range.
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// The laboratory could not play it.
    #[error("{0}")]
    Simulate(#[from] SimulateError),
    /// Kept results cannot be read or written.
    #[error("{0}")]
    Kept(#[from] FolderError),
}

/// One run, reduced to what is shown of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Played {
    /// In the order of the case's bars.
    pub(crate) measured: Vec<Measured>,
    pub(crate) figures: Figures,
    pub(crate) trajectory: Trajectory,
    pub(crate) fingerprint: u64,
}

/// Plays a case; `None` if it asks for weights and the contestant has none.
pub(crate) fn play(
    case: &Case,
    contestant: &dyn Contestant,
    seed: u64,
    options: &Options,
    others: &Others,
    progress: &mut Progress<'_>,
) -> Result<Option<Played>, BenchErrorCause> {
    let sender = on_trial(contestant.sender(case.limits)?, case.gcc.as_deref());
    let mut registry = Registry::new();
    let network = case.network(options);
    let weight = network.as_ref().and_then(|network| network.flows.first()).map_or(1.0, |flow| flow.weight);
    let tested: Box<dyn SenderFactory> = if case.needs_weights {
        let Some(weighted) = contestant.weighted(case.limits, weight)? else { return Ok(None) };
        registry.replace(Renamed { name: sender.name().to_string(), sender });
        Box::new(Renamed { name: format!("{}, weight {weight}", contestant.name()), sender: weighted })
    } else {
        sender
    };
    let seed = Seed::new(seed);
    let mut run = |scenario: &thalweg_lab::Scenario| -> Result<Run, BenchErrorCause> {
        let mut find = |name: &str| Err(format!("no case has recorded links, and this one names '{name}'"));
        Ok(simulate_with(scenario, &*tested, &registry, &mut find, progress)?)
    };
    let played = run(&case.scenario(contestant.name(), seed, options)?)?;
    let log = log_of(&played, case.flows(), network.as_ref());
    let reference = match (&case.reference, case.reference_scenario(contestant.name(), seed, options)?) {
        (Some(reference), Some(scenario)) => {
            let mut play = || -> Result<Arc<Log>, BenchErrorCause> {
                let network = reference.network();
                Ok(Arc::new(log_of(&run(&scenario)?, network.flows.len(), Some(network))))
            };
            match reference {
                Reference::Itself(_) => Some(play()?),
                Reference::Others(_) => Some(others.get_or(format!("{} {seed:?} {options:?}", case.id), play)?),
            }
        }
        _ => None,
    };
    let phases = phases(case, network.as_ref());
    let seen = Seen {
        log: &log,
        reference: reference.as_deref(),
        network: network.as_ref(),
        wire_bps: case.limits.wire.as_bps_f64(),
        phases: &phases,
    };
    let measured = case.bars.iter().map(|bar| seen.measure(&bar.figure, bar.flow, bar.window)).collect();
    let figures = Figures::of(&seen, case.duration.as_secs_f64());
    let trajectory = Trajectory::of(&log, case.duration.as_secs_f64());
    Ok(Some(Played { measured, figures, trajectory, fingerprint: log.fingerprint }))
}

/// The sender with these parameters of `gcc`, if it is `gcc` as it is known; otherwise as it is.
fn on_trial(sender: Box<dyn SenderFactory>, trial: Option<&gcc::Config>) -> Box<dyn SenderFactory> {
    let (Some(trial), Some(scheme)) = (trial, sender.as_scheme()) else { return sender };
    let ControllerConfig::Gcc(known) = &scheme.controller else { return sender };
    let (start, min) = (known.start, known.min);
    if *known != (gcc::Config { start, min, ..gcc::Config::default() }) {
        return sender;
    }
    let controller = ControllerConfig::Gcc(gcc::Config { start, min, ..trial.clone() });
    Box::new(Scheme { controller, ..scheme.clone() })
}

/// Logs of references that are the same for all contestants, by case, seed and options. Two threads may play the same one,
/// with the same result.
#[derive(Debug, Default)]
pub struct Others(Mutex<BTreeMap<String, Arc<Log>>>);

impl Others {
    /// None yet.
    pub const fn new() -> Others {
        Others(Mutex::new(BTreeMap::new()))
    }

    fn get_or(
        &self,
        key: String,
        play: impl FnOnce() -> Result<Arc<Log>, BenchErrorCause>,
    ) -> Result<Arc<Log>, BenchErrorCause> {
        if let Some(known) = self.0.lock().ok().and_then(|known| known.get(&key).cloned()) {
            return Ok(known);
        }
        let played = play()?;
        if let Ok(mut known) = self.0.lock() {
            known.insert(key, played.clone());
        }
        Ok(played)
    }
}

/// A sender under another name: competitors of the same name are the same sender.
struct Renamed {
    name: String,
    sender: Box<dyn SenderFactory>,
}

impl SenderFactory for Renamed {
    fn name(&self) -> &str {
        &self.name
    }

    fn parts(&self, source: thalweg_units::Size) -> Result<thalweg_sender::Parts, ConfigError> {
        self.sender.parts(source)
    }

    fn based_on(&self) -> Option<&dyn SenderFactory> {
        Some(&*self.sender)
    }
}

pub(crate) fn phases(case: &Case, network: Option<&Network>) -> Vec<Vec<Phase>> {
    let Some(network) = network else { return vec![Vec::new()] };
    let (end, wire) = (case.duration.as_secs_f64(), case.limits.wire.as_bps_f64());
    (0..network.flows.len()).map(|flow| network.phases(flow, end, wire)).collect()
}

/// The log of a run. What a packet takes to be sent on the narrow links of its way is not waiting.
fn log_of(run: &Run, flows: usize, network: Option<&Network>) -> Log {
    let service = |flow: usize, at_s: f64, size: Bytes| {
        let Some(network) = network else { return 0.0 };
        let links = network.flows[flow].forward.iter();
        links.map(|link| size.bits() as f64 / network.links[*link].rate(at_s).as_bps_f64().max(1.0)).sum()
    };
    Log::of(run, flows, &service)
}
