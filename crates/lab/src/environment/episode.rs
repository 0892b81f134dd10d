//! Choices that distinguish the episodes of an environment: link, beginning in it, seed.

use std::collections::BTreeMap;
use std::sync::Arc;

use thalweg_netsim::{HopConfig, Trace};
use thalweg_sender::Registry;
use thalweg_units::{Random, Seed, Span};

use super::Config;
use crate::simulate::SimulateError;
use crate::{FindTrace, Scenario, Simulation};

/// The name under which the forward path has an episode's link.
const DRAWN: &str = "the episode's link";

/// Random choices of an episode.
#[derive(Debug, Clone, PartialEq)]
pub struct Episode {
    /// The name of its link; `None` for the scenario's own.
    pub link: Option<Arc<str>>,
    /// Where in the link it begins.
    pub offset: Span,
    /// The seed of its scenario.
    pub seed: Seed,
}

/// The episodes that may be drawn, with every trace that they need.
#[derive(Debug)]
pub(super) struct Episodes {
    pub(super) config: Config,
    links: Vec<(Arc<str>, Arc<Trace>)>,
    /// The traces that the scenario itself names.
    own: BTreeMap<String, Arc<Trace>>,
}

impl Episodes {
    /// Finds every trace, and plays the beginning of an episode: what cannot be built is refused now.
    ///
    /// # Errors
    /// As for a [`Simulation`]; also when there are links and the forward path has no bottleneck for them, or the reward
    /// is PSNR and nothing measures it.
    pub(super) fn new(config: &Config, find: &mut FindTrace<'_>) -> Result<Episodes, SimulateError> {
        let refused = |problem: String| Err(SimulateError::Scenario(problem));
        let mut config = config.clone();
        let takes_link = |hop: &HopConfig| matches!(hop, HopConfig::Bottleneck { .. });
        if !config.links.is_empty() && !config.scenario.forward.hops.iter().any(takes_link) {
            return refused("links are given, and the forward path has no bottleneck with a trace for them".into());
        }
        let is_psnr = config.reward == thalweg_learned::Reward::Psnr;
        if is_psnr && config.scenario.codec.is_model() {
            return refused(
                "reward is psnr, and the codec is a model without pixels: choose vp8 or another real codec".into(),
            );
        }
        config.scenario.measure_quality = is_psnr;
        let mut links = Vec::new();
        for name in &config.links {
            let trace = find(name).map_err(|why| SimulateError::Path(format!("{name}: {why}")))?;
            links.push((Arc::from(name.as_str()), trace));
        }
        if !links.is_empty() {
            for hop in &mut config.scenario.forward.hops {
                if let HopConfig::Bottleneck { trace, .. } = hop {
                    *trace = DRAWN.into();
                }
            }
        }
        let mut own = BTreeMap::new();
        let mut noted = |name: &str| {
            if let (DRAWN, Some((_, trace))) = (name, links.first()) {
                return Ok(trace.clone());
            }
            let trace = find(name)?;
            own.insert(name.to_string(), trace.clone());
            Ok(trace)
        };
        Simulation::new(&config.scenario, &config.around, &Registry::new(), &mut noted)?;
        Ok(Episodes { config, links, own })
    }

    /// Draws an episode: its scenario, and the traces for it.
    pub(super) fn draw(&self, random: &mut Random) -> (Episode, Scenario, Found<'_>) {
        let (link, offset, trace) = match self.links.get(random.below(self.links.len() as u64) as usize) {
            None => (None, Span::ZERO, None),
            Some((name, trace)) => {
                let offset = random.below(trace.period().as_millis() as u64);
                let length = self.config.scenario.duration;
                (Some(name.clone()), Span::from_millis(offset as i64), Some(Arc::new(part(trace, offset, length))))
            }
        };
        let seed = Seed::new(random.bits());
        let scenario = Scenario { seed, ..self.config.scenario.clone() };
        (Episode { link, offset, seed }, scenario, Found { drawn: trace, own: &self.own })
    }
}

/// The traces of an episode.
pub(super) struct Found<'a> {
    drawn: Option<Arc<Trace>>,
    own: &'a BTreeMap<String, Arc<Trace>>,
}

impl Found<'_> {
    /// The trace of this name; each was found once when the environment was made.
    pub(super) fn find(&self, name: &str) -> Result<Arc<Trace>, String> {
        let drawn = self.drawn.clone().filter(|_| name == DRAWN);
        drawn.or_else(|| self.own.get(name).cloned()).ok_or_else(|| format!("unknown trace '{name}'"))
    }
}

/// The looped trace from a millisecond on, long enough for an episode: its own loop is never reached.
fn part(trace: &Trace, offset: u64, length: Span) -> Trace {
    let (millis, period) = (trace.millis(), trace.period().as_millis() as u64);
    let end = length.as_millis() as u64 + 1;
    let mut opportunities = Vec::new();
    let (mut place, mut lap) = (millis.partition_point(|at| *at < offset), 0);
    // One beyond the end, so that there is one.
    while opportunities.last().is_none_or(|last| *last <= end) {
        let Some(at) = millis.get(place) else {
            (place, lap) = (0, lap + period);
            continue;
        };
        opportunities.push(at + lap - offset);
        place += 1;
    }
    Trace::new(opportunities).unwrap_or_else(|_| trace.clone())
}
