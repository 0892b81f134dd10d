//! The run of any controller as rows that a policy can learn from.

use thalweg_learned::{Outside, Setting, Watched};
use thalweg_sender::{Parts, Registry, Scheme, SenderFactory};
use thalweg_units::{ConfigError, Rate, Size, above, check};

use super::Config;
use super::stepped::Stepped;
use crate::record::Keep;
use crate::simulate::SimulateError;
use crate::{FindTrace, Simulation};

/// A run by interval. Row `t` has the observation at the beginning of interval `t`, what the controller was set to then,
/// and what the interval was worth. The last row ends the episode by truncation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rows {
    /// The sender's name: the challenge's `policy_id`.
    pub policy: String,
    /// How many numbers an observation has.
    pub observation_len: usize,
    /// How many numbers an action has.
    pub action_len: usize,
    /// Rows x observation, row by row: the challenge's `observations`, if the observation is `mmsys150`.
    pub observations: Vec<f32>,
    /// Rows x action: the action that would have set what the controller set.
    pub actions: Vec<f32>,
    /// The rewards.
    pub rewards: Vec<f64>,
    /// The capacity that the controller estimated, in bit/s: the challenge's `bandwidth_predictions`.
    pub estimates_bps: Vec<f64>,
    /// Capacity of the bottleneck, in bit/s: the challenge's `true_capacity`; NaN if there is none.
    pub capacities_bps: Vec<f64>,
}

/// Plays the scenario of `config`, over its own links, with `sender`, and returns its rows. Of `config`, what an
/// environment draws (`links`) and its sender (`around`, `start`) are not used.
///
/// # Errors
/// As for [`Simulation`]; also when the interval is not above zero.
pub fn rows(
    config: &Config,
    sender: &dyn SenderFactory,
    registry: &Registry,
    find: &mut FindTrace<'_>,
) -> Result<Rows, SimulateError> {
    check("interval", config.interval).within(above(thalweg_units::Span::ZERO), "60ms")?;
    let outside = Outside::new(config.observation, config.start);
    let watched = Observed { sender, outside: outside.clone() };
    let simulation = Simulation::new(&config.scenario, &watched, registry, find)?.keeping(Keep::Nothing);
    let mut stepped = Stepped::new(simulation, outside.clone(), config)?;
    let (observation_len, action_len) = (config.observation.len(), config.action.len());
    let mut rows = Rows { policy: sender.name().into(), observation_len, action_len, ..Rows::default() };
    let mut observation = vec![0.0; observation_len];
    let mut before: Option<Setting> = None;
    while !stepped.has_ended() {
        let setting = stepped.setting();
        outside.note(setting);
        rows.observations.extend_from_slice(&observation);
        rows.actions.extend(config.action.of(setting, before.unwrap_or(setting)));
        rows.estimates_bps.push(setting.rate.as_bps_f64());
        before = Some(setting);
        let info = stepped.step(&mut observation)?;
        rows.rewards.push(config.reward.of(&info.interval, &info.viewed));
        rows.capacities_bps.push(info.capacity.map_or(f64::NAN, Rate::as_bps_f64));
    }
    Ok(rows)
}

/// A sender whose controller is observed.
struct Observed<'a> {
    sender: &'a dyn SenderFactory,
    outside: Outside,
}

impl SenderFactory for Observed<'_> {
    fn name(&self) -> &str {
        self.sender.name()
    }

    fn parts(&self, source: Size) -> Result<Parts, ConfigError> {
        let mut parts = self.sender.parts(source)?;
        parts.controller = Box::new(Watched::new(parts.controller, self.outside.clone()));
        Ok(parts)
    }

    fn based_on(&self) -> Option<&dyn SenderFactory> {
        Some(self.sender)
    }

    fn as_scheme(&self) -> Option<&Scheme> {
        self.sender.as_scheme()
    }
}
