//! Row of a sweep: the figures that are kept of a run.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use toml::Value;

use super::Key;
use crate::metrics::{self, FIGURES, Summary};

/// A run's place in its sweep, and its figures: nothing of the machine, the time or the order in which it was played.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The number of its job, from 0.
    pub job: u32,
    /// Key of the run.
    pub key: Key,
    /// The scheme's name.
    pub scheme: String,
    /// The seed.
    pub seed: u64,
    /// The link's name.
    pub trace: String,
    /// Its place on the other axes, by their names in the grid's order.
    pub axes: Vec<(String, Cell)>,
    /// The hash of its events in hexadecimal; empty of a run that failed.
    pub fingerprint: String,
    /// Status of the run: done or failed.
    pub status: Status,
    /// The error of a run that failed; empty otherwise.
    pub error: String,
    /// Its figures.
    pub figures: Figures,
}

/// The axes of rows of one sweep, each with whether all its values are numbers.
pub fn axes(rows: &[Row]) -> Vec<(String, bool)> {
    let Some(first) = rows.first() else { return Vec::new() };
    let is_number = |place: usize| rows.iter().all(|row| matches!(row.axes[place].1, Cell::Number(_)));
    first.axes.iter().enumerate().map(|(place, (name, _))| (name.clone(), is_number(place))).collect()
}

/// Status of a run: played to its end, or failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Played to its end.
    Done,
    /// Not played to its end: its scenario, codec or controller failed, and will again.
    Failed,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Status::Done => "done",
            Status::Failed => "failed",
        })
    }
}

/// A value of an axis in a table.
#[derive(Debug, Clone, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Cell {
    /// A number.
    Number(f64),
    /// Anything else as text: a quantity, a word, a table in TOML.
    Text(String),
}

impl Cell {
    pub(super) fn of(value: &Value) -> Cell {
        match value {
            Value::Integer(number) => Cell::Number(*number as f64),
            Value::Float(number) => Cell::Number(*number),
            other => Cell::Text(text(other)),
        }
    }
}

/// A value as text that does not depend on the order of its keys.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => format!("[{}]", list.iter().map(text).collect::<Vec<_>>().join(", ")),
        Value::Table(table) => {
            let sorted: BTreeMap<_, _> = table.iter().collect();
            let each = sorted.into_iter().map(|(key, value)| format!("{key} = {}", text(value)));
            format!("{{{}}}", each.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Number(number) => number.fmt(f),
            Cell::Text(text) => text.fmt(f),
        }
    }
}

/// The figures of a run in the order of [`FIGURES`]; none of a run that failed. As JSON an object of those that apply.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Figures(Vec<Option<f64>>);

impl Figures {
    /// Those of a summary.
    pub fn of(summary: &Summary) -> Figures {
        Figures(metrics::figures(summary))
    }

    /// Those at the places of [`FIGURES`]; none apply of a run that failed.
    #[cfg(feature = "parquet")]
    pub(super) fn from_columns(values: Vec<Option<f64>>) -> Figures {
        if values.iter().all(Option::is_none) { Figures::default() } else { Figures(values) }
    }

    /// The figure at this place of [`FIGURES`]; `None` if it does not apply.
    pub fn at(&self, place: usize) -> Option<f64> {
        self.0.get(place).copied().flatten()
    }

    /// The figure of this key.
    pub fn get(&self, key: &str) -> Option<f64> {
        self.at(FIGURES.iter().position(|known| *known == key)?)
    }
}

impl Serialize for Figures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(FIGURES.iter().zip(&self.0).filter_map(|(key, value)| Some((key, (*value)?))))
    }
}

impl<'de> Deserialize<'de> for Figures {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Figures, D::Error> {
        let read: BTreeMap<String, f64> = BTreeMap::deserialize(deserializer)?;
        if let Some(key) = read.keys().find(|key| !FIGURES.contains(&key.as_str())) {
            return Err(serde::de::Error::custom(format!("unknown figure '{key}' in this version")));
        }
        let of = |key: &&str| read.get(*key).copied();
        Ok(if read.is_empty() { Figures::default() } else { Figures(FIGURES.iter().map(of).collect()) })
    }
}
