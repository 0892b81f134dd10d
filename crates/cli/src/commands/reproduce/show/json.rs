//! The results as JSON.

use serde_json::{Map, Value, json};
use thalweg_papers::{
    Answer, Bounded, Figure, Published, Quantiles, Row, Sample, Spread, Statistic, beaten, each_link, mean, pooled,
    spread, values_over_links,
};
use thalweg_sender::Scheme;

use super::Shown;
use super::table::{OVER_LINKS, mean_of};

/// The runs of a figure, their results for each scheme, and the published numbers.
pub(super) fn runs(shown: &Shown) -> anyhow::Result<Value> {
    let Shown { figure, schemes, played, samples, first, .. } = *shown;
    let runs: Vec<Value> = samples.iter().map(|sample| one_run(shown, sample)).collect::<Result<_, _>>()?;
    let cells = played.iter().flat_map(|played| schemes.iter().map(|scheme| one_cell(shown, scheme, played.name())));
    let cells: Vec<Value> = cells.collect();
    let schemes: Vec<Value> = schemes.iter().map(|scheme| one_scheme(shown, scheme)).collect();
    let links = played.iter().map(|played| json!({ "name": played.name(), "from": played.from }));
    let beaten = beaten(first).into_iter();
    let beaten = beaten.map(|(link, scheme, by)| json!({ "link": link, "scheme": scheme, "by": by }));
    Ok(json!({
        "figure": figure.name,
        "about": figure.about,
        "links": links.collect::<Vec<_>>(),
        "runs": runs,
        "cells": cells,
        "schemes": schemes,
        "beaten": beaten.collect::<Vec<_>>(),
    }))
}

/// The results of a scheme's runs over a link: means and deviations.
fn one_cell(shown: &Shown, scheme: &Scheme, link: &str) -> Value {
    let runs = shown.over(scheme, link);
    let keys = shown.readings.iter().map(|reading| reading.key());
    let read = keys.map(|key| (key.to_string(), spread(&runs, key).map_or(Value::Null, value_of)));
    json!({
        "link": link,
        "scheme": scheme.name,
        "runs": runs.len(),
        "readings": read.collect::<Map<String, Value>>(),
        "distributions": distributions(shown, &runs),
        "paper": paper(shown.figure, Some(link), &scheme.name, |key| shown.answer(key)),
    })
}

fn value_of(spread: Spread) -> Value {
    json!({ "mean": spread.mean, "sigma": spread.sigma })
}

fn one_scheme(shown: &Shown, scheme: &Scheme) -> Value {
    let ours = shown.of(scheme);
    let object = |values: Vec<(&str, Option<f64>)>| -> Map<String, Value> {
        values.into_iter().map(|(key, value)| (key.to_string(), json!(value))).collect()
    };
    json!({
        "scheme": scheme.name,
        "mean": object(shown.readings.iter().map(|reading| (reading.key(), mean(&ours, reading.key()))).collect()),
        "compared": object(shown.figure.statistic.compare(&ours, &shown.schemes.first().map(|first| shown.of(first)).unwrap_or_default())),
        "statistic": shown.figure.statistic.name(),
        "boxes": boxes(shown, &ours),
        "pooled": distributions(shown, &ours),
        "paper": paper(shown.figure, None, &scheme.name, |key| shown.answer(key)),
    })
}

/// The boxes over links of a scheme's comparison with the first.
fn boxes(shown: &Shown, ours: &[&Sample]) -> Map<String, Value> {
    let Some(first) = shown.schemes.first().filter(|_| shown.figure.statistic == Statistic::PerLink) else {
        return Map::new();
    };
    let links = each_link(ours, &shown.of(first));
    let of = |key: &&str| Some(((*key).to_string(), box_of(Quantiles::of(values_over_links(&links, key))?)));
    OVER_LINKS.iter().filter_map(of).collect()
}

/// The distributions over all of a scheme's runs `of`.
fn distributions(shown: &Shown, of: &[&Sample]) -> Map<String, Value> {
    let known = shown.figure.distributions.iter();
    known.filter_map(|known| Some((known.name().to_string(), box_of(pooled(of, *known)?)))).collect()
}

