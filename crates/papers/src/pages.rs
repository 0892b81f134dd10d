//! Pages of results: one for each paper, with a section for each figure and an index on top.
//!
//! A section is what was played once. Its stamp says what made it, so that a test finds a section whose figure has been
//! changed since; nothing here plays.

use std::fmt::Write;

use thalweg_lab::behaviour::made_by;
use thalweg_lab::sweep::Key;

use super::{Figure, figures};

/// The papers by the first word of their figures' names, and their titles.
const PAPERS: [(&str, &str); 8] = [
    ("vidaptive", "[Vidaptive](../vidaptive.md) (Karimi et al., arXiv 2309.16869)"),
    ("camel", "[Camel](../camel.md) (arXiv 2602.09500)"),
    ("salsify", "[Salsify](../salsify.md) (Fouladi et al., NSDI 2018)"),
    ("fbra", "[FBRA](../fbra.md) (Nagy et al., MMSys 2014)"),
    ("rebera", "[Rebera](../rebera.md) (Kurdoglu et al., MMSys 2016)"),
    ("gcc", "[GCC](../gcc.md) beside stock Chromium 156"),
    ("l4s", "[L4S](../../l4s.md) (no paper's: the bounds of specs/l4s.md 6)"),
    ("padding", "[What padding carries](../padding.md) (no paper's)"),
];

/// Beginning of a line with the verdict.
pub const VERDICT: &str = "Verdict: ";
/// Beginning of a section's line with its stamp.
const STAMP: &str = "Stamp: ";
/// The verdicts that are counted, and the beginning of each.
const COUNTED: [(&str, &str); 5] = [
    ("reproduced", "reproduced"),
    ("order only", "order only"),
    ("in part", "in part"),
    ("not", "not:"),
    ("nothing to compare", "no number"),
];

/// The name of the paper that a figure belongs to: the first word of its name, and of its page.
pub fn paper_of(figure: &Figure) -> &'static str {
    figure.name.split('-').next().unwrap_or(figure.name)
}

/// A paper's page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    paper: String,
    sections: Vec<Section>,
}

/// Results of a figure, as they were played once.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Section {
    figure: String,
    text: String,
}

impl Section {
    fn line(&self, begins: &str) -> Option<&str> {
        self.text.lines().find_map(|line| line.strip_prefix(begins))
    }
}

impl Page {
    /// Reads a paper's page; an empty text is a page without sections.
    pub fn read(paper: &str, text: &str) -> Page {
        let mut sections: Vec<Section> = Vec::new();
        for line in text.lines() {
            match (line.strip_prefix("## "), sections.last_mut()) {
                (Some(figure), _) => sections.push(Section { figure: figure.into(), text: String::new() }),
                (None, Some(section)) => section.text += &format!("{line}\n"),
                (None, None) => (),
            }
        }
        sections.iter_mut().for_each(|section| section.text = section.text.trim().to_string() + "\n");
        Page { paper: paper.into(), sections }
    }

    /// Replaces the section of a figure, or adds it.
    pub fn put(&mut self, figure: &Figure, results: &str) {
        let section =
            Section { figure: figure.name.into(), text: format!("{}\n\n{STAMP}{}.\n", results.trim(), stamp(figure)) };
        match self.sections.iter_mut().find(|known| known.figure == figure.name) {
            Some(known) => *known = section,
            None => self.sections.push(section),
        }
    }

    /// The page: sections in the order of the figures' list, those of figures that there are no more left out.
    pub fn text(&self) -> String {
        let (paper, sections) = (&self.paper, self.in_order());
        let title = PAPERS.iter().find(|(known, _)| known == paper).map_or(paper.as_str(), |(_, title)| title);
        let mut text = format!(
            "# {title}: results\n\n`thalweg reproduce {paper} --pages FOLDER` writes this page, and `thalweg reproduce FIGURE` plays one of its figures;\n\
             [how to read it](README.md).\n\n| figure | verdict |\n|---|---|\n"
        );
        for section in &sections {
            let verdict = section.line(VERDICT).unwrap_or_default();
            let _ = writeln!(text, "| [{0}](#{0}) | {verdict} |", section.figure);
        }
        for Section { figure, text: results } in sections {
            let _ = write!(text, "\n## {figure}\n\n{results}");
        }
        text
    }

    fn in_order(&self) -> Vec<&Section> {
        let named = |figure: Figure| self.sections.iter().find(|section| section.figure == figure.name);
        figures().into_iter().filter_map(named).collect()
    }

    /// Sections of figures that are defined otherwise today, or that there are no more, and do not say so.
    pub fn stale(&self) -> Vec<String> {
        let figures = figures();
        let is_stale = |section: &&Section| {
            let Some(figure) = figures.iter().find(|figure| figure.name == section.figure) else { return true };
            let stamp = section.line(STAMP).unwrap_or_default();
            let says_so = ["made before stamps; played on ", "stale: "].iter().any(|said| stamp.contains(said));
            !says_so && !stamp.contains(&definition(figure))
        };
        self.sections.iter().filter(is_stale).map(|section| section.figure.clone()).collect()
    }
}

