//! `thalweg tune`: a search for the parameters of a scheme.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use serde_json::json;
use thalweg_lab::metrics::{Better, Column};
use thalweg_lab::run_folder::RunFile;
use thalweg_lab::statistics::Against;
use thalweg_lab::trace_file::TraceFile;
use thalweg_lab::tune::{self, Compared, Evaluation, Header, Judgement, Objective, Plan, Run, Set};
use thalweg_lab::{Outcome, Scenario};
use thalweg_sender::{Registry, Scheme, SenderFactory};
use thalweg_units::{Seed, Span, with_nearest};

use super::setting::{Root, Setting, applied, unknown_in};
use crate::grid::Grid;
use crate::play::{self, Effort, Job, stopped};
use crate::{folder, interrupt, link};

/// Files in --out.
const TRACE: &str = "trace.jsonl";
/// Name of what a trace is of.
const TRACE_OF: &str = "tuning file";
const VERSION: &str = env!("CARGO_PKG_VERSION");
const BEST: &str = "best.toml";
const RESULT: &str = "tune.json";

#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg tune docs/tuning/thalweg.toml
  thalweg tune docs/tuning/thalweg.toml --runs 200 --resume --test
  thalweg tune docs/tuning/thalweg.toml --runs 0 --test --json")]
pub(crate) struct Arguments {
    /// Tuning file: parameters, links and objective (docs/tuning/README.md)
    file: PathBuf,
    /// Candidates to evaluate, the base among them (default: the file's number)
    ///
    /// 0 searches nothing: with --test the base is played over the test set.
    #[arg(long)]
    runs: Option<usize>,
    #[command(flatten)]
    effort: Effort,
    /// The folder for the trace, the best candidate and the result
    ///
    /// Those of an earlier command in it move to earlier/1, earlier/2 and so on.
    #[arg(long, short, default_value = "out", value_name = "FOLDER")]
    out: PathBuf,
    /// Continue an interrupted search of the same file from its trace, with the same result as without a stop
    #[arg(long)]
    resume: bool,
    /// At the end, play the best candidate over the test set
    #[arg(long)]
    test: bool,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    arguments.effort.begin();
    let tuner = Tuner::open(&arguments.file, &arguments.effort)?;
    let runs = arguments.runs.unwrap_or(tuner.plan.runs);
    if runs == 0 && !arguments.test {
        bail!("--runs 0 searches nothing and there is no --test: give --runs 1 or more, or --test");
    }
    let out = &arguments.out;
    if arguments.resume && runs > 0 {
        folder::hold(out)?;
        TraceFile::check(&out.join(TRACE), TRACE_OF, |header| tuner.has_made(header))?;
    }
    folder::prepare(out, &[TRACE, BEST, RESULT].map(PathBuf::from), arguments.resume)?;
    interrupt::listen();
    let tuning = if runs > 0 { Some(tuner.tune(out, runs, arguments.resume)?) } else { None };
    let best = tuning.as_ref().map(|tuned| tuned.best().clone());
    let scheme = match &best {
        Some(best) => tuner.candidate(&best.parameters)?,
        None => tuner.base.clone(),
    };
    let test = if arguments.test { Some(tuner.judged(&tuner.plan.test, &scheme)?) } else { None };
    let result = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "name": tuner.plan.name,
        "reference": tuner.plan.reference,
        "evaluations": tuning.as_ref().map_or(0, |tuned| tuned.evaluations.len()),
        "best": best,
        "scheme": scheme,
        "test": test,
    });
    let text = serde_json::to_string_pretty(&result)?;
    std::fs::create_dir_all(out).with_context(|| out.display().to_string())?;
    folder::write_whole(&out.join(RESULT), text.as_bytes())?;
    if arguments.json {
        outln!("{text}");
        return Ok(());
    }
    if let (Some(tuned), Some(best)) = (&tuning, &best) {
        tuner.print_best(tuned, best);
        outln!("\n{}: {}\n", out.join(BEST).display(), "`thalweg run` plays it");
        tuner.print("tuning set", &tuner.plan.tuning, &best.judgement);
    }
    if let Some(test) = &test {
        tuner.print("test set", &tuner.plan.test, test);
    }
    Ok(())
}

/// A tuning file with what it names.
struct Tuner<'a> {
    plan: Plan,
    /// SHA-256 of the file.
    hash: String,
    base: Scheme,
    /// The parameters of the base.
    begin: Vec<f64>,
    reference: Arc<dyn SenderFactory>,
    effort: &'a Effort,
}

/// A search that ended.
struct Tuned {
    evaluations: Vec<Evaluation>,
}

