//! `thalweg reproduce`: a paper's figure, its numbers beside ours.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::{Map, Value, json};
use thalweg_lab::Outcome;
use thalweg_lab::reproduce::{Experiment, Figure, Links, Published, Reading, StepResponse, compare, figures, mean};
use thalweg_lab::scenario::Scenario;
use thalweg_link::queue::Limits;
use thalweg_link::{HopConfig, Jitter, PathConfig, QueueConfig};
use thalweg_sender::Scheme;
use thalweg_units::{Bytes, Seed, Span};

use super::pictures::Pictures;
use crate::play::{self, Job};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The figure, such as vidaptive-fig7, or `list`
    figure: String,
    /// The folder of recorded links in Mahimahi's format, each as NAME.up and NAME.down
    #[arg(long, default_value = "../shared/data/traces/mahimahi")]
    traces: PathBuf,
    #[command(flatten)]
    pictures: Pictures,
    /// How long to play each recorded link
    #[arg(long, default_value = "120s")]
    duration: Span,
    /// Leave the way back unlimited instead of giving it the link recorded with it
    #[arg(long)]
    unloaded: bool,
    /// The root of every random choice
    #[arg(long, default_value_t = Seed::new(1))]
    seed: Seed,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
    /// The folder for the report and for each run
    #[arg(long, short, default_value = "out")]
    out: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let figures = figures();
    if arguments.figure == "list" {
        figures.iter().for_each(|figure| outln!("{:18} {}", figure.name, figure.about));
        return Ok(());
    }
    let Some(figure) = figures.iter().find(|figure| figure.name == arguments.figure) else {
        let names: Vec<&str> = figures.iter().map(|figure| figure.name).collect();
        bail!("'{}' is no figure: choose from {}", arguments.figure, names.join(", "));
    };
    match &figure.experiment {
        Experiment::EncoderStep(step) => {
            let pictures = &arguments.pictures;
            let response = step.play(&pictures.codec(), &pictures.video(), arguments.seed)?;
            show_step(figure, &response, arguments.json)
        }
        Experiment::Runs { schemes, links, readings } => {
            let scenarios = scenarios(links, arguments)?;
            let out = arguments.out.join(figure.name);
            let each =
                |scenario: &Scenario| play::each(scenario, schemes, &out.join(play::folder_name(&scenario.name)));
            let jobs: Vec<Job> = scenarios.iter().flat_map(each).collect();
            let outcomes = play::all(&jobs)?;
            show(figure, schemes, readings, &outcomes, arguments.json)?;
            play::write_report(&outcomes, format!("{}: {}", figure.name, figure.about), &out.join("report.html"))
        }
    }
}

/// A scenario for each link.
fn scenarios(links: &Links, arguments: &Arguments) -> anyhow::Result<Vec<Scenario>> {
    let delay = || HopConfig::Delay { delay: Span::from_millis(25), jitter: Jitter::None, reorders: false };
    let bottleneck = |trace: String, queue| HopConfig::Bottleneck { trace, queue, once: false };
    let scenario = |name: String, duration, up: HopConfig, down: Option<HopConfig>| {
        let up = PathConfig { hops: vec![up, delay()] };
        let down = PathConfig { hops: down.into_iter().chain([delay()]).collect() };
        arguments.pictures.over(name, duration, arguments.seed, up, down)
    };
    let starting_with = match links {
        Links::SquareWave { high, low, half, duration } => {
            let trace = format!("{high}/{low}@{half}");
            let queue = QueueConfig::DropTail(Limits::bytes(Bytes::new(1_500_000)));
            return Ok(vec![scenario(trace.clone(), *duration, bottleneck(trace, queue), None)]);
        }
        Links::Recorded => "",
        Links::OneRecorded(name) => name,
    };
    let recorded = recorded(&arguments.traces)?;
    let chosen = recorded.iter().filter(|name| name.starts_with(starting_with));
    let scenarios: Vec<Scenario> = chosen
        .map(|name| {
            let file = |name: &str| arguments.traces.join(name).display().to_string();
            let back = match name.rsplit_once('.') {
                Some((link, "up")) => format!("{link}.down"),
                Some((link, _)) => format!("{link}.up"),
                None => name.clone(),
            };
            let loaded = !arguments.unloaded && recorded.contains(&back);
            let down = loaded.then(|| bottleneck(file(&back), QueueConfig::Infinite));
            scenario(name.clone(), arguments.duration, bottleneck(file(name), QueueConfig::Infinite), down)
        })
        .collect();
    if scenarios.is_empty() {
        bail!("{}: no link whose name begins with '{starting_with}'", arguments.traces.display());
    }
    Ok(scenarios)
}

