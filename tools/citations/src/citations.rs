//! Citations in any text: pages of specifications with their sections, sections of the papers, documents by their path.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::{Fault, Repository, SPECIFICATIONS, Source};

/// The gap between two words: blanks, and the start of a comment's next line.
const GAP: &str = r"(?:[ \t]|\n[ \t]*(?://[/!]?|#|\*)?[ \t])+";

fn pattern(pattern: &str) -> Regex {
    Regex::new(&pattern.replace(' ', GAP)).unwrap()
}

/// `specs/camel.md`, with following sections, an example and numbered readings.
static SPECIFICATION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\bspecs/([A-Za-z0-9_]+\.md)\b(?: ([A-Z]?\d+(?:\.\d+)*)\b(?: and (\d+(?:\.\d+)*)\b)?)?(?:, example (\d+))?((?:,[ ]?[A-Z]\d+\b)*)",
    )
});
static LABEL: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[A-Z]\d+").unwrap());
/// `Salsify section 3.2`.
static PAPER: LazyLock<Regex> = LazyLock::new(|| {
    let section = r"[IVX]+(?:-[A-Z])?\b|[A-Z](?:\.\d)?\b|\d+(?:\.\d+)*";
    pattern(&format!(r"\b([A-Z]\w+)(?:'s|,)? sections? ({section})(?:(?:,| and| to) ({section}))?"))
});
/// A Markdown file by its path.
static DOCUMENT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[\w./+-]*[\w-]\.md\b").unwrap());
/// `camel.md section 6`, which is ambiguous about its page.
static SECTION_OF_FILE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b([\w/]+\.md),? sections? \d"));
/// `(C9)`, which does not name its page.
static BARE_LABEL: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"[(;] ?(C\d+)[):]").unwrap());

/// Files that a program writes or that belong to another project: no citations of ours.
const NOT_OURS: [&str; 3] = ["measured.md", "why.md", "scream/g3doc/implementation_diff.md"];

pub(crate) fn check(repository: &Repository, source: &Source<'_>, faults: &mut Vec<Fault>) {
    let mut fault = |at: usize, what: String| faults.push(source.fault(at, what));
    for found in SPECIFICATION.captures_iter(source.text) {
        specification(repository, &found, |what| fault(start(&found), what));
    }
    for found in PAPER.captures_iter(source.text) {
        let Some(sections) = repository.papers.get(&found[1]) else { continue };
        for section in [found.get(2), found.get(3)].into_iter().flatten().map(|section| section.as_str()) {
            if !sections.iter().any(|known| known == section) {
                let known = sections.join(", ");
                fault(start(&found), format!("the {} paper has no section {section}, only {known}", &found[1]));
            }
        }
    }
    for found in SECTION_OF_FILE.captures_iter(source.text) {
        fault(start(&found), format!("write specs/NAME.md NUMBER, not {:?}", &found[0]));
    }
    for found in DOCUMENT.find_iter(source.text) {
        let (name, before) = (found.as_str(), &source.text[..found.start()]);
        let elsewhere =
            before.ends_with("](") || before.ends_with(':') || name.contains("//") || NOT_OURS.contains(&name);
        if !elsewhere && !name.contains("specs/") && !repository.has(source.path, name) {
            fault(
                found.start(),
                format!("there is no {name} here; a specification is cited as specs/{name} with a section"),
            );
        }
    }
    bare_labels(repository, source, fault);
}

fn start(found: &Captures<'_>) -> usize {
    found.get(0).map_or(0, |whole| whole.start())
}

fn specification(repository: &Repository, found: &Captures<'_>, mut fault: impl FnMut(String)) {
    let name = &found[1];
    let Some(page) = repository.specifications.get(name) else {
        return fault(format!("there is no {SPECIFICATIONS}/{name}"));
    };
    let part = |n: usize| found.get(n).map(|part| part.as_str());
    for section in [part(2), part(3)].into_iter().flatten() {
        let numbered = section.starts_with(|c: char| c.is_ascii_digit());
        if numbered && !page.has_section(section) {
            fault(format!("specs/{name} has no section {section}"));
        } else if !numbered && !page.has_label(section) {
            fault(format!("specs/{name} has nothing named {section}"));
        }
    }
    for label in LABEL.find_iter(part(5).unwrap_or_default()).filter(|label| !page.has_label(label.as_str())) {
        fault(format!("specs/{name} has nothing named {}", label.as_str()));
    }
    if let Some(example) = part(4) {
        match part(2) {
            None => fault(format!("say in which section of specs/{name} example {example} stands")),
            Some(section) if !page.has_example(section, example) => {
                fault(format!("specs/{name} has no example {example} in section {section}"));
            }
            Some(_) => {}
        }
    }
}

/// On the page of a paper `(C9)` belongs to that paper's specification; everywhere else the specification must be
/// named.
fn bare_labels(repository: &Repository, source: &Source<'_>, mut fault: impl FnMut(usize, String)) {
    if source.path.starts_with(SPECIFICATIONS) {
        return;
    }
    let page = source.path.starts_with("docs/papers").then(|| source.path.file_name()).flatten();
    let page = page.and_then(|name| repository.specifications.get(&*name.to_string_lossy()));
    for found in BARE_LABEL.captures_iter(source.text) {
        if !page.is_some_and(|page| page.has_label(&found[1])) {
            fault(start(&found), format!("say of what page {} is: specs/NAME.md {}", &found[1], &found[1]));
        }
    }
}