impl Tuned {
    /// The first of those with the highest score.
    fn best(&self) -> &Evaluation {
        let better = |best, next| if score(next) > score(best) { next } else { best };
        self.evaluations.iter().reduce(better).expect("a search evaluates its base")
    }
}

fn score(evaluation: &Evaluation) -> f64 {
    evaluation.judgement.score
}

impl<'a> Tuner<'a> {
    fn open(path: &Path, effort: &'a Effort) -> anyhow::Result<Tuner<'a>> {
        let shown = || path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(shown)?;
        let plan: Plan =
            toml::from_str(&text).map_err(|error| anyhow!("{}: {}", shown(), with_nearest(&error.to_string())))?;
        plan.check().with_context(shown)?;
        let registry = Registry::new();
        let reference = play::schemes(&registry, std::slice::from_ref(&plan.reference))?.remove(0);
        let base = base(&plan, &registry).with_context(shown)?;
        let begin = plan.parameters.iter().map(|parameter| {
            let setting = Setting::new(Root::Scheme, &parameter.path, toml::Value::Boolean(false));
            let value = setting.current(&base)?.ok_or_else(|| unknown_in(&setting, &base))?;
            let number = number(&value, &parameter.unit).with_context(|| {
                format!(
                    "parameter {}: the base has {value}: expected a number of unit '{}'",
                    parameter.path, parameter.unit
                )
            })?;
            parameter.place(number)?;
            Ok(number)
        });
        let begin = begin.collect::<anyhow::Result<_>>().with_context(shown)?;
        let tuner = Tuner { hash: thalweg_data::sha256(path)?, base, begin, reference, effort, plan };
        // Both ends of every range, and every link: now, instead of after an hour.
        for parameter in &tuner.plan.parameters {
            for value in [parameter.low, parameter.high] {
                tuner.candidate(&BTreeMap::from([(parameter.path.clone(), value)])).with_context(shown)?;
            }
        }
        for set in [&tuner.plan.tuning, &tuner.plan.test] {
            tuner.scenarios(set).with_context(shown)?;
            for name in &set.links {
                link::find(name, set.duration, Seed::new(1)).with_context(shown)?;
            }
        }
        Ok(tuner)
    }

    /// The base with these parameters.
    fn candidate(&self, parameters: &BTreeMap<String, f64>) -> anyhow::Result<Scheme> {
        let set = parameters.iter().filter_map(|(path, value)| {
            let parameter = self.plan.parameters.iter().find(|parameter| parameter.path == *path)?;
            Some((path, parameter.toml(*value)))
        });
        changed(&self.base, set)
    }

    /// A scenario for each link and seed of a set.
    fn scenarios(&self, set: &Set) -> anyhow::Result<Vec<Scenario>> {
        let each = set.links.iter().flat_map(|link| set.seeds.iter().map(move |seed| (link, *seed)));
        let scenarios = each.map(|(link, seed)| {
            let mut scenario = [Scenario { duration: set.duration, seed, ..Scenario::over(link) }];
            for (path, value) in &self.plan.scenario {
                applied(&Setting::new(Root::Scenario, path, value.clone()), &mut scenario, &mut [])?;
            }
            let [scenario] = scenario;
            Ok(scenario)
        });
        scenarios.collect()
    }

    /// The runs of schemes over a set, one list each.
    fn played<const N: usize>(&self, set: &Set, schemes: [Arc<dyn SenderFactory>; N]) -> anyhow::Result<[Vec<Run>; N]> {
        let scenarios = self.scenarios(set)?;
        let columns = self.plan.objective.columns();
        let job = |scheme: &Arc<dyn SenderFactory>, scenario: &Scenario| Job {
            scenario: scenario.clone(),
            scheme: scheme.clone(),
            folder: PathBuf::new(),
            is_written: false,
        };
        let jobs: Vec<Job> =
            schemes.iter().flat_map(|scheme| scenarios.iter().map(move |of| job(scheme, of))).collect();
        let (runs, interrupted) = play::all_seen(&jobs, self.effort, &|job, outcome| figures(&columns, job, &outcome))?;
        interrupted.map_or(Ok(()), |interrupted| Err(anyhow!(interrupted)))?;
        let mut runs = runs.into_iter();
        Ok(std::array::from_fn(|_| runs.by_ref().take(scenarios.len()).collect()))
    }

    /// A scheme over a set against the reference.
    fn judged(&self, set: &Set, scheme: &Scheme) -> anyhow::Result<Judgement> {
        let [ours, theirs] = self.played(set, [Arc::new(scheme.clone()), self.reference.clone()])?;
        Ok(self.plan.objective.judge(&ours, &theirs)?)
    }

    /// Returns true if a trace with this header is of the same file and program.
    fn has_made(&self, header: &Header) -> bool {
        header.file == self.hash && header.version == VERSION
    }

    /// Searches until there are `runs` evaluations, those of the trace among them.
    fn tune(&self, out: &Path, runs: usize, resume: bool) -> anyhow::Result<Tuned> {
        let mut trace = TraceFile::open(&out.join(TRACE), resume)?;
        let header = trace.begin(
            TRACE_OF,
            |header| self.has_made(header),
            || {
                let [runs] = self
                    .played(&self.plan.tuning, [self.reference.clone()])
                    .map_err(|error| stopped(error, 0, runs))?;
                let reference = self.reference.name().to_string();
                anyhow::Ok(Header { version: VERSION.into(), file: self.hash.clone(), reference, runs })
            },
        )?;
        let mut evaluations: Vec<Evaluation> = Vec::new();
        let place = |(parameter, value): (&tune::Parameter, &f64)| parameter.place(*value);
        let begin: Vec<f64> = self.plan.parameters.iter().zip(&self.begin).map(place).collect::<Result<_, _>>()?;
        tune::search(&self.plan.parameters, &begin, self.plan.starts(), runs, |values| {
            let number = evaluations.len() + 1;
            let paths = self.plan.parameters.iter().map(|parameter| parameter.path.clone());
            let parameters: BTreeMap<String, f64> = paths.zip(values.iter().copied()).collect();
            let known = trace.known::<Evaluation>(0)?;
            let is_new = known.is_none();
            let played = match known {
                Some(known) => known.runs,
                None => {
                    let scheme = self.candidate(&parameters)?;
                    let [played] = self
                        .played(&self.plan.tuning, [Arc::new(scheme)])
                        .map_err(|error| stopped(error, evaluations.len(), runs))?;
                    played
                }
            };
            let judgement = self.plan.objective.judge(&played, &header.runs)?;
            let evaluation = Evaluation { evaluation: number, parameters, judgement, runs: played };
            trace.write(&evaluation)?;
            let score = score(&evaluation);
            if is_new {
                let best = evaluations.iter().map(self::score).fold(score, f64::max);
                let words = self.words(&evaluation.parameters);
                note!("evaluation {number} of {runs}: score {score:.3}, best {best:.3}; {words}");
            }
            evaluations.push(evaluation);
            anyhow::Ok(score)
        })?;
        let tuned = Tuned { evaluations };
        self.write_best(&out.join(BEST), tuned.best())?;
        Ok(tuned)
    }

    /// The best candidate as a run.toml: its scheme, with a scenario that it was tuned in.
    fn write_best(&self, path: &Path, best: &Evaluation) -> anyhow::Result<()> {
        let scenario = self.scenarios(&self.plan.tuning)?.remove(0);
        let scheme = self.candidate(&best.parameters)?;
        let file = RunFile { version: env!("CARGO_PKG_VERSION").into(), inputs: Vec::new(), scenario, scheme };
        folder::write_whole(path, toml::to_string_pretty(&file)?.as_bytes())
    }

    /// Parameters with their units.
    fn words(&self, parameters: &BTreeMap<String, f64>) -> String {
        let each = self.plan.parameters.iter().filter_map(|parameter| {
            Some(format!("{} = {}{}", parameter.path, parameters.get(&parameter.path)?, parameter.unit))
        });
        each.collect::<Vec<_>>().join(", ")
    }

    fn print_best(&self, tuned: &Tuned, best: &Evaluation) {
        let (number, all) = (best.evaluation, tuned.evaluations.len());
        let base = tuned.evaluations.first().map_or(0.0, score);
        outln!("best: evaluation {number} of {all}, score {:.3} (base {base:.3})", score(best));
        for parameter in &self.plan.parameters {
            if let Some(value) = best.parameters.get(&parameter.path) {
                outln!("  {} = {value}{}", parameter.path, parameter.unit);
            }
        }
    }

    /// A table of each link, and the bars.
    fn print(&self, title: &str, set: &Set, judgement: &Judgement) {
        let Set { duration, seeds, .. } = set;
        let reference = &self.plan.reference;
        outln!("{title} against {reference}, {duration} each, {} seeds: ratios (x) and differences", seeds.len());
        let objective = &self.plan.objective;
        let columns = objective.columns();
        let heads = columns.iter().map(|column| column.head().join("\n")).chain(["bars\nheld".into()]);
        let mut grid = Grid::new(&["link"], heads);
        let cells = |against: &BTreeMap<String, Compared>, runs: usize| -> Vec<String> {
            let found = |column: &&Column| Some(text(column, *against.get(column.key)?, runs));
            columns.iter().map(|column| found(column).unwrap_or_else(|| "-".into())).collect()
        };
        for link in &judgement.links {
            let held = if link.missed.is_empty() { "all".into() } else { format!("all but {}", link.missed.len()) };
            grid.row(&[&link.link], cells(&link.against, seeds.len()).into_iter().chain([held]));
        }
        let share = format!("{:.0}%", judgement.links_held * 100.0);
        grid.row(&["all (geometric means)"], cells(&judgement.against, usize::MAX).into_iter().chain([share]));
        let (wins, losses) = tallies(objective, judgement);
        grid.row(&["links won"], wins.into_iter().chain([String::new()]));
        grid.row(&["links lost"], losses.into_iter().chain([String::new()]));
        outln!("{}", grid.text(WIDTH, false));
        match &judgement.missed[..] {
            [] => outln!("every bar holds"),
            missed => outln!("missed: {}", missed.join("; ")),
        }
        if judgement.lost > 0 {
            outln!("{} figures of the reference have none beside them: nothing was shown", judgement.lost);
        }
    }
}

/// The width of tables.
const WIDTH: usize = 160;

/// On how many links each figure is better and worse than the reference's.
fn tallies(objective: &Objective, judgement: &Judgement) -> (Vec<String>, Vec<String>) {
    let tally = |column: &&Column| {
        let unchanged = column.against().unchanged();
        let means = || judgement.links.iter().filter_map(|link| Some(link.against.get(column.key)?.mean));
        let (above, below) = (means().filter(|mean| *mean > unchanged), means().filter(|mean| *mean < unchanged));
        let (above, below) = (above.count().to_string(), below.count().to_string());
        if column.better() == Some(Better::Lower) { (below, above) } else { (above, below) }
    };
    objective.columns().iter().map(tally).unzip()
}

/// The fewest runs whose interval says more than that they are few: Student's t of one degree of freedom is 12.7.
const FEWEST: usize = 3;

/// A comparison of so many runs, with its interval.
fn text(column: &Column, found: Compared, runs: usize) -> String {
    let (mark, form): (_, fn(f64) -> String) = match column.against() {
        Against::Ratio => ("x", |value| format!("{value:.2}")),
        Against::Difference => ("", |value| format!("{value:+.2}")),
    };
    let mean = form(found.mean);
    found
        .interval
        .filter(|_| runs >= FEWEST)
        .map_or(format!("{mark}{mean}"), |(low, high)| format!("{mark}{mean} {}..{}", form(low), form(high)))
}

/// The base scheme with its settings, under the name of the result.
fn base(plan: &Plan, registry: &Registry) -> anyhow::Result<Scheme> {
    let mut scheme = match &plan.base.scheme {
        toml::Value::String(name) => {
            let found = play::schemes(registry, std::slice::from_ref(name))?.remove(0);
            found.as_scheme().with_context(|| format!("base: {name} has no parameters"))?.clone()
        }
        table => {
            table.clone().try_into().context("base: scheme must be a name or a scheme's table as in a run.toml")?
        }
    };
    scheme.name.clone_from(&plan.name);
    changed(&scheme, plan.base.set.iter().map(|(path, value)| (path, value.clone())))
}

/// A scheme with other parameters.
fn changed<'a>(scheme: &Scheme, set: impl Iterator<Item = (&'a String, toml::Value)>) -> anyhow::Result<Scheme> {
    let mut schemes: [Arc<dyn SenderFactory>; 1] = [Arc::new(scheme.clone())];
    for (path, value) in set {
        applied(&Setting::new(Root::Scheme, path, value), &mut [], &mut schemes)?;
    }
    let [changed] = &schemes;
    Ok(changed.as_scheme().unwrap_or(scheme).clone())
}

/// The number of a value in a scheme's TOML: itself, or a quantity in this unit.
fn number(value: &toml::Value, unit: &str) -> Option<f64> {
    match value {
        toml::Value::Integer(number) => Some(*number as f64),
        toml::Value::Float(number) => Some(*number),
        toml::Value::String(text) => match text.strip_suffix(unit).map(|number| number.trim().parse::<f64>()) {
            Some(Ok(number)) => Some(number),
            // 1.5s in ms.
            _ => {
                let (value, unit): (Span, Span) = (text.parse().ok()?, format!("1{unit}").parse().ok()?);
                Some(value.as_secs_f64() / unit.as_secs_f64())
            }
        },
        _ => None,
    }
}

/// Figures that are kept of a run.
fn figures(columns: &[&Column], job: &Job, outcome: &Outcome) -> Run {
    let of = |column: &&Column| Some((column.key.to_string(), (column.value)(&outcome.summary)?));
    Run {
        link: job.scenario.name.clone(),
        seed: job.scenario.seed.get(),
        figures: columns.iter().filter_map(of).collect(),
    }
}
