//! Figures that are worked out without a sender and a receiver: rows of numbers.

use thalweg_link::FindTrace;
use thalweg_units::Seed;

use crate::simulate::SimulateError;

/// A table that is worked out.
#[derive(Debug, Clone, Copy)]
pub struct Rows {
    /// The names of its columns, as `--json` prints them.
    pub keys: &'static [&'static str],
    /// The names of the recorded links that it needs.
    pub traces: &'static [&'static str],
    /// Works it out.
    pub play: fn(&mut FindTrace<'_>, Seed) -> Result<Vec<Row>, SimulateError>,
}

/// A row of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Of which link or setting.
    pub link: String,
    /// Of what.
    pub scheme: String,
    /// One for each key.
    pub values: Vec<Option<f64>>,
}
