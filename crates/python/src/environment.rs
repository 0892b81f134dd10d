//! Environments for reinforcement learning (python/thalweg/gym), and rows of any controller's run (python/thalweg/offline.py).

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use numpy::{PyReadonlyArray1, PyReadwriteArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use thalweg_lab::Scenario;
use thalweg_lab::environment::{self, Autoreset, Config, Info};
use thalweg_learned::{Action, Observation, QoeWeights, Reward};
use thalweg_sender::Registry;
use thalweg_units::{ConfigError, Rate, Seed, Span};

use crate::array::Array;
use crate::errors::{from, raised};
use crate::links::{Links, Trace};
use crate::run::exception_of;
use crate::scenario;
use crate::sender::Sender;

/// Statistics of an interval, by the names that gymnasium's `info` has; NaN where there is no value.
pub(crate) const INFO: [&str; 9] = [
    "time_s",
    "set_bps",
    "capacity_bps",
    "received_bps",
    "round_trip_s",
    "loss_ratio",
    "shown_bps",
    "latency_s",
    "frozen_ratio",
];

fn numbers(info: &Info) -> [f64; INFO.len()] {
    [
        info.at.as_secs_f64(),
        info.setting.rate.as_bps_f64(),
        info.capacity.map_or(f64::NAN, Rate::as_bps_f64),
        info.interval.receive_rate().as_bps_f64(),
        info.interval.round_trip.map_or(f64::NAN, Span::as_secs_f64),
        info.interval.loss_ratio(),
        info.viewed.rate.as_bps_f64(),
        info.viewed.latency.as_secs_f64(),
        info.viewed.frozen,
    ]
}

/// Configuration of environments, with the links that its names stand for.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct Call {
    config: Config,
    links: Py<Links>,
    /// The links of episodes that are no names of others.
    drawn: BTreeMap<String, Arc<thalweg_netsim::Trace>>,
}

#[pymethods]
impl Call {
    /// `traces` are the links of episodes: names, with a trace where one was given; `weights` those of the reward `qoe`: of rate, freeze and latency.
    #[new]
    #[allow(clippy::too_many_arguments)] // Python gives each by its name (python/thalweg/calls.py).
    fn new(
        given: &Bound<'_, PyAny>,
        links: Py<Links>,
        traces: Vec<(String, Option<Py<Trace>>)>,
        observation: &str,
        action: &str,
        reward: &str,
        weights: Option<(f64, f64, f64)>,
        interval: &str,
    ) -> PyResult<Call> {
        let py = given.py();
        let mut scenario = scenario::of(given)?;
        links.get().check(py, &mut scenario)?;
        let wrong = |error: ConfigError| from("ScenarioError", &error);
        let mut reward = reward.parse::<Reward>().map_err(wrong)?;
        if let (Reward::Qoe(default), Some((rate, freeze, latency))) = (&mut reward, weights) {
            *default = QoeWeights { rate, freeze, latency };
        }
        let interval = interval.parse::<Span>();
        let interval =
            interval.map_err(|why| raised(py, "ScenarioError", &format!("interval: {why}"), Some("interval")))?;
        let names = traces.iter().map(|(name, _)| name.clone()).collect();
        let given = traces.into_iter().filter_map(|(name, trace)| Some((name, trace?.get().0.clone())));
        let config = Config {
            links: names,
            observation: observation.parse::<Observation>().map_err(wrong)?,
            action: action.parse::<Action>().map_err(wrong)?,
            reward,
            interval,
            ..Config::new(scenario)
        };
        Ok(Call { config, links, drawn: given.collect() })
    }

    /// The scenario's seed.
    #[getter]
    fn seed(&self) -> u64 {
        self.config.scenario.seed.get()
    }

    /// How many numbers an observation has.
    #[getter]
    fn observation_len(&self) -> usize {
        self.config.observation.len()
    }

    /// How many numbers an action has.
    #[getter]
    fn action_len(&self) -> usize {
        self.config.action.len()
    }

    /// The range of each.
    #[getter]
    fn action_range(&self) -> (f32, f32) {
        self.config.action.range().into_inner()
    }

    /// Plays `sender` over the scenario's own links, as rows.
    fn rows(&self, py: Python<'_>, sender: &Sender) -> PyResult<Rows> {
        let played = py.detach(|| {
            environment::rows(&self.config, &*sender.0, &Registry::new(), &mut |name: &str| self.find(name))
        });
        played.map(Rows).map_err(|error| sender.take_exception().unwrap_or_else(|| exception_of(py, &error)))
    }
}

impl Call {
    fn find(&self, name: &str) -> Result<Arc<thalweg_netsim::Trace>, String> {
        let Scenario { duration, seed, .. } = self.config.scenario;
        match self.drawn.get(name) {
            Some(trace) => Ok(trace.clone()),
            None => self.links.get().find(name, duration, seed),
        }
    }
}

/// One call at a time.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct Environment(Mutex<environment::Environment>);

/// The link of an episode, where in it the episode begins in seconds, and its scenario's seed.
type Episode = (Option<String>, f64, u64);

fn episode(of: &environment::Environment) -> Option<Episode> {
    let episode = of.episode()?;
    Some((episode.link.as_ref().map(ToString::to_string), episode.offset.as_secs_f64(), episode.seed.get()))
}

#[pymethods]
impl Environment {
    #[new]
    fn new(py: Python<'_>, call: &Call) -> PyResult<Environment> {
        let made = py.detach(|| environment::Environment::new(&call.config, &mut |name: &str| call.find(name)));
        made.map(|environment| Environment(Mutex::new(environment))).map_err(|error| exception_of(py, &error))
    }

