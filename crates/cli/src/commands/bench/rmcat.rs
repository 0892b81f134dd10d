//! `thalweg bench rmcat`: RFC 8867's cases, judged.

use std::path::PathBuf;
use std::sync::Mutex;

use anyhow::{Context, bail};
use thalweg_codecs::traffic::TrafficModel;
use thalweg_netsim::traffic::tcp::Congestion;
use thalweg_rmcat::{
    Bench, Case, Contestant, Expectations, Judged, Options, Outcome, Verdict, all, find, json, junit, page,
};
use thalweg_sender::Scheme;
use thalweg_sender::scheme::UnknownScheme;
use thalweg_units::{Seed, Span};

use crate::commands::seeds::Seeds;
use crate::commands::values;
use crate::grid::Grid;
use crate::keeping::{self, Keeping};
use crate::play::{Effort, Interrupted};
use crate::progress::{self, Progress};
use crate::suggest::Unknown;
use crate::{folder, interrupt};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  thalweg bench rmcat
  thalweg bench rmcat --case 5.1,5.4 --scheme gcc,nada --runs 3
  thalweg bench rmcat --case wired --scheme gcc --expect verdicts.txt --junit rmcat.xml
  thalweg bench rmcat --list

Verdicts, and their marks in the table:
  pass  .
  weak  ~  what should hold does not
  open  ?  the seeds do not decide
  fail  X  what must hold does not
docs/bench says where each bound comes from.")]
pub(crate) struct Arguments {
    /// Cases, separated by commas: ids such as 5.1, the begin of ids as in 'gcc.*', wired, webrtc, or all
    #[arg(long, value_delimiter = ',', default_value = "wired", value_name = "CASES")]
    case: Vec<String>,
    /// Schemes, separated by commas (see `thalweg schemes`)
    #[arg(long, value_delimiter = ',', default_value = "gcc,nada,scream,copa,bbr,camel,vidaptive")]
    scheme: Vec<String>,
    /// External estimator as NAME=COMMAND, a process that answers lines on its standard input; repeatable
    ///
    /// See docs/tutorials/estimator.md for the protocol.
    #[arg(long, value_name = "NAME=COMMAND")]
    contestant: Vec<crate::contestant::Contestant>,
    /// List the cases, with the subject of each
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    seeds: Seeds,
    #[command(flatten)]
    effort: Effort,
    /// Print everything as JSON
    #[arg(long, help_heading = RESULTS)]
    json: bool,
    /// Print the table in Markdown
    #[arg(long, conflicts_with = "json", help_heading = RESULTS)]
    markdown: bool,
    /// Write the verdicts as JUnit's XML, which continuous integration shows
    #[arg(long, value_name = "FILE", help_heading = RESULTS)]
    junit: Option<PathBuf>,
    /// Fail unless the verdicts match a file of lines such as `5.1 = pass` (see docs/bench)
    #[arg(long, value_name = "FILE", help_heading = RESULTS)]
    expect: Option<PathBuf>,
    /// The folder for the page (rmcat.html) and for rmcat.json
    #[arg(long, short, value_name = "FOLDER", help_heading = RESULTS)]
    out: Option<PathBuf>,
    #[command(flatten)]
    varied: Varied,
    #[command(flatten)]
    keeping: Keeping,
}

/// A heading of the help.
const RESULTS: &str = "Results";

/// Variations of RFC 8867's cases.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Variations")]
struct Varied {
    /// One-way propagation delay of every flow (default: the case's own)
    #[arg(long, value_parser = values::delay)]
    delay: Option<Span>,
    /// Queue limit as time at the present rate (default: the case's own, mostly 300ms)
    #[arg(long, value_parser = values::delay)]
    queue: Option<Span>,
    /// Standard deviation of the jitter, cut off at three deviations
    #[arg(long, value_parser = values::delay, default_value = "5ms")]
    jitter: Span,
    /// Probability of random loss on the forward path
    #[arg(long, value_parser = values::share, default_value = "0")]
    loss: f64,
    /// Traffic model that gives the sizes of frames (see docs/bench)
    #[arg(long, default_value = "fixfps")]
    media: TrafficModel,
    /// Feedback format of every receiver: own (each scheme's), twcc, ccfb, ccfb-100ms, per-packet
    #[arg(long, default_value = "own", value_parser = values::feedback, value_name = "FEEDBACK")]
    feedback: values::Feedback,
    /// Congestion control of TCP: reno or cubic (default: the case's own, mostly reno)
    #[arg(long, value_parser = congestion)]
    tcp: Option<Congestion>,
}

