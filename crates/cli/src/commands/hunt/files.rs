//! Files of a hunt's folder: a folder for each kind of failure.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::Value;
use thalweg_lab::hunt::{Played, case};
use thalweg_units::Seed;

use super::hunter::Hunter;
use super::results::Failure;
use super::{PLAN, TRACE};
use crate::folder::{self, quoted};
use crate::grid::Grid;

/// All that is known of a failure.
pub(super) const FOUND: &str = "found.json";

/// The failures that an earlier hunt has left in a folder.
///
/// # Errors
/// When there is something in it, and it is no hunt's; or it has none that `resume` could go on with.
pub(super) fn found_in(out: &Path, resume: bool) -> anyhow::Result<Vec<PathBuf>> {
    if resume && !out.join(TRACE).is_file() {
        bail!("{}: there is no trace to go on with; begin without --resume", out.display());
    }
    let Ok(entries) = fs::read_dir(out) else { return Ok(Vec::new()) };
    let names: Vec<PathBuf> = entries.filter_map(|entry| Some(PathBuf::from(entry.ok()?.file_name()))).collect();
    let is_something = names.iter().any(|name| !name.to_string_lossy().starts_with('.'));
    if is_something && !out.join(PLAN).is_file() {
        bail!("{}: has files that no hunt has left: give another folder with --out", out.display());
    }
    let mut found: Vec<PathBuf> = names.into_iter().filter(|name| out.join(name).join(FOUND).is_file()).collect();
    found.sort();
    Ok(found)
}

/// Reads a failure's folder.
pub(super) fn read(at: &Path) -> anyhow::Result<Failure> {
    let path = at.join(FOUND);
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    serde_json::from_str(&text).with_context(|| path.display().to_string())
}

/// Writes a failure into its folder.
pub(super) fn write(hunter: &Hunter<'_>, failure: &Failure, at: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(at).with_context(|| at.display().to_string())?;
    let Failure { smallest, found_at, .. } = failure;
    let scenario = hunter.scenario(&smallest.genes, hunter.first_seed())?;
    let id = format!("hunt-{}-{}", hunter.name(), failure.folder.display());
    let seed = hunter.plan().seed;
    let source = format!("contestant = {:?}, seed = {seed}, evaluation = {found_at}", hunter.name());
    let (settled_s, verdict) = (hunter.plan().settled_s(&smallest.genes), smallest.verdict.as_ref());
    let verdict = verdict.context("a failure is judged")?;
    for (name, text) in [
        ("scenario.toml", toml::to_string_pretty(&scenario)?),
        ("case.toml", case(&id, &source, &scenario, settled_s, &smallest.runs, verdict)?),
        ("why.md", page(hunter, failure)?),
        ("play.sh", script(hunter)),
        (FOUND, serde_json::to_string_pretty(failure)?),
    ] {
        folder::write_whole(&at.join(name), text.as_bytes())?;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let path = at.join("play.sh");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// The two sentences, and the figures of the runs with each seed.
fn page(hunter: &Hunter<'_>, failure: &Failure) -> anyhow::Result<String> {
    let Failure { kind, scenario, why, smallest, worse, found_at, .. } = failure;
    let (tested, references) = (hunter.name(), &hunter.plan().against);
    let seed = hunter.plan().seed;
    let mut page = format!(
        "# {tested}: {kind}\n\n{scenario}\n\nFound by evaluation {found_at} of seed {seed}; worse by up to {worse:.1}.\n\n\
         {}\n\n* `{tested}`: {}\n* `{}`: {}\n",
        why.moment, why.tested, references[0], why.reference
    );
    for Played { seed, tested: ours, references: theirs } in &smallest.runs {
        let names = std::iter::once(tested).chain(references.iter().map(String::as_str));
        // A bound that is not defined here has no column.
        let mut grid = Grid::new(&[&format!("seed {seed}")], names.take(1 + theirs.len()).map(String::from));
        let all: Vec<Value> =
            std::iter::once(ours).chain(theirs).map(serde_json::to_value).collect::<Result<_, _>>()?;
        for key in all[0].as_object().into_iter().flat_map(|ours| ours.keys()) {
            let text = |value: &Value| value[key].as_str().map_or_else(|| value[key].to_string(), String::from);
            grid.row(&[key], all.iter().map(text));
        }
        page += &format!("\n{}", grid.markdown());
    }
    Ok(page)
}

/// A command that plays the scenario: from the folder in which the hunt was started, if it names files.
fn script(hunter: &Hunter<'_>) -> String {
    let plan = hunter.plan();
    let schemes: Vec<&str> = std::iter::once(hunter.name()).chain(plan.against.iter().map(String::as_str)).collect();
    let mut words =
        vec![format!("thalweg run \"$(dirname \"$0\")/scenario.toml\" --scheme {}", quoted(&schemes.join(",")))];
    words.extend(plan.contestant.iter().map(|contestant| format!("--contestant {}", quoted(contestant))));
    words.extend(hunter.of_scheme().map(|set| format!("--set {}", quoted(set))));
    let seeds: Vec<String> = plan.seeds.iter().map(|seed: &Seed| seed.get().to_string()).collect();
    words.push(format!("--seed {} -o \"$(dirname \"$0\")/out\" \"$@\"", seeds.join(",")));
    format!("#!/bin/sh\nexec {}\n", words.join(" \\\n  "))
}
