//! A table of texts, for the terminal and as Markdown.

use std::fmt::Write;

/// A table whose first columns name things and whose others are numbers.
#[derive(Default)]
pub(super) struct Grid {
    /// Number of columns that name things.
    pub(super) names: usize,
    pub(super) heads: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Grid {
    pub(super) fn new(names: &[&str], numbers: impl IntoIterator<Item = String>) -> Grid {
        let heads = names.iter().map(|name| (*name).to_string()).chain(numbers).collect();
        Grid { names: names.len(), heads, rows: Vec::new() }
    }

    pub(super) fn row(&mut self, names: &[&str], numbers: impl IntoIterator<Item = String>) {
        self.rows.push(names.iter().map(|name| (*name).to_string()).chain(numbers).collect());
    }

    /// Names to the left, numbers to the right, each column as wide as it must be.
    pub(super) fn text(&self) -> String {
        let lines = || std::iter::once(&self.heads).chain(&self.rows);
        let width = |column: usize| lines().map(|line| line[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.heads.len()).map(width).collect();
        let mut text = String::new();
        for line in lines() {
            let cells = line.iter().zip(&widths).enumerate().map(|(column, (cell, width))| match column < self.names {
                true => format!("{cell:width$}"),
                false => format!("{cell:>width$}"),
            });
            let _ = writeln!(text, "{}", cells.collect::<Vec<_>>().join("  ").trim_end());
        }
        text
    }

    /// The same in Markdown.
    pub(super) fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | ").replace("\n", " "));
        let rule = (0..self.heads.len()).map(|column| if column < self.names { "---" } else { "---:" });
        let rule: Vec<String> = rule.map(str::to_string).collect();
        [&self.heads, &rule].into_iter().chain(&self.rows).map(|cells| line(cells)).collect()
    }
}
