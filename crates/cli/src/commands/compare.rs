//! `thalweg compare`: schemes side by side.

use std::path::PathBuf;

use thalweg_lab::scenario::Scenario;
use thalweg_link::{HopConfig, QueueConfig, Rates};
use thalweg_units::{Seed, Span};

use super::pictures::Pictures;
use crate::link;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Schemes to compare, separated by commas (see `thalweg schemes`)
    #[arg(long, default_value = "gcc,copa,vidaptive,vidaptive:rocc", value_delimiter = ',')]
    scheme: Vec<String>,
    /// The link: a trace file, a rate (2Mbps), rates in turn (2Mbps/500kbps@40s) or a synthetic link (lte-driving)
    #[arg(long, default_value = "lte-driving")]
    trace: String,
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
    #[arg(long, default_value = "60s")]
    duration: Span,
    /// One-way delay of the path in each direction
    #[arg(long, default_value = "25ms")]
    delay: Span,
    /// Capacity of the bottleneck's queue in bytes, drop-tail; unlimited when absent
    #[arg(long)]
    queue: Option<thalweg_units::Bytes>,
    /// The seed of every random choice
    #[arg(long, default_value_t = Seed::new(1))]
    seed: Seed,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
    /// The folder for the report and for each run: run.toml, events.parquet, summary.json
    #[arg(long, short, default_value = "out")]
    out: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let schemes = crate::play::schemes(&arguments.scheme)?;
    let scenario = scenario(arguments);
    let outcomes = crate::play::all(&crate::play::each(&scenario, &schemes, &arguments.out))?;
    crate::play::show(&outcomes, arguments.json, &arguments.out)
}

fn scenario(arguments: &Arguments) -> Scenario {
    let queue = link::queue(arguments.queue);
    let (first_name, first) = match &arguments.rate {
        Some(rate) => (rate.to_string(), HopConfig::Rate { rate: rate.clone(), queue }),
        None => (link::label(&arguments.trace), link::bottleneck(&arguments.trace, queue)),
    };
    let (name, second) = match &arguments.then {
        Some(then) => (format!("{first_name}, {}", link::label(then)), Some(link::bottleneck(then, queue))),
        None => (first_name, None),
    };
    let forth = link::path([first].into_iter().chain(second), None, arguments.delay);
    let reverse = arguments.reverse.as_ref().map(|name| link::bottleneck(name, QueueConfig::Infinite));
    let back = link::path(reverse, None, arguments.delay);
    arguments.pictures.over(&name, arguments.duration, arguments.seed, forth, back)
}
