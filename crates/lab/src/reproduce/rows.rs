//! Figures computed without a sender and a receiver: rows of numbers.

use thalweg_link::FindTrace;
use thalweg_units::Seed;

use crate::simulate::SimulateError;

/// A computed table.
#[derive(Debug, Clone, Copy)]
pub struct Rows {
    /// The keys of its columns, as `--json` prints them.
    pub keys: &'static [&'static str],
    /// The names of the required recorded links.
    pub traces: &'static [&'static str],
    /// Computes the table.
    pub play: fn(&mut FindTrace<'_>, Seed) -> Result<Vec<Row>, SimulateError>,
}

/// A row of a computed table.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The link or setting.
    pub link: String,
    /// The scheme.
    pub scheme: String,
    /// One value per key.
    pub values: Vec<Option<f64>>,
}
