//! Grid of a sweep, checked as far as no file is needed.

use std::collections::BTreeMap;

use serde::de::value::SeqAccessDeserializer;
use serde::{Deserialize, Deserializer, Serialize};
use toml::Value;
use toml::de::{DeTable, DeValue};

use super::Cell;
use crate::metrics::FIGURES;
use crate::scenario::Scenario;
use crate::seeds::seeds;

/// A scenario, and what is varied in it: every combination of the values of all axes is a run, in the order of the axes,
/// the last of which varies fastest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// The scenario, as in a file of its own.
    pub scenario: Scenario,
    /// Varied fields, the slowest first.
    pub axes: Vec<Axis>,
    /// Combinations that are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skip: Vec<Skip>,
    /// The lines of axes and of what is skipped, of a file.
    #[serde(skip)]
    lines: [Vec<usize>; 2],
}

/// Something that is varied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// Its column in the table; the first of its fields when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `scheme`, `seed`, `trace` (the link of the forward path), or paths in run.toml: below the scenario, such as
    /// `forward.hops.1.delay.delay`, or from `scheme` on, such as `scheme.controller.copa.delta`. Several have the same
    /// value.
    #[serde(deserialize_with = "one_or_many")]
    pub field: Vec<String>,
    /// Its values in order. Seeds may be a text such as `1..10`, traces patterns of files such as `traces/*.down`.
    pub values: Value,
}

/// Runs that are left out: those that have one of the values on each of the named axes.
pub type Skip = BTreeMap<String, Value>;

/// Why a grid cannot be played: the line of its file if it has one, what is wrong, and how to mend it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GridError {
    /// It is no grid.
    #[error("{}", thalweg_units::with_nearest(&.0.to_string()))]
    Content(#[from] toml::de::Error),
    /// It is one that cannot be played.
    #[error("{}{message}", .line.map_or(String::new(), |line| format!("line {line}: ")))]
    Invalid {
        /// The line, from 1.
        line: Option<usize>,
        /// The problem, and the fix.
        message: String,
    },
}

/// Which parameters an axis varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Varied {
    Scheme,
    Seed,
    Trace,
    Fields,
}

impl Axis {
    /// Its name in the table and in `skip`.
    pub fn name(&self) -> &str {
        self.name.as_deref().or_else(|| self.field.first().map(String::as_str)).unwrap_or_default()
    }

    pub(super) fn varied(&self) -> Varied {
        match self.field.first().map(String::as_str) {
            Some("scheme") => Varied::Scheme,
            Some("seed") => Varied::Seed,
            Some("trace") => Varied::Trace,
            _ => Varied::Fields,
        }
    }

    /// Its values, patterns of files as they are.
    pub(super) fn list(&self) -> Result<Vec<Value>, String> {
        let name = self.name();
        let list = match (&self.values, self.varied()) {
            (Value::Array(list), _) => list.clone(),
            (Value::String(text), Varied::Seed) => {
                let seeds = seeds(text)?.into_iter().map(i64::try_from);
                let seeds: Vec<i64> = seeds.collect::<Result<_, _>>().map_err(|_| format!("'{text}': {LARGE}"))?;
                seeds.into_iter().map(Value::Integer).collect()
            }
            (other, varied) => {
                let range = if varied == Varied::Seed { " or \"1..10\"" } else { "; only seeds are a range" };
                return Err(format!("axis {name}: values is {other}: write a list, [..]{range}"));
            }
        };
        if list.is_empty() {
            return Err(format!("axis {name} has no values: name some, or remove it"));
        }
        for value in &list {
            let fits = match self.varied() {
                Varied::Scheme | Varied::Trace => value.is_str(),
                Varied::Seed => value.as_integer().is_some_and(|seed| seed >= 0),
                Varied::Fields => value.as_float().is_none_or(f64::is_finite),
            };
            if !fits {
                let wanted = match self.varied() {
                    Varied::Scheme => "the name of a scheme, such as \"gcc\" (`thalweg schemes` lists them)",
                    Varied::Trace => "the name of a link, or a pattern of files, such as \"traces/*.down\"",
                    Varied::Seed => "a whole number from 0 on",
                    Varied::Fields => "a finite number",
                };
                return Err(format!("axis {name}: {value} is none of its values: write {wanted}"));
            }
        }
        Ok(list)
    }
}

/// Message for integers that TOML does not hold.
const LARGE: &str = "a seed of a grid is at most 9223372036854775807";

/// Columns that every table has.
pub(super) const COLUMNS: [&str; 8] = ["job", "key", "scheme", "seed", "trace", "fingerprint", "status", "error"];

impl Grid {
    /// Reads the TOML of a grid and checks it.
    ///
    /// # Errors
    /// When it is none, with its line.
    pub fn read(text: &str) -> Result<Grid, GridError> {
        let grid: Grid = toml::from_str(text)?;
        let grid = Grid { lines: ["axes", "skip"].map(|key| lines(text, key)), ..grid };
        grid.check()?;
        Ok(grid)
    }

