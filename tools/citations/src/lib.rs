//! Checks that every citation and every Markdown link of this repository refers to something that exists. The form of
//! citations is described in specs/README.md 2.
//!
//! [`faults`] reads the whole tree. It knows pages by their numbered headings ([`Page`]), papers by the table of their sections
//! (specs/README.md 3), and everything else by its path. It also checks that each requirement of docs/requirements names
//! tests that exist, or an exception; and that numbers which a page quotes are those of the table that it names
//! (`quotations`).

mod citations;
mod links;
mod page;
mod prose;
mod quotations;
mod requirements;
mod tree;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use page::Page;

/// The folder of the pages that `specs/` refers to.
const SPECIFICATIONS: &str = "docs/specs";

/// A citation or link whose target does not exist, or a requirement that nothing shows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// The file, relative to the repository's root.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The problem, and the correction.
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.file.display(), self.line, self.what)
    }
}

/// The parts of a repository that can be cited.
struct Repository {
    root: PathBuf,
    /// The pages of specifications by their file name.
    specifications: BTreeMap<String, Page>,
    /// The sections of each paper by its name.
    papers: BTreeMap<String, Vec<String>>,
}

/// A file to check.
struct Source<'a> {
    /// Relative to the root.
    path: &'a Path,
    text: &'a str,
}

impl Source<'_> {
    fn fault(&self, at: usize, what: String) -> Fault {
        let line = self.text[..at].matches('\n').count() + 1;
        Fault { file: self.path.to_path_buf(), line, what }
    }

    fn is_markdown(&self) -> bool {
        self.path.extension().is_some_and(|extension| extension == "md")
    }
}

/// All faults of the repository at `root`, in the order of files and lines.
///
/// # Errors
/// When a file or folder cannot be read.
pub fn faults(root: &Path) -> io::Result<Vec<Fault>> {
    let repository = Repository::open(root)?;
    let mut faults = Vec::new();
    for path in tree::files(root)? {
        let text = fs::read_to_string(root.join(&path))?;
        let source = Source { path: &path, text: &text };
        citations::check(&repository, &source, &mut faults);
        if source.is_markdown() {
            links::check(&repository, &source, &mut faults);
            quotations::check(&repository, &source, &mut faults);
        }
    }
    requirements::check(root, &mut faults)?;
    faults.sort();
    Ok(faults)
}

/// Lines of the repository at `root` whose documentation, help or error breaks the rules of grammar, in the order of
/// files and lines.
///
/// # Errors
/// When a file or folder cannot be read.
pub fn faults_of_prose(root: &Path) -> io::Result<Vec<Fault>> {
    let mut faults = Vec::new();
    for path in tree::files(root)? {
        let text = fs::read_to_string(root.join(&path))?;
        prose::check(&Source { path: &path, text: &text }, &mut faults);
    }
    faults.sort();
    Ok(faults)
}

impl Repository {
    fn open(root: &Path) -> io::Result<Repository> {
        let mut specifications = BTreeMap::new();
        for entry in fs::read_dir(root.join(SPECIFICATIONS))? {
            let path = entry?.path();
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if name.ends_with(".md") {
                specifications.insert(name, Page::read(&fs::read_to_string(&path)?));
            }
        }
        let index = fs::read_to_string(root.join(SPECIFICATIONS).join("README.md"))?;
        Ok(Repository { root: root.to_path_buf(), specifications, papers: papers(&index) })
    }

    /// Returns true if `target`, as written in `from`, is a file or folder: relative to the folder of `from`, or to the
    /// root.
    fn has(&self, from: &Path, target: &str) -> bool {
        let beside = from.parent().unwrap_or(Path::new(""));
        self.root.join(beside).join(target).exists() || self.root.join(target).exists()
    }
}

/// The table of papers in the index of specifications: rows of `name | title | sections`, under a header that begins so.
fn papers(index: &str) -> BTreeMap<String, Vec<String>> {
    let rows = index.lines().skip_while(|line| !line.starts_with("| name | paper")).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    rows.filter_map(|row| {
        let mut cells = row.trim_matches('|').split('|').map(str::trim);
        let (name, sections) = (cells.next()?, cells.next_back()?);
        Some((name.to_string(), sections.split(',').map(|section| section.trim().to_string()).collect()))
    })
    .collect()
}

#[cfg(test)]
mod tests;
