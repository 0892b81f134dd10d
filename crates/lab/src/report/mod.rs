//! One self-contained page for a comparison: nothing is fetched, and it prints.

mod chart;
mod html;
mod page;
mod scale;
mod scatter;
mod shares;

use crate::outcome::Outcome;
pub use chart::{Chart, Line, Stroke};
pub use scatter::{Scatter, ScatterPoint};

/// Colours that differ in print and for most of the colour-blind (Okabe and Ito 2008, without the palest), and behind them five that are at
/// least as far from those in lightness or hue as they can be: a figure may have a dozen schemes.
const COLOURS: [&str; 12] = [
    "#d55e00", "#56b4e9", "#009e73", "#cc79a7", "#0072b2", "#e69f00", "#000000", "#8c8c8c", "#6a3d9a", "#7f3b08",
    "#86b817", "#e0218a",
];

/// The colour of the scheme at this place among those of a page.
fn colour(index: usize) -> &'static str {
    COLOURS[index % COLOURS.len()]
}

/// What the page says of itself beside the runs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct About {
    /// The heading.
    pub title: String,
    /// How to make it again.
    pub command: String,
    /// Delay against quality, for pages that are about that.
    pub scatters: Vec<Scatter>,
}

/// The page as HTML. The runs should share video and duration; those over the same link are drawn on one time axis.
pub fn html(about: &About, runs: &[Outcome]) -> String {
    page::page(about, runs)
}