fn box_of(found: Quantiles) -> Value {
    let [p5, p25, p50, p75, p95] = found.at;
    json!({ "p5": p5, "p25": p25, "p50": p50, "p75": p75, "p95": p95, "mean": found.mean })
}

fn one_run(shown: &Shown, sample: &Sample) -> anyhow::Result<Value> {
    let summary = &sample.summary;
    let mut run = serde_json::to_value(summary)?;
    if let Value::Object(fields) = &mut run {
        for reading in shown.readings {
            fields.insert(reading.key().into(), json!(sample.value(reading.key())));
        }
        let paper = paper(shown.figure, Some(&summary.trace), &summary.scheme, |known| shown.answer(known));
        fields.insert("paper".into(), paper);
    }
    Ok(run)
}

/// The paper's numbers for a scheme over a link, or of the means, each with its key, our value and its source: two
/// versions may both have one.
fn paper(figure: &Figure, link: Option<&str>, scheme: &str, ours: impl Fn(&Published) -> Option<Spread>) -> Value {
    let known = figure.published.iter().filter(|published| published.scheme == scheme && published.link == link);
    let listed: Vec<Value> = known
        .map(|known| {
            let Published { key, value, sigma, source, .. } = known;
            let ours = ours(known);
            let (mean, deviation) = (ours.map(|ours| ours.mean), ours.and_then(|ours| ours.sigma));
            json!({ "key": key, "value": value, "sigma": sigma, "ours": mean, "ours_sigma": deviation, "source": source })
        })
        .collect();
    if listed.is_empty() { Value::Null } else { Value::Array(listed) }
}

/// How an encoder followed a step of its target.
pub(super) fn step(figure: &Figure, values: &[(&str, Option<f64>)]) -> Value {
    let mut run: Map<String, Value> = values.iter().map(|(key, value)| (key.to_string(), json!(value))).collect();
    run.insert("scheme".into(), json!("encoder"));
    let ours = |known: &Published| {
        let mean = values.iter().find(|(key, _)| *key == known.key)?.1?;
        Some(Spread { mean, sigma: None, runs: 1 })
    };
    run.insert("paper".into(), paper(figure, None, "encoder", ours));
    json!({ "figure": figure.name, "about": figure.about, "runs": [run] })
}

/// Calculated numbers.
pub(super) fn rows(figure: &Figure, keys: &[&str], rows: &[Row]) -> Value {
    let row = |row: &Row| {
        let each = keys.iter().zip(&row.values).map(|(key, value)| ((*key).to_string(), json!(value)));
        let mut object: Map<String, Value> = each.collect();
        object.insert("trace".into(), json!(row.link));
        object.insert("scheme".into(), json!(row.scheme));
        let ours = |known: &Published| mean_of(keys, rows, known);
        let over_it = figure.published.iter().any(|known| known.link == Some(&row.link));
        object.insert("paper".into(), paper(figure, over_it.then_some(row.link.as_str()), &row.scheme, ours));
        object
    };
    json!({ "figure": figure.name, "about": figure.about, "runs": rows.iter().map(row).collect::<Vec<_>>() })
}

/// Runs with bounds: a row for each thing that is asked. A bound that there is not, and a value that could not be measured,
/// are null.
pub(super) fn bounded(figure: &Figure, bounded: &Bounded, answers: &[Vec<Answer>]) -> Value {
    let known = |value: f64| Some(value).filter(|value| value.is_finite());
    let rows = bounded.lines.iter().zip(answers).flat_map(|(line, answers)| {
        line.asked.iter().zip(answers).map(move |(asked, answer)| {
            json!({
                "experiment": line.name,
                "scheme": line.scheme(),
                "figure": asked.what,
                "expected": asked.expected,
                "least": known(asked.bound.least),
                "most": known(asked.bound.most),
                "mean": known(answer.mean),
                "worst": known(answer.worst),
                "met": answer.is_met,
            })
        })
    });
    json!({ "figure": figure.name, "about": figure.about, "bounds": rows.collect::<Vec<_>>() })
}
