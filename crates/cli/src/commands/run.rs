//! `thalweg run`: a scenario file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use thalweg_codecs::Codec;
use thalweg_lab::bound::Bound;
use thalweg_lab::inputs;
use thalweg_lab::run_folder::{Input, RunFileError, read_inputs, read_run};
use thalweg_lab::{Scenario, Undershoot};
use thalweg_sender::{Registry, SenderFactory};
use thalweg_units::{FrameRate, Size, Span};

use super::playing::Playing;
use super::results::Results;
use super::values::{self, Feedback};

/// Headings of the help.
const INSTEAD: &str = "Instead of the scenario's";
const LIVE: &str = "In real time";

#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg run examples/step.toml --scheme gcc,vidaptive --seed 1..3
  thalweg run examples/step.toml --duration 20s --encoder model --quiet --csv
  thalweg run out/vidaptive/run.toml --set scheme.controller.copa.delta=0.2
  thalweg run examples/step.toml --live --scheme gcc")]
pub(crate) struct Arguments {
    /// Scenario (see examples/), or the run.toml of a run, to repeat it with or without changed parameters
    scenario: PathBuf,
    /// Schemes to play, separated by commas (see `thalweg schemes`)
    ///
    /// Default: gcc,vidaptive,thalweg for a scenario, the run's own for a run.toml.
    #[arg(long, value_delimiter = ',')]
    scheme: Vec<String>,
    /// The encoder's undershoot: none, 0.6, 0.6@30s-60s, ios, android or a file (see `thalweg compare --help`)
    #[arg(long, help_heading = INSTEAD)]
    undershoot: Option<Undershoot>,
    /// Duration of each run
    #[arg(long, value_parser = values::duration, help_heading = INSTEAD)]
    duration: Option<Span>,
    /// The video: `scene`, `scene:easy`, a .y4m file, `-` for y4m on standard input, or anything ffmpeg reads
    #[arg(long, help_heading = INSTEAD)]
    video: Option<String>,
    /// Size of the video, such as 640x360 or 360p
    #[arg(long, help_heading = INSTEAD)]
    size: Option<Size>,
    /// Frames per second: 30, 29.97 or 30000/1001; pictures of a file are repeated or dropped to reach it
    #[arg(long, value_name = "FPS", help_heading = INSTEAD)]
    frame_rate: Option<FrameRate>,
    /// Encoder: vp8 or vp9 (libvpx), h264 (openh264), functional (our own VP8) or model (statistical, fast)
    #[arg(long, visible_alias = "codec", help_heading = INSTEAD)]
    encoder: Option<Codec>,
    /// Feedback format of every receiver: own (each scheme's), twcc, ccfb, ... (see `thalweg compare --help`)
    #[arg(long, value_parser = values::feedback, value_name = "FEEDBACK", help_heading = INSTEAD)]
    feedback: Option<Feedback>,
    /// Play in real time, on sockets of this machine over the emulated link, with RTP, DTLS and SRTP
    ///
    /// Schemes play one after another, each for as long as the scenario lasts.
    #[arg(long, conflicts_with_all = ["resume", "contestant", "jobs"], help_heading = LIVE)]
    live: bool,
    /// Play in virtual time too, and print the differences
    ///
    /// The run in virtual time has the negotiated packet sizes and feedback.
    #[arg(long, requires = "live", help_heading = LIVE)]
    against_simulator: bool,
    #[command(flatten)]
    playing: Playing,
    #[command(flatten)]
    results: Results,
}

/// A scenario file or a run.toml.
pub(crate) struct File {
    pub(crate) scenario: Scenario,
    /// The schemes to play unless others are requested.
    pub(crate) schemes: Vec<Arc<dyn SenderFactory>>,
    /// Files that the run read.
    inputs: Vec<Input>,
    folder: PathBuf,
}

