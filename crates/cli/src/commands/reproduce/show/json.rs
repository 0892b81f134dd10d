//! As JSON.

use serde_json::{Map, Value, json};
use thalweg_lab::Outcome;
use thalweg_lab::reproduce::{Figure, Reading, beaten, compare, mean};
use thalweg_sender::Scheme;

use super::super::theirs;
use super::Shown;

pub(super) fn print(whole: &Value) -> anyhow::Result<()> {
    outln!("{}", serde_json::to_string_pretty(whole)?);
    Ok(())
}

/// The runs of a figure, what they come to for each scheme, and what the authors published.
pub(super) fn runs(shown: &Shown) -> anyhow::Result<Value> {
    let Shown { figure, schemes, readings, played, outcomes, .. } = *shown;
    let runs: Vec<Value> =
        outcomes.iter().map(|outcome| one_run(figure, readings, outcome)).collect::<Result<_, _>>()?;
    let schemes: Vec<Value> = schemes.iter().map(|scheme| one_scheme(shown, scheme)).collect();
    let links = played.iter().map(|played| json!({ "name": played.scenario.name, "from": played.from }));
    let beaten = beaten(outcomes).into_iter();
    let beaten = beaten.map(|(link, scheme, by)| json!({ "link": link, "scheme": scheme, "by": by }));
    Ok(json!({
        "figure": figure.name,
        "about": figure.about,
        "links": links.collect::<Vec<_>>(),
        "runs": runs,
        "schemes": schemes,
        "authors": theirs::json(shown.theirs, outcomes),
        "beaten": beaten.collect::<Vec<_>>(),
    }))
}

fn one_scheme(shown: &Shown, scheme: &Scheme) -> Value {
    let ours = shown.of(scheme);
    let object = |values: Vec<(&str, Option<f64>)>| -> Map<String, Value> {
        values.into_iter().map(|(key, value)| (key.to_string(), json!(value))).collect()
    };
    json!({
        "scheme": scheme.name,
        "mean": object(shown.readings.iter().map(|reading| (reading.key(), mean(&ours, reading))).collect()),
        "compared": object(compare(&ours, &shown.base())),
        "paper": paper(shown.figure, &scheme.name),
    })
}

fn one_run(figure: &Figure, readings: &[Reading], outcome: &Outcome) -> anyhow::Result<Value> {
    let mut run = serde_json::to_value(&outcome.summary)?;
    if let Value::Object(fields) = &mut run {
        for reading in readings {
            fields.insert(reading.key().into(), json!(reading.of(outcome)));
        }
        fields.insert("paper".into(), paper(figure, &outcome.summary.scheme));
    }
    Ok(run)
}

/// The paper's numbers for a scheme, each with its key and where it was read: two versions may both have one.
fn paper(figure: &Figure, scheme: &str) -> Value {
    let known = figure.published.iter().filter(|published| published.scheme == scheme);
    let listed: Vec<Value> = known
        .map(|published| json!({ "key": published.key, "value": published.value, "source": published.source }))
        .collect();
    if listed.is_empty() { Value::Null } else { Value::Array(listed) }
}

/// How an encoder followed its target.
pub(super) fn step(figure: &Figure, values: &[(&str, Option<f64>)]) -> Value {
    let mut run: Map<String, Value> = values.iter().map(|(key, value)| (key.to_string(), json!(value))).collect();
    run.insert("scheme".into(), json!("encoder"));
    run.insert("paper".into(), paper(figure, "encoder"));
    json!({ "figure": figure.name, "about": figure.about, "runs": [run] })
}
