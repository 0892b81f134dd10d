//! The parts of a Markdown page that can be cited: numbered sections, headings, numbered readings, worked examples.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

static NUMBER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^(\d+(?:\.\d+)*)\.? ").unwrap());
static LABEL: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?m)\[([A-Z]\d+)\]|^\| *([A-Z]\d+)\b|\*\*([A-Z]\d+)\b").unwrap());
static EXAMPLE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^(\d+)\. ").unwrap());

/// The citable parts of a Markdown page.
#[derive(Debug, Default)]
pub struct Page {
    sections: BTreeSet<String>,
    anchors: BTreeSet<String>,
    labels: BTreeSet<String>,
    examples: BTreeSet<(String, String)>,
}

impl Page {
    /// Reads a page.
    #[must_use]
    pub fn read(text: &str) -> Page {
        let mut page = Page::default();
        let mut section = String::new();
        for label in LABEL.captures_iter(text) {
            page.labels.extend(label.iter().skip(1).flatten().map(|label| label.as_str().to_string()));
        }
        for line in outside_of_code(text) {
            if let Some(title) = heading(line) {
                if let Some(number) = NUMBER.captures(title) {
                    section = number[1].to_string();
                    page.sections.insert(section.clone());
                }
                page.add_anchor(title);
            } else if let Some(example) = EXAMPLE.captures(line) {
                page.examples.insert((section.clone(), example[1].to_string()));
            }
        }
        page
    }

    /// Returns true if there is a heading with this number.
    #[must_use]
    pub fn has_section(&self, number: &str) -> bool {
        self.sections.contains(number)
    }

    /// Returns true if a reading or experiment has this label (`C9`).
    #[must_use]
    pub fn has_label(&self, label: &str) -> bool {
        self.labels.contains(label)
    }

    /// Returns true if a section has a list item with this number.
    #[must_use]
    pub fn has_example(&self, section: &str, number: &str) -> bool {
        self.examples.contains(&(section.to_string(), number.to_string()))
    }

    /// Returns true if `#anchor` is a valid link target.
    #[must_use]
    pub fn has_anchor(&self, anchor: &str) -> bool {
        self.anchors.contains(anchor)
    }

    /// A heading's anchor, with `-1` and so on if it is taken.
    fn add_anchor(&mut self, title: &str) {
        let anchor = anchor(title);
        let free = (0..).map(|n| if n == 0 { anchor.clone() } else { format!("{anchor}-{n}") });
        let free = free.into_iter().find(|anchor| !self.anchors.contains(anchor));
        self.anchors.extend(free);
    }
}

/// A heading's anchor as GitHub makes it: lower case, hyphens for spaces, no punctuation.
pub(crate) fn anchor(title: &str) -> String {
    let kept = title.to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

pub(crate) fn heading(line: &str) -> Option<&str> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    (1..=6).contains(&level).then(|| title.strip_prefix(' ')).flatten().map(str::trim)
}

/// The lines outside of fenced blocks.
fn outside_of_code(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        !inside && !fence
    })
}
