//! `thalweg run`: a scenario file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use thalweg_codecs::Codec;
use thalweg_lab::run_folder::{Input, read_inputs, read_run};
use thalweg_lab::{Scenario, Undershoot};
use thalweg_sender::{Registry, SenderFactory};
use thalweg_units::{Size, Span};

use super::results::Results;
use super::seeds::Seeds;
use super::values;
use crate::inputs;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// A scenario (see examples/), or the run.toml of a run: to repeat it, or to change any parameter of its scenario
    /// or scheme
    scenario: PathBuf,
    /// Schemes to play, separated by commas (see `thalweg schemes`); when absent gcc,vidaptive for a scenario, the
    /// run's own for a run.toml
    #[arg(long, value_delimiter = ',')]
    scheme: Vec<String>,
    #[command(flatten)]
    seeds: Seeds,
    /// The encoder's undershoot instead of the scenario's: none, 0.6, 0.6@30s-60s, ios, android or a file (see `thalweg
    /// compare --help`)
    #[arg(long)]
    undershoot: Option<Undershoot>,
    /// The duration instead of the scenario's
    #[arg(long, allow_hyphen_values = true, value_parser = values::duration)]
    duration: Option<Span>,
    /// The video instead of the scenario's: `scene`, `scene:easy`, a .y4m file, `-` for y4m on standard input, or
    /// anything ffmpeg reads
    #[arg(long)]
    video: Option<String>,
    /// The size instead of the scenario's, such as 640x360 or 360p
    #[arg(long)]
    size: Option<Size>,
    /// The encoder instead of the scenario's: vp8 (libvpx), vp9, h264 (openh264), functional (our own VP8) or model (a
    /// statistical one)
    #[arg(long, visible_alias = "codec")]
    encoder: Option<Codec>,
    /// Play it in real time, on real sockets of this machine over the emulated link, with real RTP, DTLS and SRTP:
    /// schemes one after another, each for as long as the scenario lasts
    #[arg(long)]
    live: bool,
    /// Play it in virtual time too, with the packet sizes and the feedback that were negotiated, and print how much the
    /// two differ
    #[arg(long, requires = "live")]
    against_simulator: bool,
    #[command(flatten)]
    results: Results,
    /// The folder for the report and for each run. Results of an earlier command in it move to earlier/1, earlier/2 and so
    /// on
    #[arg(long, short, default_value = "out")]
    out: PathBuf,
    /// Go on with the same command that was interrupted: what it finished is not played again
    #[arg(long, conflicts_with = "live")]
    resume: bool,
}

/// A scenario file or a run.toml.
pub(crate) struct File {
    pub(crate) scenario: Scenario,
    /// The schemes to play unless others are requested.
    pub(crate) schemes: Vec<Arc<dyn SenderFactory>>,
    /// What the run read.
    inputs: Vec<Input>,
    folder: PathBuf,
}

impl File {
    /// Reads a file as it is written: its traces and videos are not looked for.
    fn open(path: &Path) -> anyhow::Result<File> {
        let text = std::fs::read_to_string(path)?;
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let table: toml::Table = toml::from_str(&text)?;
        if table.contains_key("scenario") && table.contains_key("scheme") {
            let (scenario, scheme) = read_run(&text, &Registry::new())?;
            return Ok(File { scenario, schemes: vec![scheme], inputs: read_inputs(&text)?, folder });
        }
        let default = ["gcc", "vidaptive"].map(String::from);
        let schemes = crate::play::schemes(&default)?;
        Ok(File { scenario: toml::from_str(&text)?, schemes, inputs: Vec::new(), folder })
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
        File::open(path).and_then(File::resolved).with_context(|| path.display().to_string())
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    arguments.results.check()?;
    let path = || arguments.scenario.display().to_string();
    let mut file = File::open(&arguments.scenario).with_context(path)?;
    let scenario = &mut file.scenario;
    if let Some(undershoot) = &arguments.undershoot {
        scenario.undershoot.clone_from(undershoot);
    }
    scenario.duration = arguments.duration.unwrap_or(scenario.duration);
    if let Some(source) = &arguments.video {
        scenario.video.source.clone_from(source);
    }
    scenario.video.size = arguments.size.or(scenario.video.size);
    if let Some(codec) = &arguments.encoder {
        scenario.codec.clone_from(codec);
    }
    let File { scenario, schemes: own, .. } = file.resolved().with_context(path)?;
    let schemes = if arguments.scheme.is_empty() { own } else { crate::play::schemes(&arguments.scheme)? };
    let seeds = arguments.seeds.list(scenario.seed)?;
    let scenarios: Vec<Scenario> = seeds.into_iter().map(|seed| Scenario { seed, ..scenario.clone() }).collect();
    let jobs = crate::play::matrix(&scenarios, &schemes, &arguments.out);
    if !arguments.live {
        return arguments.results.of(&jobs, &arguments.out, arguments.resume);
    }
    crate::play::prepare(&jobs, &arguments.out, false)?;
    let outcomes = super::live::real_time::all(&jobs, arguments.against_simulator)?;
    arguments.results.show(&outcomes, &arguments.out)?;
    if arguments.against_simulator && arguments.results.is_text() {
        super::live::real_time::print_agreement(&outcomes);
    }
    Ok(())
}