fn congestion(text: &str) -> Result<Congestion, String> {
    match text {
        "reno" => Ok(Congestion::Reno),
        "cubic" => Ok(Congestion::Cubic),
        _ => Err(format!("unknown congestion control '{text}': expected reno or cubic")),
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if arguments.list {
        return list();
    }
    arguments.effort.begin();
    let mut cases: Vec<Case> = Vec::new();
    for pattern in &arguments.case {
        let every = all();
        let known = every.iter().map(|case| case.id.as_str());
        let found = find(pattern).map_err(|_| Unknown::new("case", pattern, known, "`thalweg bench rmcat --list`"))?;
        cases.extend(
            found.into_iter().filter(|case| !cases.iter().any(|known| known.id == case.id)).collect::<Vec<_>>(),
        );
    }
    let schemes =
        arguments.scheme.iter().map(|name| name.trim().parse()).collect::<Result<Vec<Scheme>, UnknownScheme>>()?;
    let expected = arguments.expect.as_deref().map(|path| {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        Expectations::read(&text).with_context(|| path.display().to_string())
    });
    let expected = expected.transpose()?;
    let ten: Vec<u64> = (1..=10).collect();
    let seeds: Vec<u64> = match arguments.seeds.is_given() {
        true => arguments.seeds.list(Seed::new(1))?.into_iter().map(Seed::get).collect(),
        false => ten,
    };
    if let Some(out) = &arguments.out {
        std::fs::create_dir_all(out).with_context(|| out.display().to_string())?;
    }
    let Varied { delay, queue, jitter, loss, media, feedback, tcp } = &arguments.varied;
    let options = Options {
        one_way: *delay,
        queue: *queue,
        jitter: *jitter,
        loss: *loss,
        media: media.clone(),
        feedback: feedback.0,
        tcp: *tcp,
    };
    let others = arguments.contestant.iter().map(|contestant| contestant.factory());
    let others = others.collect::<anyhow::Result<Vec<_>>>()?;
    let ours = schemes.iter().map(|scheme| scheme as &dyn Contestant);
    let contestants: Vec<&dyn Contestant> = ours.chain(others.iter().map(|other| other as &dyn Contestant)).collect();
    let mut known = std::collections::BTreeSet::new();
    if let Some(twice) = contestants.iter().find(|one| !known.insert(one.name().to_string())) {
        anyhow::bail!("two contestants are named {}: give one another name", twice.name());
    }
    let bench = Bench { cases, contestants, seeds, options };
    if let Some(kept) = arguments.keeping.planned()? {
        return keeping::plan(&kept, "bench", bench.left(&kept).map_err(anyhow::Error::msg)?);
    }
    let (outcomes, interrupted) = played(&bench, &arguments.effort, &arguments.keeping)?;
    if let Some(interrupted) = &interrupted {
        if outcomes.is_empty() {
            bail!(interrupted.clone());
        }
        let all = bench.cases.len() * bench.contestants.len();
        eprintln!("partial: {} of {all} outcomes", outcomes.len());
    }
    let about = page::About { command: folder::command_line(), seeds: bench.seeds.len() };
    if let Some(out) = &arguments.out {
        write(&out.join("rmcat.html"), &page::page(&outcomes, &about))?;
        write(&out.join("rmcat.json"), &format!("{:#}\n", json(&outcomes)))?;
        note!("wrote {} and rmcat.json", out.join("rmcat.html").display());
    }
    if let Some(path) = &arguments.junit {
        write(path, &junit(&outcomes))?;
    }
    match (arguments.json, arguments.markdown) {
        (true, _) => out!("{:#}\n", json(&outcomes)),
        (_, true) => out!("{}", grid(&outcomes).markdown()),
        _ => out!("{}{LEGEND}", grid(&outcomes).text(progress::width_of_output(), progress::bold())),
    }
    match (interrupted, expected) {
        (Some(interrupted), _) => Err(interrupted.into()),
        (None, Some(expected)) => Ok(expected.check(&outcomes)?),
        (None, None) => Ok(()),
    }
}

/// Lines below the table.
const LEGEND: &str = "
. pass, ~ weak (what should hold does not), ? open (the seeds do not decide), X fail (what must hold does not); value±half its 95 %
interval. What decided: figure, flow (f0 the first) and second from which it counts; value > bound, >? where the interval holds both.
";

fn list() -> anyhow::Result<()> {
    for case in all() {
        out!("{:<12} {:>5}  {}\n", case.id, case.duration.to_string(), case.title);
    }
    Ok(())
}

/// The outcomes, and the interruption if they are not all.
fn played(
    bench: &Bench<'_>,
    effort: &Effort,
    keeping: &Keeping,
) -> anyhow::Result<(Vec<Outcome>, Option<Interrupted>)> {
    interrupt::listen();
    let kept = keeping.open()?;
    let runs = bench.contestants.len() * bench.seeds.len();
    let durations: Vec<Span> = bench.cases.iter().flat_map(|case| std::iter::repeat_n(case.duration, runs)).collect();
    let jobs = durations.len();
    let progress = Mutex::new((Progress::new(durations.into_iter()), 0));
    let (outcomes, is_whole) = bench.run_kept(effort.threads(jobs), kept.as_ref(), &|case, contestant| {
        if let Ok(mut progress) = progress.lock() {
            progress.0.begin(format!("{} {contestant}", case.id), case.duration).finish();
            progress.1 += 1;
        }
        !interrupt::requested()
    })?;
    let played = progress.lock().map_or(0, |progress| progress.1);
    let interrupted = if kept.is_some() { Interrupted::until_again } else { Interrupted::for_want_of_a_folder };
    Ok((outcomes, (!is_whole).then(|| interrupted(played, jobs))))
}

fn write(path: &std::path::Path, text: &str) -> anyhow::Result<()> {
    std::fs::write(path, text).with_context(|| path.display().to_string())
}

/// The columns of the table: what they show and the bars that count for them.
const COLUMNS: [(&str, &[&str]); 7] = [
    ("rise\ns", &["rise"]),
    ("fall\ns", &["fall"]),
    ("use", &["use", "use_all", "use_link", "use_run"]),
    ("q95\nms", &["q95", "q95_ref"]),
    ("loss\n%", &["loss", "loss_fall", "report_loss"]),
    ("fairness", &["ratio", "jain", "rtt_slope", "weight_ratio"]),
    ("rate", &["rate", "rate_all", "rate_ref", "tcp", "target", "target_min", "target_max"]),
];

/// Table of outcomes. The deciding bar comes first, for most readers look for it; figures that no case has are left
/// out.
fn grid(outcomes: &[Outcome]) -> Grid {
    let columns: Vec<&(&str, &[&str])> = COLUMNS
        .iter()
        .filter(|(_, figures)| outcomes.iter().any(|outcome| outcome.worst_of(figures).is_some()))
        .collect();
    let heads = columns.iter().map(|(head, _)| (*head).to_string());
    let mut grid = Grid::new(&["case", "scheme", "verdict"], std::iter::once("what decided".to_string()).chain(heads));
    for outcome in outcomes {
        let verdict = outcome.verdict().map_or("n/a", Verdict::name);
        let cell = |(_, figures): &&(&str, &[&str])| outcome.worst_of(figures).map_or_else(|| "-".into(), brief);
        let decided = outcome.decided_by().map_or_else(|| "-".into(), decided);
        let cells = std::iter::once(decided).chain(columns.iter().map(cell));
        grid.row(&[&outcome.case, &outcome.scheme, verdict], cells.collect::<Vec<_>>());
    }
    grid
}

/// Such as `q95 f1@60: 214 > 200`: the figure, its flow and when its time begins, the value and the bound that it is
/// beyond; with `?` where the interval has the bound inside.
fn decided(judged: &Judged) -> String {
    let bar = &judged.bar;
    let range = if judged.verdict == Some(Verdict::Weak) { bar.should } else { bar.must };
    let flow = bar.flow.map_or_else(String::new, |flow| format!(" f{flow}"));
    let of = format!("{}{flow}@{}", bar.figure.name(), bar.window.0);
    let (Some(mean), Some((low, high))) = (judged.mean, judged.interval) else { return of };
    let above = range.excess(high) > 0.0 && high > range.high;
    let (sign, bound) = if above { ('>', range.high) } else { ('<', range.low) };
    // An interval that is not wholly beyond its bound says no more than that it may be.
    let sure = if above { low > bound } else { high < bound };
    format!("{of}: {}{} {sign}{} {bound}", figures(mean), margin(low, high), if sure { "" } else { "?" })
}

/// A value, half its interval if there is one, and the mark of its verdict.
fn brief(judged: &Judged) -> String {
    let mark = judged.verdict.map_or(' ', Verdict::mark);
    match (judged.mean, judged.interval) {
        (Some(mean), Some((low, high))) => format!("{}{} {mark}", figures(mean), margin(low, high)),
        _ => "-".into(),
    }
}

/// Half an interval; nothing of one too small to be seen.
fn margin(low: f64, high: f64) -> String {
    match figures((high - low) / 2.0) {
        zero if zero == figures(0.0) => String::new(),
        half => format!("±{half}"),
    }
}

/// Three significant figures at most.
fn figures(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}
