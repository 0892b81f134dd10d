//! A table of texts: for the terminal, as Markdown and as CSV.

use std::collections::BTreeSet;
use std::fmt::Write;

/// A table whose first columns name things and whose others are numbers. A heading may have two lines.
pub(crate) struct Grid {
    /// Number of columns that name things.
    names: usize,
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
    /// Rows and columns of numbers that stand out.
    marked: BTreeSet<(usize, usize)>,
}

impl Grid {
    pub(crate) fn new(names: &[&str], numbers: impl IntoIterator<Item = String>) -> Grid {
        let heads = names.iter().map(|name| (*name).to_string()).chain(numbers).collect();
        Grid { names: names.len(), heads, rows: Vec::new(), marked: BTreeSet::new() }
    }

    pub(crate) fn row(&mut self, names: &[&str], numbers: impl IntoIterator<Item = String>) {
        self.rows.push(names.iter().map(|name| (*name).to_string()).chain(numbers).collect());
    }

    /// How many rows there are.
    pub(crate) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Has a number of a row stand out, both counted from 0: bold in a terminal and in Markdown.
    pub(crate) fn mark(&mut self, row: usize, number: usize) {
        self.marked.insert((row, self.names + number));
    }

    /// The headings, then the rows.
    pub(crate) fn cells(&self) -> Vec<Vec<String>> {
        std::iter::once(&self.heads).chain(&self.rows).cloned().collect()
    }

    /// Number of columns that name things.
    pub(crate) fn names(&self) -> usize {
        self.names
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Names to the left, numbers to the right, each column as wide as it must be; columns that do not fit into `width`
    /// characters follow below, with the names again. What is marked is `bold` by escape sequences, if these are wanted.
    pub(crate) fn text(&self, width: usize, bold: bool) -> String {
        let height = self.heads.iter().map(|head| head.lines().count()).max().unwrap_or(1);
        let heads = (0..height)
            .map(|line| self.heads.iter().map(|head| head.lines().nth(line).unwrap_or("").to_string()).collect());
        let lines: Vec<Vec<String>> = heads.chain(self.rows.iter().cloned()).collect();
        let wide = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.heads.len()).map(wide).collect();
        let named: usize = widths[..self.names].iter().map(|width| width + GAP).sum();
        let mut text = String::new();
        let mut from = self.names;
        loop {
            let mut until = from;
            let mut used = named;
            while until < widths.len() && (until == from || used + widths[until] <= width) {
                used += widths[until] + GAP;
                until += 1;
            }
            for (number, line) in lines.iter().enumerate() {
                let is_marked = |column| number >= height && self.marked.contains(&(number - height, column));
                let name = (0..self.names).map(|column| format!("{:1$}", line[column], widths[column]));
                let numbers = (from..until).map(|column| {
                    let text = format!("{:>1$}", line[column], widths[column]);
                    if bold && is_marked(column) { format!("\x1b[1m{text}\x1b[0m") } else { text }
                });
                let cells: Vec<String> = name.chain(numbers).collect();
                let _ = writeln!(text, "{}", cells.join(&" ".repeat(GAP)).trim_end());
            }
            from = until;
            if from >= widths.len() {
                return text;
            }
            text.push('\n');
        }
    }

    /// The same in Markdown.
    pub(crate) fn markdown(&self) -> String {
        self.markdown_by(self.heads.len())
    }

