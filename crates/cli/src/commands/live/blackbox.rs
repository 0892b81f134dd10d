//! `thalweg blackbox`: a real program in the same table as our schemes.

use std::fmt;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use serde_json::json;
use thalweg_codecs::Codec;
use thalweg_lab::scenario::{Scenario, Video};
use thalweg_lab::{Outcome, inputs, run_folder};
use thalweg_lab_sockets::RealTimeError;
use thalweg_lab_sockets::blackbox::{self, Call, Program};
use thalweg_live::blackbox::{CameraFile, Chromium, Coding, Driver, Gates, Scratch, Validity};
use thalweg_sender::{Registry, SenderFactory};
use thalweg_units::{Rate, Seed, Size, Span};

use crate::commands::compare::Network;
use crate::commands::results::Results;
use crate::commands::values;
use crate::play::{self, Effort, Job, Played};
use crate::progress::Progress;
use crate::{folder, interrupt, link, recorded};

/// Headings of the help.
const PROGRAM: &str = "Program";
const RUNS: &str = "Runs";

#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg blackbox --rate 3Mbps --queue 1bdp --runs 1 --duration 20s
  thalweg blackbox --trace Verizon-LTE-short.down --reverse Verizon-LTE-short.up --with gcc,vidaptive
  thalweg blackbox --codec vp9-svc --size 720p --rate 2Mbps/500kbps@40s --duration 100s")]
pub(crate) struct Arguments {
    /// The program: chromium
    #[arg(default_value = "chromium")]
    driver: DriverName,
    /// Program's path, or its name on PATH: Chromium, or a browser based on it
    #[arg(long, value_name = "FILE", default_value = "chromium", env = "CHROMIUM", help_heading = PROGRAM)]
    program: PathBuf,
    /// Codec: vp8, vp9, vp9-svc (three spatial and three temporal layers), vp9-temporal (three layers) or h264
    #[arg(long, default_value = "vp8", help_heading = PROGRAM)]
    codec: Coding,
    /// Maximum bitrate of its encoder, in place of the browser's own lower one
    #[arg(long, default_value = "12Mbps", value_name = "RATE", value_parser = values::rate, help_heading = PROGRAM)]
    max_rate: Rate,
    /// Our schemes to play over the same link in virtual time, separated by commas (see `thalweg schemes`)
    #[arg(long, value_name = "SCHEMES", value_delimiter = ',')]
    with: Vec<String>,
    /// Encoder of these schemes, as for `thalweg compare` (default: a real one of the program's codec)
    #[arg(long, value_name = "ENCODER", requires = "with")]
    encoder: Option<Codec>,
    /// Video of the camera: `scene`, `scene:easy`, a .y4m file, or anything ffmpeg reads
    #[arg(long, default_value = "scene", value_parser = recorded::video)]
    video: String,
    /// Size of the video, such as 1280x720 or 720p; two cores keep up with the default
    #[arg(long, default_value = "640x360")]
    size: Size,
    /// Duration of each call, from its first packet
    #[arg(long, default_value = "60s", value_parser = values::duration)]
    duration: Span,
    /// Number of calls over each link, and of runs of each scheme
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1000), help_heading = RUNS)]
    runs: u64,
    /// Seed of the first call; each further call takes the next
    #[arg(long, default_value = "1", value_parser = values::seed, help_heading = RUNS)]
    seed: Seed,
    /// Maximum attempts at a valid call
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=100), help_heading = RUNS)]
    attempts: u64,
    /// Show a call that stayed invalid, marked so in its name, instead of failing
    #[arg(long, help_heading = RUNS)]
    keep_invalid: bool,
    #[command(flatten, next_help_heading = RUNS)]
    effort: Effort,
    /// Folder for the report and for each run; a call's also has its getStats (program.json)
    ///
    /// Results of an earlier command in it move to earlier/1, earlier/2 and so on.
    #[arg(long, short, default_value = "out", value_name = "FOLDER", help_heading = RUNS)]
    out: PathBuf,
    /// Continue an interrupted command of the same options; finished runs are not played again
    #[arg(long, help_heading = RUNS)]
    resume: bool,
    #[command(flatten)]
    network: Network,
    #[command(flatten)]
    results: Results,
}