/// The names of the recorded links, in order.
fn recorded(folder: &Path) -> anyhow::Result<Vec<String>> {
    let fix = "give the folder of Mahimahi's traces (github.com/ravinet/mahimahi, folder traces) with --traces";
    let entries = std::fs::read_dir(folder).with_context(|| format!("{}: {fix}", folder.display()))?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".up") || name.ends_with(".down")).collect();
    names.sort();
    if names.is_empty() {
        bail!("{}: no file NAME.up or NAME.down in it; {fix}", folder.display());
    }
    Ok(names)
}

/// A figure for a table: rates in Mbps, shares in percent.
fn text(key: &str, value: Option<f64>) -> String {
    let Some(value) = value else { return "-".into() };
    match key {
        _ if key.ends_with("_bps") => format!("{:.2}", value / 1e6),
        _ if key.starts_with("utilization_") && !key.ends_with("ratio")
            || key == "utilization"
            || key == "stall_ratio" =>
        {
            format!("{:.1}%", value * 100.0)
        }
        _ if key.ends_with("_ms") => format!("{value:.0}"),
        _ => format!("{value:.2}"),
    }
}

/// A key as the head of a column.
fn head(key: &str) -> String {
    key.replace("_bps", " Mbps").replace("utilization", "used").replace('_', " ")
}

fn show(
    figure: &Figure,
    schemes: &[Scheme],
    readings: &[Reading],
    outcomes: &[Outcome],
    json: bool,
) -> anyhow::Result<()> {
    let of = |scheme: &Scheme| -> Vec<&Outcome> {
        outcomes.iter().filter(|outcome| outcome.summary.scheme == scheme.name).collect()
    };
    let base = of(&schemes[0]);
    if json {
        let runs: Vec<Value> =
            outcomes.iter().map(|outcome| run_json(figure, readings, outcome)).collect::<Result<_, _>>()?;
        let schemes: Vec<Value> = schemes
            .iter()
            .map(|scheme| {
                let ours = of(scheme);
                let means = readings.iter().map(|reading| (reading.key(), mean(&ours, reading)));
                let compared = compare(&ours, &base);
                json!({
                    "scheme": scheme.name,
                    "mean": means.map(|(key, value)| (key.to_string(), json!(value))).collect::<Map<_, _>>(),
                    "compared": compared.into_iter().map(|(key, value)| (key.to_string(), json!(value))).collect::<Map<_, _>>(),
                    "paper": paper(figure, &scheme.name),
                })
            })
            .collect();
        let whole = json!({ "figure": figure.name, "about": figure.about, "runs": runs, "schemes": schemes });
        outln!("{}", serde_json::to_string_pretty(&whole)?);
        return Ok(());
    }
    outln!("{}: {}\n", figure.name, figure.about);
    out!("{:26} {:20}", "link", "scheme");
    readings.iter().for_each(|reading| out!(" {:>12}", wrap(&head(reading.key()))));
    outln!("");
    let row = |link: &str, scheme: &str, values: Vec<Option<f64>>| {
        out!("{link:26} {scheme:20}");
        readings.iter().zip(values).for_each(|(reading, value)| out!(" {:>12}", text(reading.key(), value)));
        outln!("");
    };
    for outcome in outcomes {
        let values = readings.iter().map(|reading| reading.of(outcome)).collect();
        row(&outcome.summary.trace, &outcome.summary.scheme, values);
    }
    if outcomes.len() > schemes.len() {
        for scheme in schemes {
            row("mean", &scheme.name, readings.iter().map(|reading| mean(&of(scheme), reading)).collect());
        }
    }
    if schemes.len() > 1 {
        outln!("\nagainst {}, of the means", schemes[0].name);
        for scheme in &schemes[1..] {
            let compared = compare(&of(scheme), &base);
            let known = compared.iter().filter(|(_, value)| value.is_some());
            let parts: Vec<String> = known.map(|(key, value)| format!("{} {}", head(key), text(key, *value))).collect();
            outln!("  {:20} {}", scheme.name, parts.join(", "));
        }
    }
    show_published(&figure.published, |published| {
        let scheme = schemes.iter().find(|scheme| scheme.name == published.scheme)?;
        let ours = of(scheme);
        let reading = readings.iter().find(|reading| reading.key() == published.key);
        let compared = || compare(&ours, &base).into_iter().find(|(key, _)| *key == published.key)?.1;
        reading.map_or_else(compared, |reading| mean(&ours, reading))
    });
    Ok(())
}

