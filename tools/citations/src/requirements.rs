//! Requirements of RFCs: tables of docs/requirements, each row with the tests that show it or the reason why there is
//! none.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use crate::Fault;

/// The folder of the tables.
const FOLDER: &str = "docs/requirements";
/// The header of a table; other tables of a page are not read.
const HEADER: [&str; 5] = ["section", "level", "requirement", "shown by", "exception"];
const LEVELS: [&str; 4] = ["MUST", "MUST NOT", "SHOULD", "SHOULD NOT"];
/// Requirements that do not concern our roles, and those that we do not meet.
const KINDS: [&str; 2] = ["n/a: ", "open: "];
/// An exception is a sentence, not a word.
const FEWEST_WORDS: usize = 4;

/// A test by the file that it is in, below `crates`, and its function: `transport/tests/connect.rs::a_name`.
static TEST: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"`([^`\s]+\.rs)::(\w+)`").unwrap());
static SECTION: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^\d+(\.\d+)*$").unwrap());

/// How many requirements of an RFC are shown by tests, do not concern us, and are not met.
#[derive(Debug, Default, PartialEq, Eq)]
struct Count {
    shown: usize,
    elsewhere: usize,
    open: usize,
}

/// Checks every table, and the numbers in the folder's README.
pub(crate) fn check(root: &Path, faults: &mut Vec<Fault>) -> io::Result<()> {
    let folder = root.join(FOLDER);
    if !folder.is_dir() {
        return Ok(());
    }
    let mut sources = Sources { crates: root.join("crates"), read: BTreeMap::new() };
    let mut counts = BTreeMap::new();
    let mut names: Vec<String> = fs::read_dir(&folder)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<io::Result<_>>()?;
    names.retain(|name| name.starts_with("rfc") && name.ends_with(".md"));
    names.sort();
    for name in names {
        let page = Page { path: Path::new(FOLDER).join(&name), text: fs::read_to_string(folder.join(&name))? };
        counts.insert(name, page.check(&mut sources, faults));
    }
    let index = Page { path: Path::new(FOLDER).join("README.md"), text: fs::read_to_string(folder.join("README.md"))? };
    index.check_counts(&counts, faults);
    Ok(())
}

struct Page {
    path: PathBuf,
    text: String,
}

impl Page {
    fn fault(&self, line: usize, what: String) -> Fault {
        Fault { file: self.path.clone(), line: line + 1, what }
    }

    /// The rows of the tables with this header, each with its line from 0.
    fn rows(&self, header: &[&str]) -> Vec<(usize, Vec<&str>)> {
        let mut rows = Vec::new();
        let mut is_ours = false;
        for (number, line) in self.text.lines().enumerate() {
            let Some(row) = cells(line) else {
                is_ours = false;
                continue;
            };
            if row == header {
                is_ours = true;
            } else if is_ours && !row.iter().all(|cell| cell.starts_with("--")) {
                rows.push((number, row));
            }
        }
        rows
    }

