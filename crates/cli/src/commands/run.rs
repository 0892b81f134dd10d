//! `thalweg run`: a scenario file.

use std::path::PathBuf;

use anyhow::Context;
use thalweg_lab::run_folder::RunFile;
use thalweg_lab::{Scenario, Undershoot};
use thalweg_sender::Scheme;
use thalweg_units::Seed;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A scenario (see examples/), or the run.toml of a run: the same again, or changed in any parameter of scenario or scheme
    scenario: PathBuf,
    /// Schemes to play, separated by commas (see `thalweg schemes`); gcc,vidaptive for a scenario, its own for a run.toml
    #[arg(long, value_delimiter = ',')]
    scheme: Vec<String>,
    /// Another seed than the scenario's, or several: 1..10
    #[arg(long, value_parser = seeds)]
    seed: Option<Seeds>,
    /// Another undershoot of the encoder than the scenario's: none, 0.6, 0.6@30s-60s, ios, android or a file (see `thalweg compare
    /// --help`)
    #[arg(long)]
    undershoot: Option<Undershoot>,
    /// Play it by the clock, on real sockets of this machine over the emulated link, with real RTP, DTLS and SRTP: schemes one after
    /// another, each for as long as the scenario lasts
    #[arg(long)]
    live: bool,
    /// Play it in virtual time too, with the packet sizes and the feedback it had on the wire, and print how far the two are apart
    #[arg(long, requires = "live")]
    against_simulator: bool,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
    /// The folder for the report and for each run
    #[arg(long, short, default_value = "out")]
    out: PathBuf,
}

/// Seeds from..=to.
#[derive(Debug, Clone, Copy)]
struct Seeds(u64, u64);

fn seeds(text: &str) -> Result<Seeds, String> {
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    match (from.parse(), to.parse()) {
        (Ok(from), Ok(to)) if from <= to => Ok(Seeds(from, to)),
        _ => Err(format!("'{text}' is no seed: write a number, or a range such as 1..10 (both ends played)")),
    }
}

/// The scenario in a scenario file or in a run.toml, with the schemes to play unless others are asked for.
pub(crate) fn read(text: &str) -> anyhow::Result<(Scenario, Vec<Scheme>)> {
    let table: toml::Table = toml::from_str(text)?;
    if table.contains_key("scenario") && table.contains_key("scheme") {
        let RunFile { scenario, scheme, .. } = toml::from_str(text)?;
        return Ok((scenario, vec![scheme]));
    }
    let default = ["gcc", "vidaptive"].map(String::from);
    Ok((toml::from_str(text)?, crate::play::schemes(&default)?))
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let path = arguments.scenario.display().to_string();
    let text = std::fs::read_to_string(&arguments.scenario).with_context(|| path.clone())?;
    let (mut scenario, own) = read(&text).with_context(|| path)?;
    if let Some(undershoot) = &arguments.undershoot {
        scenario.undershoot.clone_from(undershoot);
    }
    let schemes = if arguments.scheme.is_empty() { own } else { crate::play::schemes(&arguments.scheme)? };
    let Seeds(from, to) = arguments.seed.unwrap_or(Seeds(scenario.seed.get(), scenario.seed.get()));
    let mut jobs = Vec::new();
    for seed in from..=to {
        let scenario = Scenario { seed: Seed::new(seed), ..scenario.clone() };
        let out = if from == to { arguments.out.clone() } else { arguments.out.join(format!("seed-{seed}")) };
        jobs.extend(crate::play::each(&scenario, &schemes, &out));
    }
    let outcomes = if arguments.live {
        super::live::real_time::all(&jobs, arguments.against_simulator)?
    } else {
        crate::play::all(&jobs)?
    };
    crate::play::show(&outcomes, arguments.json, &arguments.out)?;
    if arguments.against_simulator && !arguments.json {
        super::live::real_time::print_agreement(&outcomes);
    }
    Ok(())
}
