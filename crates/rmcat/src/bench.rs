//! Playing cases and judging them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use thalweg_control::gcc;
use thalweg_lab::simulate::{Run, SimulateError, simulate_with};
use thalweg_sender::scheme::ControllerConfig;
use thalweg_sender::{Registry, Scheme, SenderFactory};
use thalweg_units::{Bytes, ConfigError, Seed};

use crate::bar::{Bar, judge};
use crate::case::{Case, Options, Reference};
use crate::contestant::Contestant;
use crate::log::Log;
use crate::measure::{Measured, Seen};
use crate::network::{Network, Phase};
use crate::outcome::{Figures, Outcome, Trajectory};

/// What is played.
pub struct Bench<'a> {
    /// The cases.
    pub cases: Vec<Case>,
    /// Who plays them.
    pub contestants: Vec<&'a dyn Contestant>,
    /// With which seeds.
    pub seeds: Vec<u64>,
    /// What all cases have in common.
    pub options: Options,
}

/// Why a bench could not be played.
#[derive(Debug, thiserror::Error)]
#[error("case {case}, {contestant}: {cause}")]
pub struct BenchError {
    /// The case.
    pub case: String,
    /// The contestant.
    pub contestant: String,
    /// What went wrong.
    pub cause: BenchErrorCause,
}

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum BenchErrorCause {
    /// A parameter of the case, an option, or the contestant is out of range.
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// The laboratory could not play it.
    #[error("{0}")]
    Simulate(#[from] SimulateError),
}

/// One run, reduced to what is shown of it.
struct Played {
    /// In the order of the case's bars.
    measured: Vec<Measured>,
    figures: Figures,
    trajectory: Trajectory,
    fingerprint: u64,
}

/// How a run ended; without a result if the contestant cannot play the case.
type Ended = Result<Option<Played>, BenchError>;

/// Called from several threads when a run is over, with its case and its contestant; returns whether to go on.
pub type Progress<'a> = dyn Fn(&Case, &str) -> bool + Sync + 'a;

impl Bench<'_> {
    /// Plays everything on `threads` threads, and judges it: an outcome for each case and contestant, in this order;
    /// `None` if `progress` stopped it.
    ///
    /// # Errors
    /// When a case cannot be played by a contestant.
    pub fn run(&self, threads: usize, progress: &Progress<'_>) -> Result<Option<Vec<Outcome>>, BenchError> {
        let jobs: Vec<(usize, usize, u64)> = (0..self.cases.len())
            .flat_map(|case| (0..self.contestants.len()).map(move |contestant| (case, contestant)))
            .flat_map(|(case, contestant)| self.seeds.iter().map(move |seed| (case, contestant, *seed)))
            .collect();
        let results: Vec<Mutex<Option<Ended>>> = jobs.iter().map(|_| Mutex::new(None)).collect();
        let others = Others::default();
        let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
        let work = || {
            while !stopped.load(Ordering::Relaxed) {
                let job = next.fetch_add(1, Ordering::Relaxed);
                let Some((case, contestant, seed)) = jobs.get(job) else { break };
                let (case, contestant) = (&self.cases[*case], self.contestants[*contestant]);
                let played = self.play(case, contestant, *seed, &others).map_err(|cause| BenchError {
                    case: case.id.clone(),
                    contestant: contestant.name().to_string(),
                    cause,
                });
                let failed = played.is_err();
                if let Ok(mut place) = results[job].lock() {
                    *place = Some(played);
                }
                if failed || !progress(case, contestant.name()) {
                    stopped.store(true, Ordering::Relaxed);
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads.clamp(1, jobs.len().max(1)) {
                scope.spawn(work);
            }
            work();
        });
        let mut played = Vec::with_capacity(jobs.len());
        for place in results {
            match place.into_inner().ok().flatten() {
                Some(result) => played.push(result?),
                None => return Ok(None),
            }
        }
        let mut played = played.into_iter();
        let mut outcomes = Vec::new();
        for case in &self.cases {
            for contestant in &self.contestants {
                let runs: Vec<Option<Played>> = played.by_ref().take(self.seeds.len()).collect();
                outcomes.push(self.outcome(case, contestant.name(), &runs));
            }
        }
        Ok(Some(outcomes))
    }

    fn outcome(&self, case: &Case, contestant: &str, runs: &[Option<Played>]) -> Outcome {
        let runs: Vec<&Played> = runs.iter().flatten().collect();
        let of_bar = |(place, bar): (usize, &Bar)| {
            let measured: Vec<Measured> = runs.iter().map(|run| run.measured[place]).collect();
            judge(bar, &measured)
        };
        let judged = if runs.is_empty() { Vec::new() } else { case.bars.iter().enumerate().map(of_bar).collect() };
        let network = case.network(&self.options);
        Outcome {
            case: case.id.clone(),
            title: case.title.clone(),
            scheme: contestant.to_string(),
            seeds: self.seeds.clone(),
            duration_s: case.duration.as_secs_f64(),
            media: self.options.media.to_string(),
            feedback: self.options.feedback.map_or("its own".to_string(), |style| style.to_string()),
            wire_bps: case.limits.wire.as_bps_f64(),
            phases: phases(case, network.as_ref()),
            network,
            bars: judged,
            figures: Figures::mean(&runs.iter().map(|run| &run.figures).collect::<Vec<_>>()),
            trajectories: runs.iter().map(|run| run.trajectory.clone()).collect(),
            fingerprints: runs.iter().map(|run| format!("{:016x}", run.fingerprint)).collect(),
        }
    }

    /// `None` if the case asks for weights and the contestant has none.
    fn play(
        &self,
        case: &Case,
        contestant: &dyn Contestant,
        seed: u64,
        others: &Others,
    ) -> Result<Option<Played>, BenchErrorCause> {
        let sender = on_trial(contestant.sender(case.limits)?, case.gcc.as_deref());
        let mut registry = Registry::new();
        let network = case.network(&self.options);
        let weight = network.as_ref().and_then(|network| network.flows.first()).map_or(1.0, |flow| flow.weight);
        let tested: Box<dyn SenderFactory> = if case.needs_weights {
            let Some(weighted) = contestant.weighted(case.limits, weight)? else { return Ok(None) };
            registry.replace(Renamed { name: sender.name().to_string(), sender });
            Box::new(Renamed { name: format!("{}, weight {weight}", contestant.name()), sender: weighted })
        } else {
            sender
        };
        let seed = Seed::new(seed);
        let run = |scenario: &thalweg_lab::Scenario| -> Result<Run, BenchErrorCause> {
            let mut find = |name: &str| Err(format!("no case has recorded links, and this one names '{name}'"));
            Ok(simulate_with(scenario, &*tested, &registry, &mut find, &mut thalweg_lab::unattended)?)
        };
        let played = run(&case.scenario(contestant.name(), seed, &self.options)?)?;
        let log = log_of(&played, case.flows(), network.as_ref());
        let reference = match (&case.reference, case.reference_scenario(contestant.name(), seed, &self.options)?) {
            (Some(reference), Some(scenario)) => {
                let play = || -> Result<Arc<Log>, BenchErrorCause> {
                    let network = reference.network();
                    Ok(Arc::new(log_of(&run(&scenario)?, network.flows.len(), Some(network))))
                };
                match reference {
                    Reference::Itself(_) => Some(play()?),
                    Reference::Others(_) => Some(others.get_or((&case.id, seed.get()), play)?),
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

/// Logs of references that are the same for all contestants, by case and seed. Two threads may play the same one, with
/// the same result.
#[derive(Default)]
struct Others(Mutex<BTreeMap<(String, u64), Arc<Log>>>);

impl Others {
    fn get_or(
        &self,
        (case, seed): (&str, u64),
        play: impl FnOnce() -> Result<Arc<Log>, BenchErrorCause>,
    ) -> Result<Arc<Log>, BenchErrorCause> {
        let key = (case.to_string(), seed);
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

    fn feedback(&self) -> thalweg_sender::FeedbackStyle {
        self.sender.feedback()
    }

    fn receiver(&self) -> thalweg_sender::scheme::ReceiverKind {
        self.sender.receiver()
    }
}

fn phases(case: &Case, network: Option<&Network>) -> Vec<Vec<Phase>> {
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
