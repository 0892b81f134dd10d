//! One self-contained page for a comparison: nothing is fetched, and it prints.

mod chart;
mod page;
mod scale;

use crate::outcome::Outcome;

/// What the page says of itself beside the runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct About {
    /// The heading.
    pub title: String,
    /// How to make it again.
    pub command: String,
}

/// The page as HTML. The runs should share link, video and duration: they are drawn on one time axis.
pub fn html(about: &About, runs: &[Outcome]) -> String {
    page::page(about, runs)
}
