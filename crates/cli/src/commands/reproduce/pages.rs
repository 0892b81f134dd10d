//! A page of Markdown for each figure, and the index with every verdict: what `make reproduce` writes.

use std::fmt::Write;
use std::path::Path;

use anyhow::Context;
use md5::{Digest, Md5};
use serde::{Deserialize, Serialize};
use thalweg_papers::{Experiment, Figure, figures};

use super::Arguments;

/// The papers, by the first word of their figures' names.
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

/// A figure that was played, as it is kept in the folder of --out.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// The program and the options that played it.
    by: String,
    page: String,
}

/// Plays what has not been played yet, and writes the pages and the index.
pub(super) fn write(figures: &[&Figure], arguments: &Arguments, folder: &Path) -> anyhow::Result<()> {
    for folder in [folder, &arguments.out] {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let by = program_and_options(arguments)?;
    for (place, figure) in figures.iter().enumerate() {
        let kept = arguments.out.join(format!("{}.json", figure.name));
        let known = std::fs::read(&kept).ok().and_then(|bytes| serde_json::from_slice::<Kept>(&bytes).ok());
        let result = match known.filter(|known| known.by == by) {
            Some(known) => known,
            None => {
                note!("{} of {}: {}", place + 1, figures.len(), figure.name);
                let results = super::play(figure, arguments).with_context(|| figure.name)?;
                let result = Kept { by: by.clone(), page: results.markdown(figure, &setup(figure, arguments)?) };
                std::fs::write(&kept, serde_json::to_vec(&result)?).with_context(|| kept.display().to_string())?;
                result
            }
        };
        let page = folder.join(format!("{}.md", figure.name));
        std::fs::write(&page, &result.page).with_context(|| page.display().to_string())?;
        let verdict = verdict_of(&result.page).unwrap_or_default();
        note!("{}: {verdict}", figure.name);
    }
    let index = folder.join("README.md");
    std::fs::write(&index, index_of(folder)).with_context(|| index.display().to_string())
}

/// How a page's line with the verdict begins.
pub(super) const VERDICT: &str = "Verdict: ";

fn verdict_of(page: &str) -> Option<&str> {
    page.lines().find_map(|line| line.strip_prefix(VERDICT))
}

/// Identity of everything that decides about a result: this program's own bytes, and the options.
fn program_and_options(arguments: &Arguments) -> anyhow::Result<String> {
    let program = std::fs::read(std::env::current_exe()?)?;
    let hash: String = Md5::digest(program).iter().map(|byte| format!("{byte:02x}")).collect();
    let Arguments { traces, salsify_traces, lumos5g_traces, pictures, duration, unloaded, runs, seed, .. } = arguments;
    let folders = (traces, salsify_traces, lumos5g_traces);
    Ok(format!("{hash} {folders:?} {pictures:?} {duration:?} {unloaded} {runs:?} {seed:?}"))
}

/// Description of the runs, and the command that plays them.
fn setup(figure: &Figure, arguments: &Arguments) -> anyhow::Result<String> {
    let setup = &figure.setup;
    let pictures = arguments.pictures.of_figure(setup)?;
    let played = match &figure.experiment {
        Experiment::Runs { .. } => {
            let (duration, runs) = (arguments.duration.unwrap_or(setup.duration), arguments.runs.unwrap_or(setup.runs));
            let each = if runs == 1 { "one run".into() } else { format!("{runs} runs") };
            let playout = if setup.playout.is_some() { ", frames held back as WebRTC's receiver does" } else { "" };
            format!(
                "{pictures}{playout}, {duration} a run, {each} of each scheme over each link, {} one way unless a link says otherwise",
                setup.delay
            )
        }
        Experiment::EncoderStep(_) => pictures.to_string(),
        Experiment::Rows(_) => "computed without a sender".into(),
        Experiment::Bounded(_) => format!("{} seeds, worst of them judged", arguments.runs.unwrap_or(setup.runs)),
    };
    Ok(format!("`thalweg reproduce {}`: {played}.", figure.name))
}

/// The index of all pages in the folder, whenever they were written.
fn index_of(folder: &Path) -> String {
    let figures = figures();
    let verdict = |figure: &Figure| {
        let page = std::fs::read_to_string(folder.join(format!("{}.md", figure.name))).ok()?;
        verdict_of(&page).map(str::to_string)
    };
    let mut index = String::from(
        "# Every figure and table of the five papers, and its result here\n\n\
         Written by `make reproduce`; each page has the paper's numbers beside ours and the command that plays it. A\n\
         number holds if ours is within a tenth of it or within the deviation that the paper prints, unless the page\n\
         says otherwise; a number that the paper bounds (\"more than twice\") holds on its side of the bound. A ranking\n\
         holds if no two schemes are the other way round. *Reproduced*: every number holds; *order only*: every ranking.\n",
    );
    for (paper, title) in PAPERS {
        let of = figures.iter().filter(|figure| figure.name.split('-').next() == Some(paper));
        let of: Vec<(&Figure, String)> = of.filter_map(|figure| Some((figure, verdict(figure)?))).collect();
        if of.is_empty() {
            continue;
        }
        let _ = write!(index, "\n## {title}\n\n| figure | what | verdict |\n|---|---|---|\n");
        for (figure, verdict) in of {
            let _ = writeln!(index, "| [{0}]({0}.md) | {1} | {verdict} |", figure.name, figure.about);
        }
    }
    index
}