/// Stamp of a figure's results: this version, the behaviour of its schemes, and the figure's definition.
fn stamp(figure: &Figure) -> String {
    format!("thalweg {}, {}", made_by(), definition(figure))
}

/// Parts that a definition lacks, which were added after figures had been played: they change no stamp.
const LACKED: [&str; 4] =
    [", in_order: false", ", takes_back: false", ", bucket: None", ", reordering_window: Span(0)"];

/// A hash of all that a figure plays, reads and compares with.
fn definition(figure: &Figure) -> String {
    let text = LACKED.iter().fold(format!("{figure:?}"), |text, lacked| text.replace(lacked, ""));
    let key = Key::of_text(&text).to_string();
    format!("definition {}", &key[..16])
}

/// The index: how many figures of each paper came out; `page` gives a paper's page.
pub fn index(page: impl Fn(&str) -> Option<Page>) -> String {
    let mut text = String::from(
        "# Every figure and table of the five papers, and its result here\n\n\
         Written by `make reproduce`, a page for each paper: the paper's numbers beside ours, and every reading. A\n\
         number holds if ours is within a tenth of it or within the deviation that the paper prints, unless the page\n\
         says otherwise; a number that the paper bounds (\"more than twice\") holds on its side of the bound. A ranking\n\
         holds if no two schemes are the other way round. *Reproduced*: every number holds; *order only*: every ranking.\n\n\
         A line of a table has all schemes over a link, one below the other; with several runs a number is their mean and\n\
         standard deviation. The stamp of a section says what made it: the version, the fingerprint of all schemes'\n\
         behaviour, and a hash of the figure's definition, which a test compares with the definition of today.\n\n",
    );
    let heads: Vec<&str> = COUNTED.iter().map(|(head, _)| *head).collect();
    let _ = writeln!(text, "| paper | figures | {} |\n|---|---:|{}", heads.join(" | "), "---:|".repeat(heads.len()));
    for (paper, title) in PAPERS {
        let Some(page) = page(paper) else { continue };
        let sections = page.in_order();
        let verdicts: Vec<&str> = sections.iter().filter_map(|section| section.line(VERDICT)).collect();
        let count = |(_, begins): &(&str, &str)| verdicts.iter().filter(|verdict| verdict.starts_with(begins)).count();
        let counts: Vec<String> = COUNTED.iter().map(|counted| count(counted).to_string()).collect();
        let _ = writeln!(text, "| [{paper}]({paper}.md): {title} | {} | {} |", sections.len(), counts.join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn figure(name: &str) -> Figure {
        figures().into_iter().find(|figure| figure.name == name).unwrap()
    }

    #[test]
    fn a_figure_that_is_played_again_replaces_its_section_alone() {
        let mut page = Page::read("camel", "");
        page.put(&figure("camel-fig10"), "Ten.\n\nVerdict: not: 0 of 5 numbers");
        page.put(&figure("camel-fig7"), "Seven.\n\nVerdict: reproduced: 5 of 5 numbers");
        let text = page.text();
        assert!(text.find("## camel-fig7") < text.find("## camel-fig10"), "{text}");
        let mut read = Page::read("camel", &text);
        assert_eq!(read.text(), text);
        assert_eq!(read.stale(), [""; 0]);
        read.put(&figure("camel-fig10"), "Ten again.\n\nVerdict: in part: 1 of 5 numbers");
        let again = read.text();
        assert!(again.contains("Ten again.") && !again.contains("Ten.\n") && again.contains("Seven."), "{again}");
        assert!(again.contains("| [camel-fig10](#camel-fig10) | in part: 1 of 5 numbers |"), "{again}");
        let index = index(|paper| (paper == "camel").then(|| read.clone()));
        assert!(index.contains("(arXiv 2602.09500) | 2 | 1 | 0 | 1 | 0 | 0 |"), "{index}");
    }

    #[test]
    fn a_section_of_another_definition_is_stale_unless_it_says_so() {
        let mut changed = figure("camel-fig10");
        changed.published[0].value += 0.001;
        let mut page = Page::read("camel", "");
        page.put(&changed, "Ten.");
        assert_eq!(page.stale(), ["camel-fig10"]);
        let said = page.text().replace("Stamp: ", "Stamp: stale: another number; ");
        assert_eq!(Page::read("camel", &said).stale(), [""; 0]);
    }

    #[test]
    fn every_section_in_the_documents_is_of_its_figure_as_it_is_or_says_that_it_is_not() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/papers/results");
        let mut sections = 0;
        for (paper, _) in PAPERS {
            let Ok(text) = std::fs::read_to_string(folder.join(paper).with_extension("md")) else { continue };
            let page = Page::read(paper, &text);
            assert_eq!(page.stale(), [""; 0], "{paper}.md: play them again, or put 'stale: WHY' into their stamps");
            assert_eq!(page.text(), text, "{paper}.md is not as it is written");
            sections += page.sections.len();
        }
        // A packaged crate has no documents.
        assert!(!folder.exists() || sections > 80, "{sections}");
    }
}
