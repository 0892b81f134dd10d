//! The link of `emulate`, `shell`, `publish` and `duel`: named as for `thalweg compare`, or a scenario file.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::bail;
use clap::ValueEnum;
use thalweg_emulate::{LinkConfig, Zero};
use thalweg_lab::Scenario;
use thalweg_netsim::{HopConfig, Rates, Trace};
use thalweg_units::{Seed, Span};

use crate::commands::values;
use crate::link;

/// Length of a synthetic link before it repeats.
const SYNTHETIC: Span = Span::from_secs(600);

#[derive(clap::Args)]
#[command(next_help_heading = "Emulated link")]
pub(crate) struct Emulated {
    /// Rate of the link in both directions (2Mbps), or several in turn (2Mbps/1Mbps@30s), served bit by bit
    #[arg(long, conflicts_with_all = ["up", "down"])]
    rate: Option<Rates>,
    /// Uplink: a trace file, a rate, rates in turn or a synthetic link such as lte-driving (default: unlimited)
    #[arg(long, value_name = "TRACE")]
    up: Option<String>,
    /// Downlink, in the forms of --up (default: unlimited)
    #[arg(long, value_name = "TRACE")]
    down: Option<String>,
    #[command(flatten)]
    around: link::Around,
    /// Scenario file, as for `thalweg run`: its forward path is the uplink, its reverse path the downlink
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = ["up", "down", "rate", "delay", "loss", "jitter", "queue", "aqm"])]
    scenario: Option<PathBuf>,
    /// Seed of every random choice (default: the scenario's own, or 1)
    #[arg(long, value_parser = values::seed)]
    seed: Option<Seed>,
    /// Start of the traces' time (default: first-packet where viewers come, start for emulate and shell)
    #[arg(long)]
    from: Option<Begin>,
    /// Log each packet in Mahimahi's format: to LOG.up and LOG.down
    #[arg(long)]
    log: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Begin {
    /// At the start of the command
    Start,
    /// At the first packet
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

/// Finds the traces of a link, if there is one.
pub(super) fn finder(link: Option<&Link>) -> impl FnMut(&str) -> Result<Arc<Trace>, String> {
    move |name| match link {
        Some(link) => link.find(name),
        None => Err(format!("no trace '{name}' without a link")),
    }
}

impl Emulated {
    /// Returns true if any option asks for a link.
    pub(crate) fn wanted(&self) -> bool {
        let given = [self.up.is_some(), self.down.is_some(), self.rate.is_some(), self.scenario.is_some()];
        let link::Around { delay, loss, jitter, queue, aqm } = &self.around;
        let around = [delay.is_some(), loss.is_some(), jitter.is_some(), queue.is_some(), aqm.is_some()];
        given.into_iter().chain(around).any(|given| given) || self.log.is_some() || self.from.is_some()
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
        let around = &self.around;
        words.extend(around.queue.map(|queue| format!("{queue} of queue")));
        words.extend(around.aqm.and_then(|kind| Some(kind.to_possible_value()?.get_name().to_string())));
        words.extend(around.loss.map(|loss| format!("{} % loss", loss * 100.0)));
        words.extend(around.jitter.map(|jitter| format!("up to {jitter} of jitter")));
        words.extend(around.delay.filter(|delay| *delay > Span::ZERO).map(|delay| format!("{delay} each way")));
        words.join(", ")
    }

    /// The link, whose time begins at `zero` unless it is said.
    pub(crate) fn link(&self, zero: Zero) -> anyhow::Result<Link> {
        let zero = match self.from {
            None => zero,
            Some(Begin::Start) => Zero::Start,
            Some(Begin::FirstPacket) => Zero::FirstPacket,
        };
        let common = LinkConfig { zero, log: self.log.clone(), ..LinkConfig::default() };
        if let Some(path) = &self.scenario {
            let scenario = crate::commands::run::File::read(path)?.scenario;
            for name in thalweg_lab_sockets::simulated(&scenario) {
                note!("{name} of {} has no effect here: only its paths are emulated", path.display());
            }
            let Scenario { forward: up, reverse: down, seed, duration, .. } = scenario;
            let config = LinkConfig { up, down, seed: self.seed.unwrap_or(seed), ..common };
            return Ok(Link { config, duration });
        }
        let delay = self.around.delay.unwrap_or(Span::ZERO);
        let queue = |mean| self.around.queue(mean, delay);
        let trace = |name: &Option<String>| -> anyhow::Result<Option<HopConfig>> {
            let Some(name) = name else { return Ok(None) };
            let mean = link::find(name, SYNTHETIC, self.seed())?.mean_rate();
            Ok(Some(link::bottleneck(name, queue(mean)?)))
        };
        let (up, down) = match &self.rate {
            Some(rate) => {
                let hop = HopConfig::Rate { rate: rate.clone(), queue: queue(rate.mean())? };
                (Some(hop.clone()), Some(hop))
            }
            None => (trace(&self.up)?, trace(&self.down)?),
        };
        let has_queue = self.around.queue.is_some() || self.around.aqm.is_some();
        if has_queue && up.is_none() && down.is_none() {
            bail!("--queue and --aqm need a bottleneck: give --rate, --up or --down too");
        }
        let path = |bottleneck| self.around.path(bottleneck, delay);
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
        let LinkConfig { up, down, .. } = only.link.link(Zero::Start).unwrap().config;
        [up, down].map(|path| path.hops.len() - 1)
    }

    #[test]
    fn a_links_time_begins_where_it_is_said_or_where_the_command_has_it() {
        let zero = |options: &[&str], zero| {
            Only::parse_from([&["link"], options].concat()).link.link(zero).unwrap().config.zero
        };
        assert_eq!(zero(&["--rate", "1Mbps"], Zero::FirstPacket), Zero::FirstPacket);
        assert_eq!(zero(&["--rate", "1Mbps", "--from", "start"], Zero::FirstPacket), Zero::Start);
        assert_eq!(zero(&["--rate", "1Mbps", "--from", "first-packet"], Zero::Start), Zero::FirstPacket);
    }

    #[test]
    fn a_rate_limits_both_directions_and_a_trace_the_one_it_is_given_for() {
        assert_eq!(directions(&["--rate", "1Mbps"]), [1, 1]);
        assert_eq!(directions(&["--up", "1Mbps"]), [1, 0]);
        assert_eq!(directions(&["--down", "1Mbps"]), [0, 1]);
        assert!(Only::try_parse_from(["link", "--rate", "1Mbps", "--down", "1Mbps"]).is_err());
    }
}
