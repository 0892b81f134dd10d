//! Quotations: numbers in pages written by hand, which have to be those of the table or of the files that they name.
//!
//! ```text
//! Camel's estimate is <!-- quotes camel-fig10; camel; estimate accuracy -->99.6 % accurate.
//! bits <!-- quotes docs/thalweg.md#the-test-set; thalweg; bits -->2.2 times [1.6, 3.0]<!-- end -->
//! <!-- table quotes camel-fig10 -->        before a table: each cell by the headings of its row and its column
//! <!-- counts fuzz/fuzz_targets/*.rs -->39 fuzz targets
//! <!-- counts crates/sender/src/scheme/names.rs: name: " -->56 schemes
//! ```
//!
//! A source is a figure's name, which is a heading in some page of docs/papers/results, or a page and a heading's
//! anchor. Labels stand between: the row is the one that has them all among its cells. The last word is the heading of
//! the column. A quotation may be rounded, and may stop before the cell's last number.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use crate::page::{anchor, heading};
use crate::{Fault, Repository, Source};

const RESULTS: &str = "docs/papers/results";
const END: &str = "<!-- end -->";

static MARK: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"<!-- (quotes|table quotes|counts)\s((?s:.)+?)\s-->").unwrap());
static NUMBER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\d[\d,]*\d(?:\.\d+)?|\d(?:\.\d+)?").unwrap());

pub(crate) fn check(repository: &Repository, source: &Source<'_>, faults: &mut Vec<Fault>) {
    for found in MARK.captures_iter(source.text) {
        let whole = found.get(0).map_or(0..0, |whole| whole.range());
        let (before, after) = (&source.text[..whole.start], &source.text[whole.end..]);
        let mark = found[2].split_whitespace().collect::<Vec<_>>().join(" ");
        let wrong = match &found[1] {
            "table quotes" => table(repository, &mark, after),
            _ if before.ends_with('\n') => Err("a line that begins with a comment is no part of its paragraph".into()),
            "quotes" => quotation(repository, &mark, after),
            _ => count(repository, &mark, after),
        };
        faults.extend(wrong.err().map(|what| source.fault(whole.start, what)));
    }
}

/// One cell, quoted in running text.
fn quotation(repository: &Repository, mark: &str, after: &str) -> Result<(), String> {
    let mut labels = mark.split(';').map(str::trim).collect::<Vec<_>>();
    let (Some(column), [name, labels @ ..]) = (labels.pop(), &*labels) else {
        return Err(format!("write SOURCE; LABEL; COLUMN, not {mark:?}"));
    };
    let text = section(repository, name)?;
    let cell = cell(&tables(&text), labels, column).map_err(|what| format!("{name} {what}"))?;
    agree(&cell, &quoted(after)).map_err(|what| format!("{mark}: {what}"))
}

/// The numbers that a mark is about: the first one after it, or all up to the end that the paragraph has for it.
fn quoted(after: &str) -> Vec<Number> {
    let paragraph = after.split("\n\n").next().unwrap_or_default();
    let own = MARK.find(paragraph).map_or(paragraph, |next| &paragraph[..next.start()]);
    match own.split_once(END) {
        Some((within, _)) => numbers(within),
        None => numbers(own).into_iter().take(1).collect(),
    }
}

/// A whole table, in the source's direction or turned around.
fn table(repository: &Repository, mark: &str, after: &str) -> Result<(), String> {
    let mut words = mark.split(';').map(str::trim);
    let name = words.next().unwrap_or_default();
    let shared = words.collect::<Vec<_>>();
    let text = section(repository, name)?;
    let sources = tables(&text);
    let ours = tables(after.trim_start());
    let ours = ours.first().ok_or("no table follows")?;
    for row in &ours.rows {
        let Some((label, cells)) = row.split_first() else { continue };
        for (column, ours) in ours.header.iter().skip(1).zip(cells) {
            let labels = |last: &'_ str| shared.iter().copied().chain([last]).map(String::from).collect::<Vec<_>>();
            let straight = cell(&sources, &labels(label), column);
            let theirs = straight.or_else(|what| cell(&sources, &labels(column), label).map_err(|_| what));
            let theirs = theirs.map_err(|what| format!("{name} {what}"))?;
            agree(&theirs, &numbers(ours)).map_err(|what| format!("{name}; {label}; {column}: {what}"))?;
        }
    }
    Ok(())
}

/// The number of a folder's files with an ending, or of a file's lines that contain a text.
fn count(repository: &Repository, mark: &str, after: &str) -> Result<(), String> {
    let unreadable = |path: &str| format!("{path} cannot be read");
    let actual = if let Some((path, text)) = mark.split_once(": ") {
        let file = fs::read_to_string(repository.root.join(path)).map_err(|_| unreadable(path))?;
        file.lines().filter(|line| line.contains(text)).count()
    } else {
        let (folder, ending) = mark.split_once("/*").ok_or("write FOLDER/*.ENDING or FILE: TEXT")?;
        let files = fs::read_dir(repository.root.join(folder)).map_err(|_| unreadable(folder))?;
        files.flatten().filter(|file| file.file_name().to_string_lossy().ends_with(ending)).count()
    };
    agree(&actual.to_string(), &quoted(after)).map_err(|what| format!("{mark}: {what}"))
}

