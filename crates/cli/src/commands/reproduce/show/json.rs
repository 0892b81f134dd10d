//! As JSON.

use serde_json::{Map, Value, json};
use thalweg_lab::Outcome;
use thalweg_lab::reproduce::{Figure, Published, Signals, beaten, compare, mean};
use thalweg_sender::Scheme;
use thalweg_units::Span;

use super::super::theirs;
use super::Shown;

pub(super) fn print(whole: &Value) -> anyhow::Result<()> {
    outln!("{}", serde_json::to_string_pretty(whole)?);
    Ok(())
}

/// The runs of a figure, what they come to for each scheme, and what the authors published.
pub(super) fn runs(shown: &Shown) -> anyhow::Result<Value> {
    let Shown { figure, schemes, played, outcomes, .. } = *shown;
    let runs: Vec<Value> = outcomes.iter().map(|outcome| one_run(shown, outcome)).collect::<Result<_, _>>()?;
    let schemes: Vec<Value> = schemes.iter().map(|scheme| one_scheme(shown, scheme)).collect();
    let links = played.iter().map(|played| json!({ "name": played.name(), "from": played.from }));
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
        "paper": paper(shown.figure, None, &scheme.name, |key| shown.answer(key)),
    })
}

fn one_run(shown: &Shown, outcome: &Outcome) -> anyhow::Result<Value> {
    let summary = &outcome.summary;
    let mut run = serde_json::to_value(summary)?;
    if let Value::Object(fields) = &mut run {
        for reading in shown.readings {
            fields.insert(reading.key().into(), json!(reading.of(outcome)));
        }
        let paper = paper(shown.figure, Some(&summary.trace), &summary.scheme, |known| shown.answer(known));
        fields.insert("paper".into(), paper);
    }
    Ok(run)
}

/// The paper's numbers for a scheme over a link, or of the means, each with its key, what ours comes to, and where it
/// was read: two versions may both have one.
fn paper(figure: &Figure, link: Option<&str>, scheme: &str, ours: impl Fn(&Published) -> Option<f64>) -> Value {
    let known = figure.published.iter().filter(|published| published.scheme == scheme && published.link == link);
    let listed: Vec<Value> = known
        .map(|known| json!({ "key": known.key, "value": known.value, "ours": ours(known), "source": known.source }))
        .collect();
    if listed.is_empty() { Value::Null } else { Value::Array(listed) }
}

/// How an encoder followed its target.
pub(super) fn step(figure: &Figure, values: &[(&str, Option<f64>)]) -> Value {
    let mut run: Map<String, Value> = values.iter().map(|(key, value)| (key.to_string(), json!(value))).collect();
    run.insert("scheme".into(), json!("encoder"));
    let ours = |known: &Published| values.iter().find(|(key, _)| *key == known.key)?.1;
    run.insert("paper".into(), paper(figure, None, "encoder", ours));
    json!({ "figure": figure.name, "about": figure.about, "runs": [run] })
}

/// How often each signal of congestion was right.
pub(super) fn signals(figure: &Figure, rows: &[(Span, [f64; 3])]) -> Value {
    let row = |(jitter, accuracies): &(Span, [f64; 3])| {
        let each = Signals::KEYS.into_iter().zip(accuracies).map(|(key, value)| (key.to_string(), json!(value)));
        let mut row: Map<String, Value> = each.collect();
        row.insert("jitter_ms".into(), json!(jitter.as_millis_f64()));
        row
    };
    json!({ "figure": figure.name, "about": figure.about, "runs": rows.iter().map(row).collect::<Vec<_>>() })
}
