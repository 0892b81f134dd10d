//! A comparison as one HTML file without external resources: a table, a verdict, and charts to work in.
//!
//! The page carries its data as JSON and draws it in the browser by uPlot (`vendor/uplot`) and `web/report.js`.

mod charts;
mod colours;
mod data;
mod groups;
mod html;
mod page;
mod scatter;
mod series;
mod sweep;
mod table;
mod verdict;
mod worst;

use crate::outcome::Outcome;
pub use scatter::{Scatter, ScatterPoint};
pub use sweep::Plot;

/// Content of the page besides the runs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct About {
    /// The heading.
    pub title: String,
    /// A paragraph below the heading; may be empty.
    pub description: String,
    /// A table below that: a row of headings, then rows of cells; may be empty.
    pub table: Vec<Vec<String>>,
    /// The command that reproduces it.
    pub command: String,
    /// Scatter charts of delay against quality, for pages about those.
    pub scatters: Vec<Scatter>,
}

/// The page as HTML. Runs of one scheme over the same link and video that differ in their seeds are one line with a band
/// and one row with intervals; every other run has its own. The first scheme is what the others are compared with.
pub fn html(about: &About, runs: &[Outcome]) -> String {
    page::page(about, runs)
}