    /// The same, with rows that begin with the same `same` names as one line whose cells have their values one below the
    /// other; one line for each row where `same` is all columns.
    pub(crate) fn markdown_by(&self, same: usize) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | ").replace('\n', " "));
        let rule = (0..self.heads.len()).map(|column| if column < self.names { "---" } else { "---:" });
        let rule: Vec<String> = rule.map(str::to_string).collect();
        let rows: Vec<Vec<String>> = self
            .rows
            .iter()
            .enumerate()
            .map(|(row, cells)| {
                let cell = |(column, cell): (usize, &String)| match self.marked.contains(&(row, column)) {
                    true => format!("**{cell}**"),
                    false => cell.clone(),
                };
                cells.iter().enumerate().map(cell).collect()
            })
            .collect();
        let groups = rows.chunk_by(|a, b| same < self.heads.len() && a[..same] == b[..same]).map(|rows| {
            let cell = |column: usize| match rows {
                _ if column < same => rows[0][column].clone(),
                _ => rows.iter().map(|row| row[column].as_str()).collect::<Vec<_>>().join("<br>"),
            };
            (0..self.heads.len()).map(cell).collect::<Vec<_>>()
        });
        [self.heads.clone(), rule].into_iter().chain(groups).map(|cells| line(&cells)).collect()
    }

    /// The same as comma-separated values (RFC 4180).
    pub(crate) fn csv(&self) -> String {
        let quoted = |cell: &String| match cell.contains([',', '"', '\n', '\r']) {
            true => format!("\"{}\"", cell.replace('"', "\"\"")),
            false => cell.clone(),
        };
        let line = |cells: &Vec<String>| cells.iter().map(quoted).collect::<Vec<_>>().join(",") + "\r\n";
        std::iter::once(&self.heads).chain(&self.rows).map(line).collect()
    }
}

/// Characters between columns.
const GAP: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let mut grid = Grid::new(&["scheme"], ["video\nMbps", "p95\nms"].map(String::from));
        grid.row(&["gcc"], ["1.90", "481"].map(String::from));
        grid.row(&["salsify, 2c"], ["2.10", "90"].map(String::from));
        grid
    }

    #[test]
    fn columns_are_as_wide_as_they_must_be_and_numbers_stand_to_the_right() {
        let text =
            "scheme       video  p95\n              Mbps   ms\ngcc           1.90  481\nsalsify, 2c   2.10   90\n";
        assert_eq!(grid().text(80, true), text);
    }

    #[test]
    fn columns_that_do_not_fit_follow_below_with_the_names_again() {
        let text = grid().text(20, false);
        assert_eq!(text.lines().filter(|line| line.starts_with("gcc")).count(), 2, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 20), "{text}");
        assert_eq!(grid().text(1, false).lines().filter(|line| line.starts_with("gcc")).count(), 2);
    }

    #[test]
    fn what_is_marked_is_bold_where_that_is_wanted_and_no_wider() {
        let mut grid = grid();
        grid.mark(1, 0);
        assert_eq!(grid.text(80, false), self::grid().text(80, false));
        assert!(grid.text(80, true).ends_with("salsify, 2c  \x1b[1m 2.10\x1b[0m   90\n"), "{}", grid.text(80, true));
        assert!(grid.markdown().ends_with("| gcc | 1.90 | 481 |\n| salsify, 2c | **2.10** | 90 |\n"));
    }

    #[test]
    fn rows_of_one_name_are_one_line_of_markdown_with_their_values_below_each_other() {
        let mut grid = Grid::new(&["link", "scheme"], ["Mbps".to_string()]);
        for (link, scheme, value) in [("a", "gcc", "1"), ("a", "bbr", "2"), ("b", "gcc", "3")] {
            grid.row(&[link, scheme], [value.to_string()]);
        }
        assert!(
            grid.markdown_by(1).ends_with("| a | gcc<br>bbr | 1<br>2 |\n| b | gcc | 3 |\n"),
            "{}",
            grid.markdown_by(1)
        );
        assert_eq!(grid.markdown().lines().count(), 5);
    }

    #[test]
    fn markdown_has_one_line_of_headings_and_csv_quotes_what_must_be() {
        assert!(grid().markdown().starts_with("| scheme | video Mbps | p95 ms |\n| --- | ---: | ---: |\n"));
        assert!(grid().csv().ends_with("gcc,1.90,481\r\n\"salsify, 2c\",2.10,90\r\n"), "{}", grid().csv());
    }
}