/// The kinds of program that can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum DriverName {
    Chromium,
}

/// The machine had something else to do in each attempt, so that no other call would be valid either.
#[derive(Debug)]
struct Busy(String);

impl fmt::Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; no other call was tried", self.0)
    }
}

impl std::error::Error for Busy {}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments { results, effort, out, .. } = arguments;
    results.check()?;
    effort.begin();
    let scenarios = scenarios(arguments)?;
    let driver: Box<dyn Driver> = match arguments.driver {
        DriverName::Chromium => {
            let (program, coding) = (arguments.program.clone(), arguments.codec.clone());
            Box::new(Chromium { program, coding, max_rate: arguments.max_rate })
        }
    };
    let settings = format!("codec = {:?}\nmax_rate = {:?}\n", arguments.codec.name(), arguments.max_rate.to_string());
    let program = Program { name: driver.name(), version: driver.version()?, settings };
    let ours = play::schemes(&Registry::new(), &arguments.with)?;
    let all: Vec<Arc<dyn SenderFactory>> =
        std::iter::once::<Arc<dyn SenderFactory>>(Arc::new(program.clone())).chain(ours).collect();
    let mut jobs = play::matrix(&scenarios, &all, out);
    play::prepare(&mut jobs, out, arguments.resume)?;
    // Or the browsers would outlive this program.
    interrupt::listen_to_all();
    let (calls, simulated): (Vec<Job>, Vec<Job>) = jobs.into_iter().partition(|job| job.scheme.name() == program.name);
    let Played { mut outcomes, mut problem } = called(arguments, &calls, &*driver, &program)?;
    if !simulated.is_empty() && problem.as_ref().is_none_or(|error| !error.is::<play::Interrupted>()) {
        // After the calls, which need the machine for themselves.
        let played = play::all(&simulated, arguments.resume, effort)?;
        outcomes.extend(played.outcomes);
        problem = problem.or(played.problem);
    }
    match problem {
        Some(problem) if outcomes.is_empty() => Err(problem),
        Some(problem) => {
            results.show(&outcomes, out)?;
            Err(problem)
        }
        None => results.show(&outcomes, out),
    }
}

/// A scenario for each link and seed.
fn scenarios(arguments: &Arguments) -> anyhow::Result<Vec<Scenario>> {
    let Arguments { video, size, duration, codec, encoder, .. } = arguments;
    let own =
        || codec.name().split('-').next().unwrap_or_default().parse::<Codec>().map_err(|error| anyhow!("{error}"));
    let codec = encoder.clone().map_or_else(own, Ok)?;
    let video = Video::of(video.clone(), Some(*size));
    let mut scenarios = Vec::new();
    for (name, forward, reverse) in arguments.network.links(*duration)? {
        for seed in (arguments.seed.get()..).take(arguments.runs as usize).map(Seed::new) {
            scenarios.push(Scenario {
                duration: *duration,
                seed,
                video: video.clone(),
                codec: codec.clone(),
                forward: forward.clone(),
                reverse: reverse.clone(),
                ..Scenario::over(&name)
            });
        }
    }
    Ok(scenarios)
}

