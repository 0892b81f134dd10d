//! `thalweg-bench environments`: steps a second and core of environments for reinforcement learning.

use std::num::NonZeroUsize;
use std::sync::Arc;

use serde_json::json;
use thalweg_codecs::Codec;
use thalweg_lab::environment::{Autoreset, Config, Environments};
use thalweg_lab::record::Keep;
use thalweg_lab::{Scenario, Simulation};
use thalweg_learned::Observation;
use thalweg_netsim::Trace;
use thalweg_sender::{Registry, Scheme};
use thalweg_units::{Seed, Size, Span};

use crate::cpu_seconds;
use crate::measure::{Spread, interleaved};
use crate::runs::scenario;

/// Length of an episode.
const EPISODE: Span = Span::from_secs(60);

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The number of environments
    #[arg(long, default_value = "64", value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=4096))]
    environments: usize,
    /// Steps of all of them in one measurement
    #[arg(long, default_value = "1000", value_parser = clap::value_parser!(u32).range(1..))]
    steps: u32,
    /// Fewer measurements, less accurate
    #[arg(long)]
    quick: bool,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

/// Subject of a measurement: environments with an observation, or with none the same calls without them, under `gcc`.
#[derive(Clone)]
struct Subject {
    link: &'static str,
    observation: Option<Observation>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let kinds = || Observation::ALL.into_iter().map(Some).chain([None]);
    let subjects: Vec<Subject> = ["2Mbps", "lte-driving"]
        .iter()
        .flat_map(|link| kinds().map(move |observation| Subject { link, observation }))
        .collect();
    let times = if arguments.quick { 1 } else { 5 };
    let said = |round| eprintln!("environments: round {round} of {times}");
    let costs = interleaved(&subjects, times, said, |subject| match subject.observation {
        Some(observation) => stepped(subject.link, observation, arguments),
        None => plain(subject.link, arguments),
    })?;
    let rates: Vec<Spread> = costs.into_iter().map(|cost| cost.map(f64::recip)).collect();
    let name = |subject: &Subject| subject.observation.map_or("none: gcc", Observation::name);
    if arguments.json {
        let each = subjects.iter().zip(&rates).map(
            |(subject, rate)| json!({ "link": subject.link, "observation": name(subject), "steps_per_s": rate.json() }),
        );
        let whole = json!({
            "bench": "environments", "environments": arguments.environments, "runs": each.collect::<Vec<_>>(),
        });
        println!("{}", serde_json::to_string_pretty(&whole)?);
        return Ok(());
    }
    println!("{} environments in one thread, steps of {}, encoder model", arguments.environments, Config::INTERVAL);
    println!("{:12} {:12} {:>22} {:>12}", "link", "observation", "steps a second, CPU", "us a step");
    for (subject, rate) in subjects.iter().zip(rates) {
        let text = format!("{:.0} ±{:.0}%", rate.median, rate.relative() * 100.0);
        println!("{:12} {:12} {text:>22} {:>12.1}", subject.link, name(subject), 1e6 / rate.median);
    }
    Ok(())
}

fn find(name: &str) -> Result<Arc<Trace>, String> {
    Trace::named(name, EPISODE, Seed::new(1)).map(Arc::new).map_err(|error| error.to_string())
}

fn call() -> Scenario {
    scenario(&Codec::Model(Default::default()), Size::HD, EPISODE)
}

/// CPU seconds of a step of one environment, with actions at random.
fn stepped(link: &str, observation: Observation, arguments: &Arguments) -> anyhow::Result<f64> {
    let config = Config { links: vec![link.into()], observation, ..Config::new(call()) };
    let count = arguments.environments;
    let mut many = Environments::new(&config, count, NonZeroUsize::MIN, Autoreset::NextStep, &mut find)?;
    let mut observations = vec![0.0; count * many.observation_len()];
    let (mut rewards, mut truncated) = (vec![0.0; count], vec![false; count]);
    many.reset(Some(Seed::new(1)), &mut observations)?;
    let mut random = Seed::new(2).random();
    let before = cpu_seconds();
    for _ in 0..arguments.steps {
        let actions: Vec<f32> = (0..count).map(|_| random.between(-1.0, 1.0) as f32).collect();
        many.step(&actions, &mut observations, &mut rewards, &mut truncated)?;
    }
    Ok((cpu_seconds() - before) / f64::from(arguments.steps) / count as f64)
}

/// CPU seconds of as much of a call under `gcc`, without recording.
fn plain(link: &str, arguments: &Arguments) -> anyhow::Result<f64> {
    let gcc: Scheme = "gcc".parse()?;
    let (wanted, mut played) = (u64::from(arguments.steps) * arguments.environments as u64, 0u64);
    let before = cpu_seconds();
    while played < wanted {
        let seed = Seed::new(played);
        let scenario = Scenario { seed, measure_quality: false, ..call() };
        let simulation = Simulation::new(&scenario, &gcc, &Registry::new(), &mut |_| find(link))?;
        let mut simulation = simulation.keeping(Keep::Nothing);
        while !simulation.has_ended() && played < wanted {
            simulation.run_until(simulation.now() + Config::INTERVAL)?;
            played += 1;
        }
    }
    Ok((cpu_seconds() - before) / played as f64)
}
