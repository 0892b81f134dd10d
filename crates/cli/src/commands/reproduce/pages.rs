//! A page of Markdown for each paper, and the index with the verdicts: what `make reproduce` writes.

use std::path::Path;

use anyhow::{Context, anyhow};
use md5::{Digest, Md5};
use serde::{Deserialize, Serialize};
use thalweg_papers::pages::{Page, VERDICT, index, paper_of};
use thalweg_papers::{Experiment, Figure};

use super::Arguments;

/// A figure that was played, as it is kept in the folder of --out.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// The program and the options that played it.
    by: String,
    /// Its section of the paper's page.
    page: String,
}

/// Plays what has not been played yet, and writes its sections and the index.
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
                let (results, interrupted) = super::play(figure, arguments).with_context(|| figure.name)?;
                interrupted.map_or(Ok(()), |interrupted| Err(anyhow!(interrupted)))?;
                let result = Kept { by: by.clone(), page: results.markdown(figure, &setup(figure, arguments)?) };
                std::fs::write(&kept, serde_json::to_vec(&result)?).with_context(|| kept.display().to_string())?;
                result
            }
        };
        let paper = paper_of(figure);
        let path = folder.join(format!("{paper}.md"));
        let mut page = read(folder, paper).unwrap_or_else(|| Page::read(paper, ""));
        page.put(figure, &result.page);
        std::fs::write(&path, page.text()).with_context(|| path.display().to_string())?;
        let verdict = result.page.lines().find_map(|line| line.strip_prefix(VERDICT)).unwrap_or_default();
        note!("{}: {verdict}", figure.name);
    }
    let path = folder.join("README.md");
    std::fs::write(&path, index(|paper| read(folder, paper))).with_context(|| path.display().to_string())
}

/// A paper's page in the folder; `None` if there is none.
fn read(folder: &Path, paper: &str) -> Option<Page> {
    let text = std::fs::read_to_string(folder.join(format!("{paper}.md"))).ok()?;
    Some(Page::read(paper, &text))
}

/// Identity of everything that decides about a result: this program's own bytes, and the options.
fn program_and_options(arguments: &Arguments) -> anyhow::Result<String> {
    let program = std::fs::read(std::env::current_exe()?)?;
    let hash: String = Md5::digest(program).iter().map(|byte| format!("{byte:02x}")).collect();
    let Arguments { traces, salsify_traces, lumos5g_traces, pictures, duration, unloaded, runs, seed, .. } = arguments;
    let folders = (traces, salsify_traces, lumos5g_traces);
    Ok(format!("{hash} {folders:?} {pictures:?} {duration:?} {unloaded} {runs:?} {seed:?}"))
}

/// Description of the runs.
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
    Ok(format!("{}.", first_upper(&played)))
}

/// The text with a capital at its beginning.
pub(super) fn first_upper(text: &str) -> String {
    let mut text = text.chars();
    text.next().into_iter().flat_map(char::to_uppercase).chain(text).collect()
}