/// Measures each call, one after another.
fn called(arguments: &Arguments, jobs: &[Job], driver: &dyn Driver, program: &Program) -> anyhow::Result<Played> {
    let Some(Job { scenario, .. }) = jobs.first() else { return Ok(Played { outcomes: Vec::new(), problem: None }) };
    let scratch = Scratch::new("camera")?;
    let camera = CameraFile::write(&scenario.video, scenario.seed, scenario.duration, scratch.path())?;
    let progress = Progress::new(jobs.iter().map(|job| job.scenario.duration));
    let mut outcomes: Vec<Outcome> = Vec::new();
    let mut problem = None;
    for job in jobs {
        match one(arguments, job, (driver, program), &camera, &progress) {
            Ok(outcome) => outcomes.push(outcome),
            Err(error) => {
                let error = play::interrupted(error, outcomes.len(), jobs.len());
                let is_over = error.is::<play::Interrupted>() || error.is::<Busy>();
                // The last one is printed at the end.
                if let Some(earlier) = problem.replace(error) {
                    eprintln!("thalweg: {earlier:#}");
                }
                if is_over {
                    break;
                }
            }
        }
    }
    Ok(Played { outcomes, problem })
}

/// Measures a call until it is valid, and writes its folder.
fn one(
    arguments: &Arguments,
    Job { scenario, folder, .. }: &Job,
    (driver, program): (&dyn Driver, &Program),
    camera: &CameraFile,
    progress: &Progress,
) -> anyhow::Result<Outcome> {
    let label = format!("{} over {}, seed {}", program.name, scenario.name, scenario.seed.get());
    let inputs = inputs::of(scenario)?;
    if arguments.resume && run_folder::is_played(folder, scenario, &inputs, program) {
        return Ok(run_folder::read_outcome(folder)?);
    }
    let gates = Gates::default();
    let mut attempts: Vec<(Validity, Vec<String>)> = Vec::new();
    let begun = progress.begin(label.clone(), scenario.duration);
    let (mut call, failures) = loop {
        let mut find =
            |name: &str| link::find(name, scenario.duration, scenario.seed).map_err(|error| format!("{error:#}"));
        let mut say = |now| {
            begun.report(now);
            if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let call = blackbox::call(scenario, (driver, program), camera, &mut find, &mut say);
        let call = call.map_err(|error| match error {
            // As such, so that the exit code says it.
            RealTimeError::Simulate(error) => anyhow::Error::from(error),
            error => error.into(),
        });
        let call = call.with_context(|| label.clone())?;
        let failures = call.validity.failures(&gates);
        note!("{label}: {}", words(&call));
        attempts.push((call.validity, failures.clone()));
        if failures.is_empty() {
            break (call, failures);
        }
        note!("{label}: attempt {} of {} is invalid: {}", attempts.len(), arguments.attempts, failures.join("; "));
        if attempts.len() as u64 >= arguments.attempts {
            break (call, failures);
        }
    };
    begun.finish();
    if !failures.is_empty() {
        if !arguments.keep_invalid {
            let (count, why) = (attempts.len(), failures.join("; "));
            let said = format!("{label}: none of {count} attempts is valid ({why}); the machine must do nothing else");
            let is_busy = attempts.iter().all(|(validity, _)| validity.idle_ratio < gates.idle);
            return Err(if is_busy { Busy(said).into() } else { anyhow!(said) });
        }
        call.run.outcome.summary.scheme += " (invalid)";
    }
    run_folder::write(folder, scenario, &inputs, program, &call.run)?;
    let attempt = |(validity, failures): &(Validity, Vec<String>)| json!({ "figures": validity, "failures": failures });
    let attempts: Vec<_> = attempts.iter().map(attempt).collect();
    let details = json!({ "details": call.details, "attempts": attempts });
    folder::write_whole(&folder.join("program.json"), &serde_json::to_vec(&details)?)?;
    Ok(call.run.outcome)
}

/// Details that no column of the table has.
fn words(Call { validity, details, .. }: &Call) -> String {
    let millis = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.0}"));
    format!(
        "camera {:.1} %, relay {:.2} ms late (99 %), {:.0} % idle; {} ms (median) and {} ms (95 %) until presented, {} freezes, mean \
         quantiser {}",
        100.0 * validity.camera_ratio,
        validity.lateness_p99_ms,
        100.0 * validity.idle_ratio,
        millis(details.presented_p50_ms),
        millis(details.presented_p95_ms),
        millis(details.freezes),
        millis(details.quantizer_mean),
    )
}
