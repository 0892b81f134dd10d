//! A comparison as one self-contained, printable HTML page without external resources.

mod chart;
mod html;
mod page;
mod scale;
mod scatter;
mod shares;

use crate::outcome::Outcome;
pub use chart::{Chart, Line, Stroke};
pub use scatter::{Scatter, ScatterPoint};

/// Colours that are distinguishable in print and for most colour-blind readers (Okabe and Ito 2008, without the
/// palest), followed by five that differ from those as much as possible in lightness or hue: a figure may have a dozen
/// schemes.
const COLOURS: [&str; 12] = [
    "#d55e00", "#56b4e9", "#009e73", "#cc79a7", "#0072b2", "#e69f00", "#000000", "#8c8c8c", "#6a3d9a", "#7f3b08",
    "#86b817", "#e0218a",
];

/// The colour of the scheme with this index on a page.
fn colour(index: usize) -> &'static str {
    COLOURS[index % COLOURS.len()]
}

/// Content of the page besides the runs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct About {
    /// The heading.
    pub title: String,
    /// The command that reproduces it.
    pub command: String,
    /// Scatter charts of delay against quality, for pages about those.
    pub scatters: Vec<Scatter>,
}

/// The page as HTML. The runs should share video and duration; runs over the same link are drawn on one time axis.
pub fn html(about: &About, runs: &[Outcome]) -> String {
    page::page(about, runs)
}
