//! `thalweg hunt`: a search for links that break a sender.

mod files;
mod hunter;
mod results;
mod shrink;

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use serde::{Deserialize, Serialize};
use thalweg_lab::hunt::{Evaluation, Plan, Search, Verdict, judge};
use thalweg_lab::trace_file::TraceFile;
use thalweg_units::{Seed, with_nearest};

use self::hunter::Hunter;
use super::setting::Setting;
use super::values;
use crate::contestant::Contestant;
use crate::play::{Effort, stopped};
use crate::progress::Progress;
use crate::{folder, interrupt};

/// Files in --out, beside a folder for each kind of failure.
const TRACE: &str = "trace.jsonl";
const PLAN: &str = "hunt.toml";
const RESULT: &str = "hunt.json";

/// Headings of the help.
const WHOM: &str = "Whom";
const RESULTS: &str = "Results";

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "Examples:
  thalweg hunt --scheme nada --evaluations 100
  thalweg hunt --contestant 'mine=./my-estimator' --against gcc,vidaptive --seed 2 -o hunted --fail-on found
  thalweg hunt hunted/hunt.toml -o hunted --resume
  thalweg hunt shrink hunted/003-rate-dead")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Hunt's file: whom to hunt, where and for how long, in place of the defaults (docs/hunt.md)
    file: Option<PathBuf>,
    /// Scheme to hunt (see `thalweg schemes`)
    #[arg(long, conflicts_with = "contestant", help_heading = WHOM)]
    scheme: Option<String>,
    /// External estimator to hunt, as NAME=COMMAND
    ///
    /// The command answers lines on its standard input (see docs/tutorials/estimator.md).
    #[arg(long, value_name = "NAME=COMMAND", help_heading = WHOM, value_parser = read_as::<Contestant>)]
    contestant: Option<String>,
    /// References, separated by commas: a failure is one beside the best of them (default: gcc)
    #[arg(long, value_delimiter = ',', value_name = "SCHEMES", help_heading = WHOM)]
    against: Vec<String>,
    /// Set a parameter of the hunted scheme, or of every scenario, by its path in run.toml; repeatable
    #[arg(long, value_name = "PARAMETER=VALUE", value_parser = read_as::<Setting>)]
    set: Vec<String>,
    /// Scenarios to try (default: 400)
    #[arg(long, value_name = "NUMBER", value_parser = values::evaluations)]
    evaluations: Option<usize>,
    /// Seed of the search (default: 1)
    #[arg(long, value_parser = values::seed)]
    seed: Option<Seed>,
    #[command(flatten)]
    effort: Effort,
    /// The folder for the trace and for a folder of each kind of failure
    ///
    /// Those of an earlier hunt in it move to earlier/1, earlier/2 and so on.
    #[arg(long, short, default_value = "hunt", value_name = "FOLDER")]
    out: PathBuf,
    /// Continue an interrupted hunt of the same options from its trace, with the same result as without a stop
    #[arg(long)]
    resume: bool,
    /// End with exit code 3 if anything was found
    #[arg(long, value_name = "WHAT", help_heading = RESULTS)]
    fail_on: Option<FailOn>,
    /// Print one JSON object instead of a table
    #[arg(long, help_heading = RESULTS)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Make the scenario of a failure that was found smaller
    #[command(after_help = "Examples:\n  thalweg hunt shrink hunted/003-rate-dead --evaluations 200")]
    Shrink(shrink::Arguments),
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum FailOn {
    /// Any kind of failure
    Found,
}

/// Something was found, and that is a failure: the program's exit code is 3.
#[derive(Debug)]
pub(crate) struct Failed(usize);

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "--fail-on found: {}", results::kinds(self.0))
    }
}

impl std::error::Error for Failed {}

/// A text that can be read as a `T`, which a plan keeps as it is.
fn read_as<T: std::str::FromStr<Err = String>>(text: &str) -> Result<String, String> {
    text.parse::<T>().map(|_| text.into())
}

