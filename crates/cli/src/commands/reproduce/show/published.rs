//! The numbers that a paper prints for a figure, next to ours.

use std::fmt::Write;

use thalweg_papers::{Claim, Figure, Published, Ranking, Spread, Verdict};

use super::text::{head, text, with_sigma};
use crate::grid::Grid;

/// A paper's numbers beside ours, and what comes of it.
pub(super) struct Compared {
    grid: Grid,
    verdict: Verdict,
    because: &'static str,
}

impl Compared {
    /// `ours` gives our value for each number.
    pub(super) fn of(figure: &Figure, ours: impl Fn(&Published) -> Option<Spread>) -> Compared {
        let Figure { published, orders, because, .. } = figure;
        let numbers = ["paper", "ours", "held"].map(str::to_string);
        let mut grid = Grid::new(&["link", "scheme", "number", "read in"], numbers);
        for known in &figure.published {
            let Published { link, scheme, key, source, claim, .. } = *known;
            let found = ours(known);
            let held = match found {
                _ if claim == Claim::Elsewhere => "not played",
                Some(found) if known.holds(found.mean) => "yes",
                _ => "no",
            };
            let cells = [paper(known), with_sigma(key, found), held.into()];
            grid.row(&[link.unwrap_or("all"), scheme, &head(key), source], cells);
        }
        let verdict = Verdict::of(published, &ours)
            .with_orders(orders, |scheme, key| ours(&Published::asked(scheme, key)).map(|spread| spread.mean));
        Compared { grid, verdict, because }
    }

    pub(super) fn text(&self) -> String {
        if self.grid.is_empty() && self.verdict.rankings.is_empty() {
            return "\nThe paper has no number for this figure.\n".into();
        }
        let mut text = String::new();
        if !self.grid.is_empty() {
            let _ = write!(text, "\n{}", self.grid.text(usize::MAX, false));
        }
        for Ranking { link, key, paper, ours } in &self.verdict.rankings {
            let link = link.unwrap_or("mean over all links");
            let _ = writeln!(text, "\n{link}, {}, highest first", head(key));
            let _ = writeln!(text, "  paper: {}\n  ours:  {}", order(paper), order(ours));
        }
        let _ = writeln!(text, "\n{}", self.verdict());
        text
    }

    /// The paper's numbers beside ours, below a row of headings.
    pub(super) fn rows(&self) -> Vec<Vec<String>> {
        if self.grid.is_empty() { Vec::new() } else { self.grid.cells() }
    }

    pub(super) fn markdown(&self) -> String {
        let mut text = String::new();
        if !self.grid.is_empty() {
            let _ = write!(text, "\n**The paper's numbers beside ours**\n\n{}", self.grid.markdown_by(1));
        }
        let missed = self.verdict.rankings.iter().filter(|ranking| !ranking.is_kept());
        for (place, Ranking { link, key, paper, ours }) in missed.enumerate() {
            if place == 0 {
                text += "\nRankings that are not the paper's, highest first:\n\n";
            }
            let link = link.unwrap_or("mean over all links");
            let _ = writeln!(text, "* {link}, {}: {}; ours {}", head(key), order(paper), order(ours));
        }
        text
    }

    /// The verdict, and why what is missed is missed.
    pub(super) fn verdict(&self) -> String {
        if self.because.is_empty() { self.verdict.to_string() } else { format!("{}: {}", self.verdict, self.because) }
    }
}

/// The paper's number with its claim, and its deviation if given.
fn paper(published: &Published) -> String {
    let Published { key, value, sigma, claim, .. } = *published;
    match claim {
        Claim::NEAR | Claim::Elsewhere => with_sigma(key, Some(Spread { mean: value, sigma, runs: 1 })),
        Claim::Within(share) => format!("{} within {:.0}%", text(key, Some(value)), share * 100.0),
        Claim::AtLeast => format!("at least {}", text(key, Some(value))),
        Claim::AtMost => format!("at most {}", text(key, Some(value))),
    }
}

/// Schemes from the highest value to the lowest, with `=` between equal ones.
fn order(values: &[(&str, f64)]) -> String {
    let mut order = String::new();
    for (place, (scheme, value)) in values.iter().enumerate() {
        if let Some((_, before)) = place.checked_sub(1).map(|before| values[before]) {
            order += if before == *value { " = " } else { " > " };
        }
        order += scheme;
    }
    order
}