    /// Begins an episode; with a seed, that and those after it follow from it.
    fn reset(
        &self,
        py: Python<'_>,
        seed: Option<u64>,
        mut observation: PyReadwriteArray1<'_, f32>,
    ) -> PyResult<Option<Episode>> {
        let observation = observation.as_slice_mut()?;
        let begun = py.detach(|| {
            let mut environment = locked(&self.0);
            environment.reset(seed.map(Seed::new), observation).map(|()| episode(&environment))
        });
        begun.map_err(|error| exception_of(py, &error))
    }

    /// Acts; returns the reward, whether the episode has ended, and the numbers of [`INFO`].
    fn step(
        &self,
        py: Python<'_>,
        action: PyReadonlyArray1<'_, f32>,
        mut observation: PyReadwriteArray1<'_, f32>,
    ) -> PyResult<(f64, bool, [f64; INFO.len()])> {
        let (action, observation) = (action.as_slice()?, observation.as_slice_mut()?);
        let stepped = py.detach(|| locked(&self.0).step(action, observation));
        let step = stepped.map_err(|error| exception_of(py, &error))?;
        Ok((step.reward, step.truncated, numbers(&step.info)))
    }
}

/// Many, stepped together. Arrays of several rows are given flat, row by row.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct Environments(Mutex<environment::Environments>);

#[pymethods]
impl Environments {
    #[new]
    fn new(py: Python<'_>, call: &Call, count: usize, threads: usize, autoreset: &str) -> PyResult<Environments> {
        let mode: Autoreset = autoreset.parse().map_err(|error: ConfigError| from("ScenarioError", &error))?;
        let Some(threads) = NonZeroUsize::new(threads) else {
            return Err(PyValueError::new_err("threads is 0: must be 1 or more"));
        };
        let mut find = |name: &str| call.find(name);
        let made = py.detach(|| environment::Environments::new(&call.config, count, threads, mode, &mut find));
        made.map(|environments| Environments(Mutex::new(environments))).map_err(|error| exception_of(py, &error))
    }

    /// The seed of environment `index` when all are reset with `seed`.
    #[staticmethod]
    fn seed_of(seed: u64, index: usize) -> u64 {
        environment::Environments::seed_of(Seed::new(seed), index).get()
    }

    /// Begins an episode in those that `which` selects, each with its own seed, and returns their episodes.
    fn reset(
        &self,
        py: Python<'_>,
        seeds: Vec<Option<u64>>,
        which: Vec<bool>,
        mut observations: PyReadwriteArray1<'_, f32>,
    ) -> PyResult<Vec<Option<Episode>>> {
        let observations = observations.as_slice_mut()?;
        let seeds: Vec<Option<Seed>> = seeds.into_iter().map(|seed| seed.map(Seed::new)).collect();
        let begun = py.detach(|| {
            let mut environments = locked(&self.0);
            environments.reset_each(&seeds, &which, observations)?;
            let of = |index| environments.environment(index).and_then(episode);
            Ok((0..environments.len()).map(of).collect())
        });
        begun.map_err(|error| exception_of(py, &error))
    }

    /// Acts in each. `infos` has a row of [`INFO`] for each; NaN throughout where a step only began an episode.
    fn step(
        &self,
        py: Python<'_>,
        actions: PyReadonlyArray1<'_, f32>,
        mut observations: PyReadwriteArray1<'_, f32>,
        mut rewards: PyReadwriteArray1<'_, f64>,
        mut truncated: PyReadwriteArray1<'_, bool>,
        mut infos: PyReadwriteArray1<'_, f64>,
    ) -> PyResult<()> {
        let (actions, observations) = (actions.as_slice()?, observations.as_slice_mut()?);
        let (rewards, truncated) = (rewards.as_slice_mut()?, truncated.as_slice_mut()?);
        let infos = infos.as_slice_mut()?;
        let stepped = py.detach(|| {
            let mut environments = locked(&self.0);
            environments.step(actions, observations, rewards, truncated)?;
            for (index, row) in infos.chunks_exact_mut(INFO.len()).enumerate() {
                row.copy_from_slice(&environments.info(index).map_or([f64::NAN; INFO.len()], numbers));
            }
            Ok(())
        });
        stepped.map_err(|error| exception_of(py, &error))
    }

    /// Writes the observation at the end of the episode that environment `index` ended in the last step, if the mode is
    /// `same-step`.
    fn final_observation(&self, index: usize, mut to: PyReadwriteArray1<'_, f32>) -> PyResult<()> {
        let to = to.as_slice_mut()?;
        let environments = locked(&self.0);
        match environments.final_observation(index).filter(|last| last.len() == to.len()) {
            Some(last) => to.copy_from_slice(last),
            None => return Err(PyValueError::new_err(format!("environment {index} has no observation of an end"))),
        }
        Ok(())
    }
}

/// Steps of several threads of Python take turns.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The run of a controller as rows.
#[pyclass(frozen, module = "thalweg._native")]
pub(crate) struct Rows(environment::Rows);

#[pymethods]
impl Rows {
    /// The sender's name.
    #[getter]
    fn policy(&self) -> &str {
        &self.0.policy
    }

    /// Row by row, flat.
    fn observations(&self) -> Array {
        Array::of(self.0.observations.clone())
    }

    /// Row by row, flat.
    fn actions(&self) -> Array {
        Array::of(self.0.actions.clone())
    }

    fn rewards(&self) -> Array {
        Array::of(self.0.rewards.clone())
    }

    /// The controller's estimates, in bit/s.
    fn estimates_bps(&self) -> Array {
        Array::of(self.0.estimates_bps.clone())
    }

    /// Capacity of the bottleneck, in bit/s.
    fn capacities_bps(&self) -> Array {
        Array::of(self.0.capacities_bps.clone())
    }
}