/// The first line of a trace: all that the rest depends on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Header {
    made_by: String,
    plan: Plan,
    /// The sender under test as it describes itself, and its files.
    tested: String,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if let Some(Command::Shrink(arguments)) = &arguments.command {
        return shrink::run(arguments);
    }
    arguments.effort.begin();
    let hunter = Hunter::open(arguments.plan()?, &arguments.effort)?;
    let out = &arguments.out;
    let (before, known) = (files::found_in(out, arguments.resume)?, [TRACE, PLAN, RESULT].map(PathBuf::from));
    let header = hunter.header()?;
    let is_same = |known: &Header| *known == header;
    if arguments.resume {
        folder::hold(out)?;
        TraceFile::check(&out.join(TRACE), "hunt", is_same)?;
    }
    folder::prepare(out, &[&known[..], if arguments.resume { &before } else { &[] }].concat(), arguments.resume)?;
    interrupt::listen();
    if !arguments.resume {
        folder::write_whole(&out.join(PLAN), toml::to_string_pretty(hunter.plan())?.as_bytes())?;
    }
    let mut trace = TraceFile::open(&out.join(TRACE), arguments.resume)?;
    trace.begin("hunt", is_same, || anyhow::Ok(header.clone()))?;
    let search = searched(&hunter, &mut trace)?;
    let found = shrink::all(&hunter, &search, &mut trace)?;
    for failure in &found {
        files::write(&hunter, failure, &out.join(&failure.folder))?;
    }
    let folders: BTreeSet<PathBuf> = found.iter().map(|failure| failure.folder.clone()).chain(before).collect();
    folder::prepare(out, &known.into_iter().chain(folders).collect::<Vec<_>>(), true)?;
    let text = results::json(&hunter, &search, &found)?;
    folder::write_whole(&out.join(RESULT), text.as_bytes())?;
    if arguments.json {
        outln!("{text}");
    } else {
        results::print(&hunter, &search, &found, out);
    }
    match arguments.fail_on {
        Some(FailOn::Found) if !found.is_empty() => Err(Failed(found.len()).into()),
        _ => Ok(()),
    }
}

impl Arguments {
    /// The file's plan, or the default one, with what the command line says.
    fn plan(&self) -> anyhow::Result<Plan> {
        let mut plan = self.file.as_deref().map_or_else(|| Ok(Plan::default()), read)?;
        if self.scheme.is_some() || self.contestant.is_some() {
            (plan.scheme, plan.contestant) = (self.scheme.clone(), self.contestant.clone());
        }
        if !self.against.is_empty() {
            plan.against.clone_from(&self.against);
        }
        plan.set.extend(self.set.iter().filter(|set| !plan.set.contains(set)).cloned().collect::<Vec<_>>());
        plan.evaluations = self.evaluations.unwrap_or(plan.evaluations);
        plan.seed = self.seed.unwrap_or(plan.seed);
        plan.check()?;
        Ok(plan)
    }
}

fn read(path: &Path) -> anyhow::Result<Plan> {
    let shown = || path.display().to_string();
    let text = std::fs::read_to_string(path).with_context(shown)?;
    toml::from_str(&text).map_err(|error| anyhow!("{}: {}", shown(), with_nearest(&error.to_string())))
}

/// Searches to the end of the plan, from what the trace has.
fn searched<'a>(hunter: &'a Hunter<'_>, trace: &mut TraceFile) -> anyhow::Result<Search<'a>> {
    let plan = hunter.plan();
    let mut search = Search::new(plan);
    // About one scenario in two is worth a second seed.
    let runs = plan.evaluations * (1 + plan.against.len()) * 3 / 2;
    let progress = Progress::new(vec![plan.duration; runs].into_iter());
    loop {
        let next = search.next();
        let (Some((first, _)), Some((last, _))) = (next.first(), next.last()) else { return Ok(search) };
        let (first, last) = (*first, *last);
        let known: Vec<Evaluation> =
            (0..next.len()).map_while(|ahead| trace.known(ahead).transpose()).collect::<Result<_, _>>()?;
        let left: Vec<_> = next.iter().skip(known.len()).map(|(_, genes)| genes.clone()).collect();
        let played = hunter.played(&left, &progress).map_err(|error| stopped(error, first - 1, plan.evaluations))?;
        let is_new = !left.is_empty();
        let runs = known.into_iter().map(|known| known.runs).chain(played);
        for ((evaluation, genes), runs) in next.into_iter().zip(runs) {
            let verdict = judge(&runs, &plan.weights);
            let evaluation = Evaluation { evaluation, shrunk: None, genes, runs, verdict };
            trace.write(&evaluation)?;
            let words = plan.words(&evaluation.genes);
            let (number, worse) = (evaluation.evaluation, evaluation.worse());
            let kind = evaluation.verdict.as_ref().map_or(String::new(), Verdict::signature);
            if search.add(evaluation) && is_new {
                note!("evaluation {number}: {kind}, worse by {worse:.1}: {words}");
            }
        }
        if is_new {
            note!("{last} of {} evaluations: {}", plan.evaluations, results::kinds(search.kinds().len()));
        }
    }
}