/// A head no wider than its column.
fn wrap(head: &str) -> String {
    head.replace("latency ", "").replace("video ", "").chars().take(12).collect()
}

fn show_published(published: &[Published], ours: impl Fn(&Published) -> Option<f64>) {
    if published.is_empty() {
        outln!("\nThe paper's own numbers for this figure were not at hand.");
        return;
    }
    outln!("\n{:20} {:24} {:>10} {:>10}  read in", "scheme", "", "paper", "ours");
    for published in published {
        let Published { scheme, key, value, source } = published;
        let (paper, ours) = (text(key, Some(*value)), text(key, ours(published)));
        outln!("{scheme:20} {:24} {paper:>10} {ours:>10}  {source}", head(key));
    }
}

/// The paper's numbers for a scheme, each with its key and where it was read: two versions may both have one.
fn paper(figure: &Figure, scheme: &str) -> Value {
    let known = figure.published.iter().filter(|published| published.scheme == scheme);
    let listed: Vec<Value> = known
        .map(|published| json!({ "key": published.key, "value": published.value, "source": published.source }))
        .collect();
    if listed.is_empty() { Value::Null } else { Value::Array(listed) }
}

fn run_json(figure: &Figure, readings: &[Reading], outcome: &Outcome) -> anyhow::Result<Value> {
    let mut run = serde_json::to_value(&outcome.summary)?;
    if let Value::Object(fields) = &mut run {
        for reading in readings {
            fields.insert(reading.key().into(), json!(reading.of(outcome)));
        }
        fields.insert("paper".into(), paper(figure, &outcome.summary.scheme));
    }
    Ok(run)
}

fn show_step(figure: &Figure, response: &StepResponse, json: bool) -> anyhow::Result<()> {
    let values: Vec<(&str, Option<f64>)> = StepResponse::KEYS.into_iter().zip(response.values()).collect();
    if json {
        let mut run: Map<String, Value> = values.iter().map(|(key, value)| (key.to_string(), json!(value))).collect();
        run.insert("scheme".into(), json!("encoder"));
        run.insert("paper".into(), paper(figure, "encoder"));
        outln!(
            "{}",
            serde_json::to_string_pretty(&json!({ "figure": figure.name, "about": figure.about, "runs": [run] }))?
        );
        return Ok(());
    }
    outln!("{}: {}", figure.name, figure.about);
    show_published(&figure.published, |published| values.iter().find(|(key, _)| *key == published.key)?.1);
    Ok(())
}
