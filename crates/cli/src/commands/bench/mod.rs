//! `thalweg bench`: what things cost on this machine.

mod codec;
mod controllers;
mod engine;
mod measure;
mod runs;

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    subject: Option<Subject>,
    #[command(flatten)]
    engine: engine::Arguments,
}

#[derive(clap::Subcommand)]
enum Subject {
    /// Schemes with an encoder model and with a real encoder, and their controllers alone (what `thalweg bench` does)
    Engine(engine::Arguments),
    /// The functional VP8 encoder beside libvpx: rate, quality, time, two candidates; and decoding
    Codec(codec::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match &arguments.subject {
        None => engine::run(&arguments.engine),
        Some(Subject::Engine(arguments)) => engine::run(arguments),
        Some(Subject::Codec(arguments)) => codec::run(arguments),
    }
}