/// The text below a figure's heading in the pages of results, or below a page's heading: `docs/page.md#anchor`.
fn section(repository: &Repository, name: &str) -> Result<String, String> {
    let read = |path: &Path| fs::read_to_string(repository.root.join(path)).unwrap_or_default();
    if name.contains(".md") {
        let (path, wanted) = name.split_once('#').unwrap_or((name, ""));
        let text = read(Path::new(path));
        let found = if wanted.is_empty() { Some(text) } else { below(&text, |title| anchor(title) == wanted) };
        return found.filter(|text| !text.is_empty()).ok_or_else(|| format!("there is no {name}"));
    }
    let pages = fs::read_dir(repository.root.join(RESULTS)).into_iter().flatten().flatten();
    let is_it = |title: &str| title.trim_matches('`').split([' ', ',', ':', '`']).next() == Some(name);
    let mut found = pages.filter_map(|page| below(&read(&page.path()), is_it));
    found.next().ok_or_else(|| format!("no page of {RESULTS} has a heading {name}"))
}

/// The lines below the heading that is wanted, up to the next one that is no deeper.
fn below(text: &str, is_wanted: impl Fn(&str) -> bool) -> Option<String> {
    let level = |line: &str| heading(line).map(|_| line.len() - line.trim_start_matches('#').len());
    let mut lines = text.lines().skip_while(|line| !heading(line).is_some_and(&is_wanted));
    let own = level(lines.next()?)?;
    let lines = lines.take_while(|line| level(line).is_none_or(|level| level > own));
    Some(lines.collect::<Vec<_>>().join("\n"))
}

struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

fn tables(text: &str) -> Vec<Table> {
    let lines = text.lines().collect::<Vec<_>>();
    let blocks = lines.split(|line| !line.starts_with('|')).filter(|block| block.len() > 2);
    blocks
        .map(|rows| Table { header: cells(rows[0]), rows: rows[2..].iter().flat_map(|row| rows_of(row)).collect() })
        .collect()
}

/// The rows of a line: several where its cells have several values, one below the other.
fn rows_of(line: &str) -> Vec<Vec<String>> {
    let cells = cells(line);
    let values: Vec<Vec<&str>> = cells.iter().map(|cell| cell.split("<br>").collect()).collect();
    let count = values.iter().map(Vec::len).max().unwrap_or(0);
    let value = |values: &Vec<&str>, row: usize| values.get(row).unwrap_or(&values[0]).to_string();
    (0..count).map(|row| values.iter().map(|values| value(values, row)).collect()).collect()
}

/// The cells of a line, without marks in them: a quotation may be quoted.
fn cells(row: &str) -> Vec<String> {
    static COMMENT: LazyLock<Regex> = LazyLock::new(|| Regex::new("<!--.*?-->").unwrap());
    let row = COMMENT.replace_all(row, "");
    let row = row.strip_prefix('|').unwrap_or(&row).trim_end();
    row.strip_suffix('|')
        .unwrap_or(row)
        .split('|')
        .map(|cell| cell.replace(['`', '*'], "").trim().to_string())
        .collect()
}

/// The cell in the row that has all labels.
fn cell(tables: &[Table], labels: &[impl AsRef<str>], column: &str) -> Result<String, String> {
    let labels = labels.iter().map(AsRef::as_ref).collect::<Vec<_>>();
    let mut found = Vec::new();
    for table in tables {
        let Some(place) = table.header.iter().position(|header| header == column) else { continue };
        let rows = table.rows.iter().filter(|row| labels.iter().all(|label| row.iter().any(|cell| cell == label)));
        found.extend(rows.filter_map(|row| row.get(place)));
    }
    found.dedup();
    match &*found {
        [one] => Ok((*one).clone()),
        [] => Err(format!("has no row {} with a column {column:?}", labels.join("; "))),
        _ => Err(format!("has {} rows {}: add a label", found.len(), labels.join("; "))),
    }
}

/// A number as it is written: its value, and its decimals.
#[derive(Debug, Clone, Copy)]
struct Number {
    value: f64,
    decimals: i32,
}

fn numbers(text: &str) -> Vec<Number> {
    let read = NUMBER.find_iter(text).filter_map(|found| {
        let before = &text[..found.start()];
        let minus = before.strip_suffix('-').is_some_and(|before| !before.ends_with(|c: char| c.is_alphanumeric()));
        let digits = found.as_str().replace(',', "");
        let value = digits.parse::<f64>().ok()?;
        let decimals = digits.split_once('.').map_or(0, |(_, after)| i32::try_from(after.len()).unwrap_or(0));
        Some(Number { value: if minus { -value } else { value }, decimals })
    });
    read.collect()
}

/// Checks that the quoted numbers are the first of a cell, each rounded or not.
fn agree(cell: &str, quoted: &[Number]) -> Result<(), String> {
    let theirs = numbers(cell);
    let same = |(ours, theirs): (&Number, &Number)| {
        (ours.value - theirs.value).abs() <= 0.5 * 10f64.powi(-ours.decimals) + 1e-9 && ours.decimals <= theirs.decimals
    };
    let right = !quoted.is_empty() && quoted.len() <= theirs.len() && quoted.iter().zip(&theirs).all(same);
    if right || quoted.is_empty() && theirs.is_empty() {
        return Ok(());
    }
    let ours = quoted.iter().map(|number| format!("{:.*}", number.decimals.unsigned_abs() as usize, number.value));
    Err(format!("the source has {cell}, not {}", ours.collect::<Vec<_>>().join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_that_quotes_another_can_be_quoted() {
        assert_eq!(cells("| gcc | <!-- quotes a-fig1; 60 %; gcc -->1.38 ± 0.43<!-- end --> |"), ["gcc", "1.38 ± 0.43"]);
    }

    #[test]
    fn a_line_whose_cells_have_several_values_is_several_rows() {
        let rows = rows_of("| 60 % | gcc<br>camel | 90.9%<br>**99.6%** |");
        assert_eq!(rows, [["60 %", "gcc", "90.9%"], ["60 %", "camel", "99.6%"]]);
    }
}
