//! Environments for reinforcement learning: a call whose rate is set from outside, in steps of an interval of virtual
//! time (docs/learning.md).
//!
//! [`Environment`] is one call at a time, [`Environments`] are many, stepped together; [`rows`] turns the run of any
//! controller into rows that a policy can learn from. Observations, actions and rewards are those of
//! [`thalweg_learned`], which a trained policy plays by too.
//!
//! ```
//! use thalweg_lab::Scenario;
//! use thalweg_lab::environment::{Config, Environment};
//! use thalweg_units::{Seed, Span};
//!
//! let config = Config::new(Scenario { duration: Span::from_secs(10), ..Scenario::over("2Mbps") });
//! let mut environment = Environment::new(&config, &mut config.scenario.find())?;
//! let mut observation = vec![0.0; environment.observation_len()];
//! environment.reset(Some(Seed::new(7)), &mut observation)?;
//! let step = environment.step(&[0.3], &mut observation)?;
//! assert!(step.reward.is_finite() && !step.truncated);
//! # Ok::<(), thalweg_lab::simulate::SimulateError>(())
//! ```

mod episode;
mod many;
mod rows;
mod single;
mod stepped;

use thalweg_learned::{Action, Observation, Reward};
use thalweg_sender::Scheme;
use thalweg_units::{Rate, Span};

use crate::Scenario;

pub use episode::Episode;
pub use many::{Autoreset, Environments};
pub use rows::{Rows, rows};
pub use single::{Environment, Step};
pub use stepped::Info;

/// Configuration of an environment.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The call. Its seed is replaced in every episode.
    pub scenario: Scenario,
    /// The links of the episodes, by name: each episode draws one and a time in it at which it begins, and all
    /// bottlenecks of the forward path get it. Empty for the scenario's own path in every episode.
    pub links: Vec<String>,
    /// Observation of the policy.
    pub observation: Observation,
    /// Action of the policy.
    pub action: Action,
    /// Reward of the policy.
    pub reward: Reward,
    /// The time between two actions.
    pub interval: Span,
    /// The sender around the policy; its controller is not used.
    pub around: Scheme,
    /// The rate before the first action.
    pub start: Rate,
}

impl Config {
    /// The interval of the challenge of MMSys'24.
    pub const INTERVAL: Span = Span::from_millis(60);

    /// Observation `mmsys150`, action `rate`, reward `qoe`, every 60 ms, in a sender that is otherwise `gcc` and begins
    /// where that does.
    pub fn new(scenario: Scenario) -> Config {
        let Ok(around) = "gcc".parse::<Scheme>() else { unreachable!("gcc is a scheme") };
        Config {
            scenario,
            links: Vec::new(),
            observation: Observation::default(),
            action: Action::default(),
            reward: Reward::default(),
            interval: Config::INTERVAL,
            around,
            start: thalweg_control::gcc::Config::default().start,
        }
    }
}
