//! `thalweg compare`: schemes side by side.

use thalweg_lab::scenario::Scenario;
use thalweg_netsim::{HopConfig, PathConfig, QueueConfig, Rates};
use thalweg_units::{Seed, Span};

use super::pictures::Pictures;
use super::playing::Playing;
use super::results::Results;
use super::values::{self, Feedback};
use crate::link;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg compare
  thalweg compare --encoder model --runs 10 --trace lte-driving --trace umts-driving
  thalweg compare --rate 2Mbps/500kbps@20s --queue 1bdp --loss 1% --scheme gcc,copa,camel
  thalweg compare --encoder model --scheme gcc,salsify --feedback twcc
  thalweg compare --encoder model --scheme copa --set scheme.controller.copa.delta=0.2
  thalweg compare --encoder model --scheme gcc --contestant 'mine=./my-estimator --fast'
  thalweg compare --encoder model --fail-if 'vidaptive: latency_p95_ms > 500'")]
pub(crate) struct Arguments {
    /// Schemes to compare, separated by commas (see `thalweg schemes`)
    #[arg(long, default_value = crate::play::COMPARED, value_delimiter = ',')]
    scheme: Vec<String>,
    /// Duration of each run
    #[arg(long, default_value = "60s", value_parser = values::duration)]
    duration: Span,
    /// Feedback format of every receiver: own (each scheme's), twcc, ccfb, ccfb-by-frame, ccfb-100ms, per-packet
    ///
    /// And twcc-on-request, ccfb-on-request, extended, extended-randomised. Schemes' own differ: window schemes hear of each
    /// packet at once, which no browser offers, gcc every 62 ms (twcc). Tables say which row has what where rows differ.
    #[arg(long, default_value = "own", value_parser = values::feedback, value_name = "FEEDBACK")]
    feedback: Feedback,
    #[command(flatten)]
    network: Network,
    #[command(flatten)]
    pictures: Pictures,
    #[command(flatten)]
    playing: Playing,
    #[command(flatten)]
    results: Results,
}

/// The links to play over.
#[derive(clap::Args)]
#[command(next_help_heading = "Link")]
pub(super) struct Network {
    /// The link: a trace file, a rate (2Mbps), rates in turn (2Mbps/500kbps@40s) or a synthetic link (lte-driving)
    ///
    /// A file of any format: up.trace, 5g.csv:column=DL_bitrate, call.pcap; log.txt@60s-180s is a part of one. Given
    /// several times, each is played.
    #[arg(long, default_value = "lte-driving")]
    trace: Vec<String>,
    /// Rate of the link (1Mbps), or several in turn (2Mbps/1Mbps@30s), served bit by bit
    ///
    /// Each rate may have its own time, 500kbps@5s/5Mbps@25s; without one the last stays, 500kbps@3s/5Mbps. A trace
    /// instead has delivery opportunities of 1500 bytes.
    #[arg(long, conflicts_with = "trace")]
    rate: Option<Rates>,
    /// Second link in series, in the forms of --trace, as when both peers are on cellular networks
    #[arg(long, value_name = "TRACE")]
    then: Option<String>,
    /// Reverse path, for feedback, in the forms of --trace (default: unlimited); its queue has no limit
    #[arg(long, value_name = "TRACE")]
    reverse: Option<String>,
    #[command(flatten)]
    around: link::Around,
}

/// The one-way delay of a path whose command names none.
const DELAY: Span = Span::from_millis(25);

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    arguments.results.check()?;
    let playing = &arguments.playing;
    playing.effort.begin();
    let registry = playing.registry()?;
    let (mut scenarios, mut schemes) = (scenarios(arguments)?, crate::play::schemes(&registry, &arguments.scheme)?);
    playing.join(&mut schemes, &registry)?;
    playing.set(&mut scenarios, &mut schemes)?;
    let jobs = crate::play::matrix(&scenarios, &schemes, &playing.out);
    let queue = arguments.network.around.queue.map(|queue| (format!("--queue {queue}"), "forward.hops.queue"));
    let options: Vec<_> = arguments.pictures.given().into_iter().chain(queue).collect();
    crate::play::refuse_idle(&jobs, &options)?;
    arguments.results.of(jobs, playing)
}

/// A scenario for each link, video and seed.
fn scenarios(arguments: &Arguments) -> anyhow::Result<Vec<Scenario>> {
    let mut scenarios = Vec::new();
    for (name, forth, back) in arguments.network.links(arguments.duration)? {
        for pictures in arguments.pictures.each() {
            for seed in arguments.playing.seeds.list(Seed::new(1))? {
                let scenario = pictures.over(&name, arguments.duration, seed, forth.clone(), back.clone());
                scenarios.push(Scenario { feedback: arguments.feedback.0, ..scenario });
            }
        }
    }
    Ok(scenarios)
}

impl Network {
    /// The name of each link, its forward path and its reverse path.
    pub(super) fn links(&self, duration: Span) -> anyhow::Result<Vec<(String, PathConfig, PathConfig)>> {
        let Network { trace, rate, then, reverse, around } = self;
        let delay = around.delay.unwrap_or(DELAY);
        let bottleneck = |trace: &String| -> anyhow::Result<HopConfig> {
            let mean = link::find(trace, duration, Seed::new(1))?.mean_rate();
            Ok(link::bottleneck(trace, around.queue(mean, delay)?))
        };
        let firsts: Vec<(String, HopConfig)> = match rate {
            Some(rate) => {
                let queue = around.queue(rate.mean(), delay)?;
                vec![(rate.to_string(), HopConfig::Rate { rate: rate.clone(), queue })]
            }
            None => {
                let each = trace.iter().map(|trace| Ok((link::label(trace), bottleneck(trace)?)));
                each.collect::<anyhow::Result<_>>()?
            }
        };
        let second = then.as_ref().map(bottleneck).transpose()?;
        let reverse = reverse.as_ref().map(|name| -> anyhow::Result<HopConfig> {
            link::find(name, duration, Seed::new(1))?;
            Ok(link::bottleneck(name, QueueConfig::Infinite))
        });
        let reverse = reverse.transpose()?;
        let named = |(name, first): (String, HopConfig)| {
            let name = match then {
                Some(then) => format!("{name}, {}", link::label(then)),
                None => name,
            };
            (name, around.path([first].into_iter().chain(second.clone()), delay), around.path(reverse.clone(), delay))
        };
        Ok(firsts.into_iter().map(named).collect())
    }
}