    fn check(&self, sources: &mut Sources, faults: &mut Vec<Fault>) -> Count {
        let (mut count, mut last) = (Count::default(), Vec::new());
        let rows = self.rows(&HEADER);
        if rows.is_empty() {
            faults.push(self.fault(0, format!("no table with the header | {} |", HEADER.join(" | "))));
        }
        for (number, row) in rows {
            let mut fault = |what: String| faults.push(self.fault(number, what));
            let &[section, level, requirement, shown, exception] = &row[..] else {
                fault(format!("{} cells in a row, must be {}", row.len(), HEADER.len()));
                continue;
            };
            match parts(section) {
                None => fault(format!("invalid section {section:?}: write its number, such as 7.2.5.1")),
                Some(parts) if parts < last => fault(format!("section {section} stands after a later one")),
                Some(parts) => last = parts,
            }
            if !LEVELS.contains(&level) {
                fault(format!("{level:?} is no level, must be one of {}", LEVELS.join(", ")));
            }
            if requirement.is_empty() {
                fault("no requirement: say in a few words what is asked for".into());
            }
            let tests: Vec<_> = TEST.captures_iter(shown).collect();
            for test in &tests {
                if let Some(what) = sources.wrong(&test[1], &test[2]) {
                    fault(what);
                }
            }
            if tests.is_empty() && !shown.is_empty() {
                fault(format!("{shown:?} names no test: write `CRATE/PATH.rs::FUNCTION`"));
            }
            let kind = KINDS.iter().position(|kind| exception.starts_with(kind));
            match (exception, kind) {
                ("", _) if tests.is_empty() => fault("neither a test nor an exception".into()),
                ("", _) => count.shown += 1,
                (_, None) => fault(format!("{exception:?} must begin with {:?} or {:?}", KINDS[0], KINDS[1])),
                (_, Some(kind)) => {
                    if exception.split_whitespace().count() <= FEWEST_WORDS {
                        fault(format!("{exception:?} gives no reason"));
                    }
                    *if kind == 0 { &mut count.elsewhere } else { &mut count.open } += 1;
                }
            }
        }
        count
    }

    /// The README's table must have what the other pages have.
    fn check_counts(&self, counts: &BTreeMap<String, Count>, faults: &mut Vec<Fault>) {
        let rows = self.rows(&["RFC", "requirements", "shown by tests", "not ours", "open"]);
        for (name, Count { shown, elsewhere, open }) in counts {
            let right = [shown + elsewhere + open, *shown, *elsewhere, *open].map(|number| number.to_string());
            match rows.iter().find(|(_, row)| row[0].contains(&format!("({name})"))) {
                None => faults.push(self.fault(0, format!("{name} is not in the table"))),
                Some((_, row)) if row[1..] == right => {}
                Some((number, _)) => {
                    faults.push(self.fault(*number, format!("{name} has | {} |", right.join(" | "))));
                }
            }
        }
        let sum = |of: fn(&Count) -> usize| counts.values().map(of).sum::<usize>();
        let [shown, elsewhere, open] =
            [sum(|count| count.shown), sum(|count| count.elsewhere), sum(|count| count.open)];
        let right = [shown + elsewhere + open, shown, elsewhere, open].map(|number| number.to_string());
        if let Some((number, _)) = rows.iter().find(|(_, row)| row[0] == "all" && row[1..] != right) {
            faults.push(self.fault(*number, format!("all have | {} |", right.join(" | "))));
        }
    }
}

/// The cells of a table's row.
fn cells(line: &str) -> Option<Vec<&str>> {
    let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(inner.split('|').map(str::trim).collect())
}

fn parts(section: &str) -> Option<Vec<u32>> {
    SECTION.is_match(section).then(|| section.split('.').map_while(|part| part.parse().ok()).collect())
}

/// The files that tests are looked for in.
struct Sources {
    crates: PathBuf,
    read: BTreeMap<String, Option<String>>,
}

impl Sources {
    /// The fault of a test's name, if any: there is no such file or function, it is no test, or it is ignored.
    fn wrong(&mut self, file: &str, function: &str) -> Option<String> {
        let path = self.crates.join(file);
        let text = self.read.entry(file.into()).or_insert_with(|| fs::read_to_string(path).ok());
        let Some(text) = text else { return Some(format!("there is no crates/{file}")) };
        let begin = format!("fn {function}(");
        let Some(at) = text.find(&begin) else { return Some(format!("crates/{file} has no test {function}")) };
        // The attributes and comments directly above.
        let above = text[..at].lines().rev().skip(usize::from(!text[..at].ends_with('\n')));
        let above: Vec<_> =
            above.map(str::trim).take_while(|line| line.starts_with("#[") || line.starts_with("//")).collect();
        if !above.contains(&"#[test]") {
            return Some(format!("{function} in crates/{file} is no test"));
        }
        let is_ignored = above.iter().any(|line| line.starts_with("#[ignore"));
        is_ignored.then(|| format!("{function} in crates/{file} is ignored: it shows nothing every day"))
    }
}
