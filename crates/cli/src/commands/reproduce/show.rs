//! The tables and the JSON of a figure.

use serde_json::{Map, Value, json};
use thalweg_lab::Outcome;
use thalweg_lab::reproduce::{Figure, Published, Reading, StepResponse, beaten, compare, mean};
use thalweg_sender::Scheme;

use super::scenarios::Played;
use super::theirs::{self, Read};

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

pub(super) fn runs(
    figure: &Figure,
    schemes: &[Scheme],
    readings: &[Reading],
    played: &[Played],
    outcomes: &[Outcome],
    theirs: &Read,
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
        let links = played.iter().map(|played| json!({ "name": played.scenario.name, "from": played.from }));
        let links: Vec<Value> = links.collect();
        let theirs = theirs::json(theirs, outcomes);
        let beaten =
            beaten(outcomes).into_iter().map(|(link, scheme, by)| json!({ "link": link, "scheme": scheme, "by": by }));
        let beaten: Vec<Value> = beaten.collect();
        let (figure, about) = (figure.name, figure.about);
        let whole = json!({
            "figure": figure, "about": about, "links": links, "runs": runs, "schemes": schemes, "authors": theirs,
            "beaten": beaten,
        });
        outln!("{}", serde_json::to_string_pretty(&whole)?);
        return Ok(());
    }
    outln!("{}: {}\n", figure.name, figure.about);
    played.iter().for_each(|played| outln!("{}: {}", played.scenario.name, played.from));
    let width = schemes.iter().map(|scheme| scheme.name.len()).max().unwrap_or(0).max(20);
    out!("\n{:26} {:width$}", "link", "scheme");
    readings.iter().for_each(|reading| out!(" {:>12}", wrap(&head(reading.key()))));
    outln!("");
    let row = |link: &str, scheme: &str, values: Vec<Option<f64>>| {
        out!("{link:26} {scheme:width$}");
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
        let against = |scheme: &Scheme, link: &str, ours: &[&Outcome], base: &[&Outcome]| {
            let compared = compare(ours, base);
            let known = compared.iter().filter(|(_, value)| value.is_some());
            let parts: Vec<String> = known.map(|(key, value)| format!("{} {}", head(key), text(key, *value))).collect();
            outln!("  {:width$} {link:26} {}", scheme.name, parts.join(", "));
        };
        outln!("\nagainst {}", schemes[0].name);
        for scheme in &schemes[1..] {
            for played in played {
                let over = |outcome: &&Outcome| outcome.summary.trace == played.scenario.name;
                let ours: Vec<&Outcome> = of(scheme).into_iter().filter(over).collect();
                let base: Vec<&Outcome> = base.iter().copied().filter(over).collect();
                against(scheme, &played.scenario.name, &ours, &base);
            }
            if played.len() > 1 {
                against(scheme, "of the means", &of(scheme), &base);
            }
        }
    }
    if figure.scattered {
        let beaten = beaten(outcomes);
        outln!("\nbeaten on both P95 latency and SSIM: {}", if beaten.is_empty() { "nothing" } else { "" });
        beaten.iter().for_each(|(link, scheme, by)| outln!("  {scheme:width$} {link:26} by {by}"));
    }
    theirs::print(theirs, outcomes);
    if figure.theirs.is_empty() && !figure.scattered {
        published(&figure.published, |published| {
            let scheme = schemes.iter().find(|scheme| scheme.name == published.scheme)?;
            let ours = of(scheme);
            let reading = readings.iter().find(|reading| reading.key() == published.key);
            let compared = || compare(&ours, &base).into_iter().find(|(key, _)| *key == published.key)?.1;
            reading.map_or_else(compared, |reading| mean(&ours, reading))
        });
    }
    Ok(())
}

/// A head no wider than its column.
fn wrap(head: &str) -> String {
    head.replace("latency ", "")
        .replace("video ", "")
        .replace("frame rate ", "")
        .replace(" after first", "")
        .chars()
        .take(12)
        .collect()
}

fn published(published: &[Published], ours: impl Fn(&Published) -> Option<f64>) {
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

pub(super) fn step(figure: &Figure, response: &StepResponse, json: bool) -> anyhow::Result<()> {
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
    published(&figure.published, |published| values.iter().find(|(key, _)| *key == published.key)?.1);
    Ok(())
}