impl File {
    /// Reads a file as it is written: its traces and videos are not looked for.
    fn open(path: &Path, registry: &Registry) -> anyhow::Result<File> {
        let text = std::fs::read_to_string(path)?;
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let table: toml::Table = toml::from_str(&text)?;
        if table.contains_key("scenario") && table.contains_key("scheme") {
            let (scenario, scheme) = read_run(&text, registry).map_err(|error| match error {
                RunFileError::Content(error) => super::scenario::explained(&text, &error),
                error => error.into(),
            })?;
            return Ok(File { scenario, schemes: vec![scheme], inputs: read_inputs(&text)?, folder });
        }
        if table.contains_key("axes") {
            bail!("it is the grid of a sweep, which has many runs: `thalweg sweep {}` plays it", path.display());
        }
        let default: Vec<String> = crate::play::COMPARED.split(',').map(String::from).collect();
        let schemes = crate::play::schemes(registry, &default)?;
        let scenario = toml::from_str(&text).map_err(|error| super::scenario::explained(&text, &error))?;
        Ok(File { scenario, schemes, inputs: Vec::new(), folder })
    }

    /// Has the scenario name what its run read, wherever its folder is now.
    fn resolved(mut self) -> anyhow::Result<File> {
        inputs::resolve(&mut self.scenario, &self.inputs, &self.folder)?;
        Ok(self)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// When its content is invalid, or what its run read is gone or was changed.
    pub(crate) fn read(path: &Path) -> anyhow::Result<File> {
        File::open(path, &Registry::new()).and_then(File::resolved).with_context(|| path.display().to_string())
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    arguments.results.check()?;
    arguments.playing.effort.begin();
    let path = || arguments.scenario.display().to_string();
    let registry = arguments.playing.registry()?;
    let mut file = File::open(&arguments.scenario, &registry).with_context(path)?;
    let scenario = &mut file.scenario;
    if let Some(undershoot) = &arguments.undershoot {
        scenario.undershoot.clone_from(undershoot);
    }
    scenario.duration = arguments.duration.unwrap_or(scenario.duration);
    if let Some(source) = &arguments.video {
        scenario.video.source.clone_from(source);
    }
    scenario.video.size = arguments.size.or(scenario.video.size);
    if let Some(frame_rate) = arguments.frame_rate {
        (scenario.video.frame_rate, scenario.video.retimed) = (frame_rate, true);
    }
    if let Some(codec) = &arguments.encoder {
        scenario.codec.clone_from(codec);
    }
    if let Some(Feedback(style)) = arguments.feedback {
        scenario.feedback = style;
    }
    let File { scenario, schemes: own, .. } = file.resolved().with_context(path)?;
    let playing = &arguments.playing;
    let named = &arguments.scheme;
    let mut schemes = if named.is_empty() { own } else { crate::play::schemes(&registry, named)? };
    playing.join(&mut schemes, &registry)?;
    let seeds = playing.seeds.list(scenario.seed)?;
    let mut scenarios: Vec<_> = seeds.into_iter().map(|seed| Scenario { seed, ..scenario.clone() }).collect();
    playing.set(&mut scenarios, &mut schemes)?;
    let mut jobs = crate::play::matrix(&scenarios, &schemes, &playing.out);
    let video = arguments.video.iter().map(|video| (format!("--video {video}"), "video.source"));
    let undershoot = arguments.undershoot.iter().map(|it| (format!("--undershoot {it}"), "undershoot"));
    let encoder = arguments.encoder.iter().map(|codec| (format!("--encoder {codec}"), "codec"));
    crate::play::refuse_idle(&jobs, &video.chain(undershoot).chain(encoder).collect::<Vec<_>>())?;
    if !arguments.live {
        return arguments.results.of(jobs, playing);
    }
    if let Some(bound) = schemes.iter().find(|scheme| Bound::is_named_by(scheme.name())) {
        return Err(Bound::refusal(bound.name()).into());
    }
    crate::play::prepare(&mut jobs, &playing.out, false)?;
    let played = super::live::real_time::all(&jobs, arguments.against_simulator)?;
    let plays = jobs.len() * (1 + usize::from(arguments.against_simulator));
    let agreement = (arguments.against_simulator && arguments.results.is_text())
        .then(|| super::live::real_time::agreement(&played.outcomes));
    let done = arguments.results.conclude(played, plays, &playing.out);
    out!("{}", agreement.unwrap_or_default());
    done
}