    /// Checks what needs no file; [`Grid::expand`] does it too.
    ///
    /// # Errors
    /// When it cannot be played.
    pub fn check(&self) -> Result<(), GridError> {
        if self.axes.iter().all(|axis| axis.varied() != Varied::Scheme) {
            let message = "no axis of schemes: add one, [[axes]] with field = \"scheme\" and values = [\"gcc\"]";
            return Err(GridError::Invalid { line: None, message: message.into() });
        }
        for (place, axis) in self.axes.iter().enumerate() {
            self.check_axis(place, axis).map_err(|message| self.wrong_axis(place, message))?;
        }
        for (place, skip) in self.skip.iter().enumerate() {
            self.check_skip(skip).map_err(|message| self.wrong_skip(place, message))?;
        }
        Ok(())
    }

    fn check_axis(&self, place: usize, axis: &Axis) -> Result<(), String> {
        let name = axis.name();
        let before = &self.axes[..place];
        if axis.field.iter().any(|field| field.split('.').any(str::is_empty)) || axis.field.is_empty() {
            return Err("an axis has no field: write field = \"seed\", or a path in run.toml below the scenario".into());
        }
        let alone = ["scheme", "seed", "trace"].iter().find(|alone| axis.field.iter().any(|field| field == *alone));
        if let Some(alone) = alone {
            if axis.field.len() > 1 {
                return Err(format!("axis {name}: {alone} stands with other fields: give it an axis of its own"));
            }
            if axis.name.is_some() {
                return Err(format!("axis {name}: {alone} has a column of its name: remove name"));
            }
        } else if COLUMNS.contains(&name) || FIGURES.contains(&name) {
            return Err(format!(
                "axis {name}: every table has a column of that name: give it another by name = \"..\""
            ));
        }
        for (at, field) in axis.field.iter().enumerate() {
            if axis.field[..at].contains(field) || before.iter().any(|other| other.field.contains(field)) {
                return Err(format!("axis {name}: {field} is varied twice: remove one of them"));
            }
        }
        if before.iter().any(|other| other.name() == name) {
            return Err(format!("axis {name} is there twice: give one of them another name = \"..\""));
        }
        let cells: Vec<Cell> = axis.list()?.iter().map(Cell::of).collect();
        match cells.iter().enumerate().find(|(at, cell)| cells[..*at].contains(cell)) {
            Some((_, cell)) => Err(format!("axis {name}: {cell} is there twice: remove one of them")),
            None => Ok(()),
        }
    }

    fn check_skip(&self, skip: &Skip) -> Result<(), String> {
        for (name, values) in skip {
            let Some(axis) = self.axes.iter().find(|axis| axis.name() == name) else {
                let names: Vec<&str> = self.axes.iter().map(Axis::name).collect();
                return Err(format!("skip: unknown axis '{name}': expected one of {}", names.join(", ")));
            };
            let known: Vec<Cell> = axis.list()?.iter().map(Cell::of).collect();
            // What a pattern of files means is not known yet.
            if axis.varied() == Varied::Trace {
                continue;
            }
            if let Some(other) = skipped(values).iter().find(|cell| !known.contains(cell)) {
                let known: Vec<String> = known.iter().map(Cell::to_string).collect();
                return Err(format!(
                    "skip: unknown value {other} of axis '{name}': expected one of {}",
                    known.join(", ")
                ));
            }
        }
        if skip.is_empty() {
            return Err("skip: names no axis, and so skips everything: name one, or remove it".into());
        }
        Ok(())
    }

    pub(super) fn wrong_axis(&self, place: usize, message: String) -> GridError {
        GridError::Invalid { line: self.lines[0].get(place).copied(), message }
    }

    pub(super) fn wrong_skip(&self, place: usize, message: String) -> GridError {
        GridError::Invalid { line: self.lines[1].get(place).copied(), message }
    }
}

/// The values of an axis that are skipped: one or several.
pub(super) fn skipped(values: &Value) -> Vec<Cell> {
    match values {
        Value::Array(list) => list.iter().map(Cell::of).collect(),
        one => vec![Cell::of(one)],
    }
}

/// The lines, from 1, of the items of a list of this name.
fn lines(text: &str, key: &str) -> Vec<usize> {
    let Ok(table) = DeTable::parse(text) else { return Vec::new() };
    let Some(DeValue::Array(items)) = table.get_ref().get(key).map(toml::Spanned::get_ref) else { return Vec::new() };
    let line = |at: usize| 1 + text.bytes().take(at).filter(|byte| *byte == b'\n').count();
    items.iter().map(|item| line(item.span().start)).collect()
}

/// A text, or a list of texts.
fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    struct Visitor;
    impl<'de> serde::de::Visitor<'de> for Visitor {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a field such as \"seed\", or a list of fields")
        }

        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Vec<String>, E> {
            Ok(vec![text.into()])
        }

        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, list: A) -> Result<Vec<String>, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(list))
        }
    }
    deserializer.deserialize_any(Visitor)
}
