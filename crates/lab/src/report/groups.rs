//! Which runs belong together: a scheme's seeds are one group, a link with a video one cell.

use super::colours::{MUTED, Style, style, style_beside};
use crate::metrics::Summary;
use crate::outcome::Outcome;

/// A scheme's name on a page, with its style.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) style: Style,
}

/// Runs of a scheme that differ only in their seeds.
#[derive(Debug, Clone)]
pub(super) struct Group<'a> {
    /// Its place in [`Page::entries`].
    pub(super) entry: usize,
    pub(super) runs: Vec<&'a Outcome>,
}

impl<'a> Group<'a> {
    pub(super) fn summaries(&self) -> Vec<&'a Summary> {
        self.runs.iter().map(|run| &run.summary).collect()
    }
}

/// The groups of one link and one video.
#[derive(Debug, Clone)]
pub(super) struct Cell<'a> {
    pub(super) link: &'a str,
    pub(super) video: &'a str,
    pub(super) groups: Vec<Group<'a>>,
}

/// All runs of a page.
#[derive(Debug, Clone)]
pub(super) struct Page<'a> {
    /// Entries with a line: the schemes in order, and the other flows that shared a path with them.
    pub(super) entries: Vec<Entry>,
    /// Number of entries that are schemes under test.
    pub(super) schemes: usize,
    pub(super) cells: Vec<Cell<'a>>,
}

impl<'a> Page<'a> {
    /// The first group of a cell with the same seed twice is continued by another with a number behind its name.
    pub(super) fn of(runs: &'a [Outcome]) -> Page<'a> {
        let mut page = Page { entries: Vec::new(), schemes: 0, cells: Vec::new() };
        for run in runs {
            let summary = &run.summary;
            let (link, video) = (summary.trace.as_str(), summary.video.as_str());
            let place = page.cells.iter().position(|cell| (cell.link, cell.video) == (link, video));
            let place = place.unwrap_or_else(|| {
                page.cells.push(Cell { link, video, groups: Vec::new() });
                page.cells.len() - 1
            });
            let repeat = page.cells[place].groups.iter().filter(|group| {
                let first = &group.runs[0].summary;
                first.scheme == summary.scheme && group.runs.iter().any(|run| run.summary.seed == summary.seed)
            });
            let entry = page.entry(&summary.scheme, repeat.count());
            match page.cells[place].groups.iter_mut().find(|group| group.entry == entry) {
                Some(group) => group.runs.push(run),
                None => page.cells[place].groups.push(Group { entry, runs: vec![run] }),
            }
        }
        page.schemes = page.entries.len();
        page
    }

    /// The place of the entry for the `repeat`-th of this name; added if there is none.
    fn entry(&mut self, name: &str, repeat: usize) -> usize {
        let label = if repeat == 0 { name.to_string() } else { format!("{name} ({})", repeat + 1) };
        let taken: Vec<Style> = self.entries.iter().map(|entry| entry.style).collect();
        self.labelled(label, style_beside(name, repeat, &taken))
    }

    fn labelled(&mut self, name: String, style: Style) -> usize {
        self.entries.iter().position(|entry| entry.name == name).unwrap_or_else(|| {
            self.entries.push(Entry { name, style });
            self.entries.len() - 1
        })
    }

    /// The place of the entry for a flow that competed with the schemes under test, the `repeat`-th of this name.
    pub(super) fn competitor(&mut self, name: &str, repeat: usize) -> usize {
        let label = if repeat == 0 { format!("and {name}") } else { format!("and {name} ({})", repeat + 1) };
        self.labelled(label, style(name, repeat + 1))
    }

    /// The place of the entry for what any sender could have at the most.
    pub(super) fn bound(&mut self) -> usize {
        self.labelled("bound".into(), MUTED)
    }

    /// The summaries of a scheme's runs, over all cells.
    pub(super) fn summaries(&self, entry: usize) -> Vec<&'a Summary> {
        let groups = self.cells.iter().flat_map(|cell| &cell.groups).filter(|group| group.entry == entry);
        groups.flat_map(Group::summaries).collect()
    }

    /// The largest number of runs that a group has.
    pub(super) fn most_runs(&self) -> usize {
        self.cells.iter().flat_map(|cell| &cell.groups).map(|group| group.runs.len()).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::data::tests::outcome;
    use super::*;

    #[test]
    fn seeds_are_one_group_and_the_same_run_again_is_another() {
        let runs = [
            outcome("a", "gcc", 1),
            outcome("a", "vidaptive", 1),
            outcome("a", "gcc", 2),
            outcome("b", "vidaptive", 1),
            outcome("a", "vidaptive", 1),
        ];
        let page = Page::of(&runs);
        let names: Vec<&str> = page.entries.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["gcc", "vidaptive", "vidaptive (2)"]);
        let groups: Vec<Vec<(usize, usize)>> = page
            .cells
            .iter()
            .map(|cell| cell.groups.iter().map(|group| (group.entry, group.runs.len())).collect())
            .collect();
        assert_eq!(groups, [vec![(0, 2), (1, 1), (2, 1)], vec![(1, 1)]]);
        assert_eq!((page.summaries(1).len(), page.most_runs()), (2, 2));
    }
}
