//! The link of `emulate`, `shell`, `publish` and `duel`: named as for `thalweg compare`, or a scenario file.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::bail;
use thalweg_lab::Scenario;
use thalweg_link::{HopConfig, Rates, Trace};
use thalweg_live::emulate::{LinkConfig, Zero};
use thalweg_units::{Seed, Span};

use crate::link;

/// Length of a synthetic link before it repeats.
const SYNTHETIC: Span = Span::from_secs(600);

#[derive(clap::Args)]
pub(crate) struct Emulated {
    /// The uplink: a trace file, a rate (2Mbps), rates in turn (2Mbps/500kbps@40s) or a synthetic link (lte-driving);
    /// unlimited when absent
    #[arg(long)]
    up: Option<String>,
    /// The downlink: as --up
    #[arg(long)]
    down: Option<String>,
    /// A link that sends bit by bit at a rate (1Mbps), or at rates in turn (2Mbps/1Mbps@30s), in each direction,
    /// instead of at a trace's delivery opportunities
    #[arg(long, conflicts_with_all = ["up", "down"])]
    rate: Option<Rates>,
    /// One-way delay of the path in each direction
    #[arg(long, default_value = "0ms")]
    delay: Span,
    /// Share of packets lost at random in each direction, between bottleneck and delay, such as 0.02
    #[arg(long)]
    loss: Option<f64>,
    /// Length of each bottleneck's queue, drop-tail: 64kB, 100ms (at the link's mean rate) or 1bdp (of its mean rate and
    /// twice the delay); unlimited when absent
    #[arg(long)]
    queue: Option<link::QueueLength>,
    /// A scenario file, as for `thalweg run`: its forward path is the uplink, its reverse path the downlink
    #[arg(long, conflicts_with_all = ["up", "down", "rate", "delay", "loss", "queue"])]
    scenario: Option<PathBuf>,
    /// The seed of every random choice; when absent the scenario's own, or 1
    #[arg(long)]
    seed: Option<Seed>,
    /// The start of the traces' time
    #[arg(long, default_value = "start")]
    from: Begin,
    /// Log each packet in Mahimahi's format: to LOG.up and LOG.down
    #[arg(long)]
    log: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Begin {
    /// When the command starts
    Start,
    /// When the first packet comes
    FirstPacket,
}

/// A link, and where its traces are found.
pub(crate) struct Link {
    pub(crate) config: LinkConfig,
    duration: Span,
}

impl Link {
    /// A trace by name, as the simulator finds it.
    pub(crate) fn find(&self, name: &str) -> Result<Arc<Trace>, String> {
        link::find(name, self.duration, self.config.seed).map_err(|error| format!("{error:#}"))
    }
}

impl Emulated {
    /// Whether any option asks for a link.
    pub(crate) fn wanted(&self) -> bool {
        let given = [self.up.is_some(), self.down.is_some(), self.rate.is_some(), self.scenario.is_some()];
        let changed = [self.delay != Span::ZERO, self.loss.is_some(), self.queue.is_some(), self.log.is_some()];
        given.into_iter().chain(changed).any(|said| said) || self.from != Begin::Start
    }

    /// The seed of random choices where no scenario gives one.
    pub(crate) fn seed(&self) -> Seed {
        self.seed.unwrap_or(LinkConfig::default().seed)
    }

    /// The link as text.
    pub(crate) fn words(&self) -> String {
        if let Some(path) = &self.scenario {
            return path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        }
        let mut words: Vec<String> = self.rate.iter().map(ToString::to_string).collect();
        words.extend(self.up.iter().chain(&self.down).map(|name| link::label(name)));
        words.extend(self.queue.map(|queue| format!("{queue} of queue")));
        words.extend(self.loss.map(|loss| format!("{} % loss", loss * 100.0)));
        if self.delay > Span::ZERO {
            words.push(format!("{} each way", self.delay));
        }
        words.join(", ")
    }

    pub(crate) fn link(&self) -> anyhow::Result<Link> {
        let zero = match self.from {
            Begin::Start => Zero::Start,
            Begin::FirstPacket => Zero::FirstPacket,
        };
        let common = LinkConfig { zero, log: self.log.clone(), ..LinkConfig::default() };
        if let Some(path) = &self.scenario {
            let scenario = crate::commands::run::File::read(path)?.scenario;
            let Scenario { forward: up, reverse: down, seed, duration, .. } = scenario;
            let config = LinkConfig { up, down, seed: self.seed.unwrap_or(seed), ..common };
            return Ok(Link { config, duration });
        }
        let queue = |mean| link::queue(self.queue, mean, self.delay * 2);
        let trace = |name: &Option<String>| -> anyhow::Result<Option<HopConfig>> {
            let Some(name) = name else { return Ok(None) };
            let mean = link::find(name, SYNTHETIC, self.seed())?.mean_rate();
            Ok(Some(link::bottleneck(name, queue(mean))))
        };
        let rate = self.rate.as_ref().map(|rate| HopConfig::Rate { rate: rate.clone(), queue: queue(rate.mean()) });
        let (up, down) = match rate {
            Some(rate) => (Some(rate.clone()), Some(rate)),
            None => (trace(&self.up)?, trace(&self.down)?),
        };
        if let Some(queue) = self.queue
            && up.is_none()
            && down.is_none()
        {
            bail!(
                "--queue is {queue}, and there is no bottleneck for it to stand before: give --rate, --up or --down too"
            );
        }
        let path = |bottleneck| link::path(bottleneck, self.loss, self.delay);
        let (up, down, seed) = (path(up), path(down), self.seed());
        Ok(Link { config: LinkConfig { up, down, seed, ..common }, duration: SYNTHETIC })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        link: Emulated,
    }

    fn directions(options: &[&str]) -> [usize; 2] {
        let only = Only::parse_from([&["link", "--delay", "10ms"], options].concat());
        let LinkConfig { up, down, .. } = only.link.link().unwrap().config;
        [up, down].map(|path| path.hops.len() - 1)
    }

    #[test]
    fn a_rate_limits_both_directions_and_a_trace_the_one_it_is_given_for() {
        assert_eq!(directions(&["--rate", "1Mbps"]), [1, 1]);
        assert_eq!(directions(&["--up", "1Mbps"]), [1, 0]);
        assert_eq!(directions(&["--down", "1Mbps"]), [0, 1]);
        assert!(Only::try_parse_from(["link", "--rate", "1Mbps", "--down", "1Mbps"]).is_err());
    }
}
