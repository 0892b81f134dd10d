//! `thalweg-bench`: CPU cost on this machine.

mod codec;
mod controllers;
mod engine;
mod environments;
mod measure;
mod runs;

use clap::Parser;

/// The cost of the engine, the controllers and the functional codec on this machine
#[derive(Parser)]
#[command(args_conflicts_with_subcommands = true, max_term_width = 110)]
struct Arguments {
    #[command(subcommand)]
    subject: Option<Subject>,
    #[command(flatten)]
    engine: engine::Arguments,
}

#[derive(clap::Subcommand)]
enum Subject {
    /// Schemes with an encoder model and with a real encoder, and their controllers alone: the default
    Engine(engine::Arguments),
    /// The functional VP8 encoder compared with libvpx: rate, quality, time, two candidates; and decoding
    Codec(codec::Arguments),
    /// Environments for reinforcement learning: steps a second and core
    Environments(environments::Arguments),
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    match &arguments.subject {
        None => engine::run(&arguments.engine),
        Some(Subject::Engine(arguments)) => engine::run(arguments),
        Some(Subject::Codec(arguments)) => codec::run(arguments),
        Some(Subject::Environments(arguments)) => environments::run(arguments),
    }
}

/// CPU seconds of this thread so far: unlike the time of day without those of other threads and processes.
fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
