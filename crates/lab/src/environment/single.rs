//! One environment.

use std::sync::Arc;

use thalweg_learned::{External, Outside};
use thalweg_sender::Registry;
use thalweg_units::{Random, Seed};

use super::Config;
use super::episode::{Episode, Episodes};
use super::stepped::{Info, Stepped, setting_of};
use crate::record::Keep;
use crate::simulate::SimulateError;
use crate::{FindTrace, Simulation};

/// A call whose rate is set from outside. It never terminates, because a dead link is a state like others; it is
/// truncated at the scenario's end.
pub struct Environment {
    episodes: Arc<Episodes>,
    random: Random,
    running: Option<Running>,
}

struct Running {
    episode: Episode,
    outside: Outside,
    stepped: Stepped,
}

/// The result of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The interval's reward.
    pub reward: f64,
    /// True if the scenario has ended.
    pub truncated: bool,
    /// The interval's statistics.
    pub info: Info,
}

impl Environment {
    /// An environment before its first episode. `find` looks up every link and trace, now.
    ///
    /// # Errors
    /// When an episode cannot be played; the error suggests a fix.
    pub fn new(config: &Config, find: &mut FindTrace<'_>) -> Result<Environment, SimulateError> {
        // Its interval is checked where controllers are made.
        External::new(&Outside::new(config.observation, config.start), config.interval)?;
        Ok(Environment::of(Arc::new(Episodes::new(config, find)?)))
    }

    pub(super) fn of(episodes: Arc<Episodes>) -> Environment {
        Environment { episodes, random: Seed::default().random(), running: None }
    }

    pub(super) fn episodes(&self) -> &Arc<Episodes> {
        &self.episodes
    }

    /// The configuration. The scenario is as it is played: quality is measured only for a reward that needs it.
    pub fn config(&self) -> &Config {
        &self.episodes.config
    }

    /// How many numbers an observation has.
    pub fn observation_len(&self) -> usize {
        self.config().observation.len()
    }

    /// How many numbers an action has.
    pub fn action_len(&self) -> usize {
        self.config().action.len()
    }

    /// The episode that is played; `None` before the first.
    pub fn episode(&self) -> Option<&Episode> {
        self.running.as_ref().map(|running| &running.episode)
    }

    /// Begins an episode and writes its first observation, which is zeros. `seed` determines it and those after it;
    /// `None` goes on with the seed before.
    ///
    /// # Errors
    /// When the observation does not have [`Environment::observation_len`] numbers, or the simulation fails.
    pub fn reset(&mut self, seed: Option<Seed>, observation: &mut [f32]) -> Result<(), SimulateError> {
        check_len("observation", observation.len(), self.observation_len())?;
        if let Some(seed) = seed {
            self.random = seed.random();
        }
        let episodes = self.episodes.clone();
        let config = &episodes.config;
        let (episode, scenario, found) = episodes.draw(&mut self.random);
        let outside = Outside::new(config.observation, config.start);
        let inside = External::new(&outside, config.interval)?;
        let sender = config.around.clone().with_controller("external", move || Ok(inside.clone()));
        let simulation = Simulation::new(&scenario, &sender, &Registry::new(), &mut |name| found.find(name))?;
        let stepped = Stepped::new(simulation.keeping(Keep::Nothing), outside.clone(), config)?;
        self.running = Some(Running { episode, outside, stepped });
        observation.fill(0.0);
        Ok(())
    }

    /// Acts, plays an interval, and writes the observation at its end.
    ///
    /// # Errors
    /// When no episode is running, the action is none, or the simulation fails.
    pub fn step(&mut self, action: &[f32], observation: &mut [f32]) -> Result<Step, SimulateError> {
        check_len("observation", observation.len(), self.observation_len())?;
        let config = &self.episodes.config;
        let Some(running) = self.running.as_mut().filter(|running| !running.stepped.has_ended()) else {
            return Err(SimulateError::Scenario("no episode is running: reset the environment first".into()));
        };
        running.outside.set(setting_of(config.action, action, running.outside.setting())?);
        let info = running.stepped.step(observation)?;
        let reward = config.reward.of(&info.interval, &info.viewed);
        Ok(Step { reward, truncated: running.stepped.has_ended(), info })
    }
}

/// # Errors
/// When a caller's array has a wrong length; the error names it.
pub(super) fn check_len(what: &str, len: usize, wanted: usize) -> Result<(), SimulateError> {
    Ok(thalweg_units::check(what, format_args!("{len} numbers")).is(len == wanted, format_args!("{wanted} numbers"))?)
}
