//! The smallest scenario of each kind of failure, and `thalweg hunt shrink`.

use std::path::PathBuf;

use anyhow::{Context, bail};
use thalweg_lab::hunt::{Evaluation, KEPT, Search, judge, shrunk};
use thalweg_lab::trace_file::TraceFile;

use super::hunter::Hunter;
use super::results::{self, Failure};
use super::{PLAN, TRACE, files, read, values};
use crate::play::{Effort, stopped};
use crate::progress::Progress;
use crate::{folder, interrupt};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Folder of a failure, in that of its hunt
    folder: PathBuf,
    /// Scenarios to try
    #[arg(long, value_name = "NUMBER", default_value = "200", value_parser = values::evaluations)]
    evaluations: usize,
    #[command(flatten)]
    effort: Effort,
}

/// Goes on with a failure that a hunt has left.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    arguments.effort.begin();
    let at = &arguments.folder;
    let Some(hunt) = at.parent().filter(|_| at.join(files::FOUND).is_file()) else {
        bail!("{}: no failure that a hunt has left: it has no {}", at.display(), files::FOUND);
    };
    let known = files::read(at)?;
    let plan = hunt.join(PLAN);
    if !plan.is_file() {
        bail!("{}: no failure in the folder of its hunt: {} is missing", at.display(), plan.display());
    }
    let hunter = Hunter::open(read(&plan)?, &arguments.effort).with_context(|| plan.display().to_string())?;
    folder::hold(at)?;
    interrupt::listen();
    let mut trace = TraceFile::open(&at.join(TRACE), false)?;
    let (smallest, tried) = smallest(&hunter, &known.smallest, arguments.evaluations, &mut trace)?;
    let failure = Failure::new(&hunter, &known.kind, (known.found_at, known.worse), smallest, known.tried + tried)?;
    files::write(&hunter, &failure, at)?;
    results::print_each(std::slice::from_ref(&failure), hunt);
    Ok(())
}

/// Makes the scenario of each kind smaller, in the order in which they were found.
pub(super) fn all(hunter: &Hunter<'_>, search: &Search<'_>, trace: &mut TraceFile) -> anyhow::Result<Vec<Failure>> {
    let mut kinds: Vec<_> = search.kinds().iter().collect();
    kinds.sort_by_key(|(_, kind)| kind.first);
    let count = kinds.len();
    let each = kinds.into_iter().enumerate().map(|(place, (signature, kind))| {
        let of = |number| search.at(number).with_context(|| format!("no evaluation {number}"));
        let (smallest, tried) = smallest(hunter, of(kind.shortest)?, hunter.plan().shrink, trace)?;
        note!("{} of {count} kinds made smaller: {signature}, {tried} scenarios tried", place + 1);
        Failure::new(hunter, signature, (kind.first, of(kind.worst)?.worse()), smallest, tried)
    });
    let (played, each) = (search.played().len(), each.collect::<anyhow::Result<_>>());
    each.map_err(|error| stopped(error, played, played))
}

/// The smallest scenario of the same kind, and how many were tried for it.
fn smallest(
    hunter: &Hunter<'_>,
    first: &Evaluation,
    budget: usize,
    trace: &mut TraceFile,
) -> anyhow::Result<(Evaluation, usize)> {
    let plan = hunter.plan();
    let kind = |evaluation: &Evaluation| evaluation.kind(KEPT, plan.seeds.len());
    let progress = Progress::new(vec![plan.duration; budget * (1 + plan.against.len()) * plan.seeds.len()].into_iter());
    let (mut best, mut tried) = (first.clone(), 0);
    shrunk(plan, &first.genes, |genes| {
        if tried == budget {
            return anyhow::Ok(false);
        }
        tried += 1;
        let runs = match trace.known::<Evaluation>(0)? {
            Some(known) => known.runs,
            None => hunter.played(std::slice::from_ref(genes), &progress)?.remove(0),
        };
        let (genes, verdict) = (genes.clone(), judge(&runs, &plan.weights));
        let evaluation = Evaluation { evaluation: first.evaluation, shrunk: Some(tried), genes, runs, verdict };
        trace.write(&evaluation)?;
        let is_same = kind(&evaluation) == kind(first);
        if is_same {
            best = evaluation;
        }
        Ok(is_same)
    })?;
    Ok((best, tried))
}
