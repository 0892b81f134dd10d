//! `thalweg compare`: schemes side by side.

use std::path::PathBuf;

use thalweg_lab::scenario::Scenario;
use thalweg_link::{HopConfig, QueueConfig, Rates};
use thalweg_units::{Seed, Span};

use super::pictures::Pictures;
use super::results::Results;
use super::seeds::Seeds;
use super::values;
use crate::link;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Schemes to compare, separated by commas (see `thalweg schemes`)
    #[arg(long, default_value = "gcc,copa,vidaptive,vidaptive:rocc", value_delimiter = ',')]
    scheme: Vec<String>,
    /// The link: a trace file of any format (up.trace, 5g.csv:column=DL_bitrate, call.pcap), a rate (2Mbps), rates in
    /// turn (2Mbps/500kbps@40s) or a synthetic link (lte-driving). Given several times, each is played
    #[arg(long, default_value = "lte-driving")]
    trace: Vec<String>,
    /// A link that sends bit by bit at a rate (1Mbps), or at rates in turn (2Mbps/1Mbps@30s), instead of at a trace's
    /// delivery opportunities
    #[arg(long, conflicts_with = "trace")]
    rate: Option<Rates>,
    /// A second link in series, as when both peers are on cellular networks: as --trace
    #[arg(long)]
    then: Option<String>,
    /// The reverse path, for feedback: as --trace; unlimited when absent
    #[arg(long)]
    reverse: Option<String>,
    #[command(flatten)]
    pictures: Pictures,
    /// Duration of each run
    #[arg(long, default_value = "60s", allow_hyphen_values = true, value_parser = values::duration)]
    duration: Span,
    /// One-way delay of the path in each direction
    #[arg(long, default_value = "25ms", allow_hyphen_values = true, value_parser = values::delay)]
    delay: Span,
    /// Length of the bottleneck's queue, drop-tail: 64kB, 100ms (at the link's mean rate) or 1bdp (of its mean rate and the
    /// path's round trip); unlimited when absent
    #[arg(long)]
    queue: Option<link::QueueLength>,
    #[command(flatten)]
    seeds: Seeds,
    #[command(flatten)]
    results: Results,
    /// The folder for the report and for each run: run.toml, events.parquet, summary.json. Results of an earlier command
    /// in it move to earlier/1, earlier/2 and so on
    #[arg(long, short, default_value = "out")]
    out: PathBuf,
    /// Go on with the same command that was interrupted: what it finished is not played again
    #[arg(long)]
    resume: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    arguments.results.check()?;
    let schemes = crate::play::schemes(&arguments.scheme)?;
    let scenarios = scenarios(arguments)?;
    let jobs = crate::play::matrix(&scenarios, &schemes, &arguments.out);
    arguments.results.of(&jobs, &arguments.out, arguments.resume)
}

/// A scenario for each link, video and seed.
fn scenarios(arguments: &Arguments) -> anyhow::Result<Vec<Scenario>> {
    let queue = |mean| link::queue(arguments.queue, mean, arguments.delay * 2);
    let bottleneck = |trace: &String| -> anyhow::Result<HopConfig> {
        let mean = link::find(trace, arguments.duration, Seed::new(1))?.mean_rate();
        Ok(link::bottleneck(trace, queue(mean)))
    };
    let firsts: Vec<(String, HopConfig)> = match &arguments.rate {
        Some(rate) => {
            let queue = queue(rate.mean());
            vec![(rate.to_string(), HopConfig::Rate { rate: rate.clone(), queue })]
        }
        None => {
            let each = arguments.trace.iter().map(|trace| Ok((link::label(trace), bottleneck(trace)?)));
            each.collect::<anyhow::Result<_>>()?
        }
    };
    let then = arguments.then.as_ref().map(bottleneck).transpose()?;
    let reverse = arguments.reverse.as_ref().map(|name| -> anyhow::Result<HopConfig> {
        link::find(name, arguments.duration, Seed::new(1))?;
        Ok(link::bottleneck(name, QueueConfig::Infinite))
    });
    let reverse = reverse.transpose()?;
    let mut scenarios = Vec::new();
    for (name, first) in firsts {
        let name = match &arguments.then {
            Some(then) => format!("{name}, {}", link::label(then)),
            None => name,
        };
        for pictures in arguments.pictures.each() {
            for seed in arguments.seeds.list(Seed::new(1))? {
                let forth = link::path([first.clone()].into_iter().chain(then.clone()), None, arguments.delay);
                let back = link::path(reverse.clone(), None, arguments.delay);
                scenarios.push(pictures.over(&name, arguments.duration, seed, forth, back));
            }
        }
    }
    Ok(scenarios)
}
