//! Replaces `live` in a build without it: every command explains how to build it in.

use std::ffi::OsString;

use anyhow::bail;

/// Accepts any arguments.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Anything {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _arguments: Vec<OsString>,
}

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Not in this build: send video to browsers
    Publish(Anything),
    /// Not in this build: receive what is published, measure it, record it
    Watch(Anything),
    /// Not in this build: receive anybody's video by WHIP, and measure it
    Receive(Anything),
    /// Not in this build: send on what anybody sends by WHIP
    Relay(Anything),
    /// Not in this build: a call of two in browsers
    Call(Anything),
    /// Not in this build: two schemes at once, side by side in the browser
    Duel(Anything),
    /// Not in this build: the simulator's link between other programs
    Emulate(Anything),
    /// Not in this build: a command behind the simulator's link
    Shell(Anything),
    /// Not in this build: measure a real program as a black box
    #[command(name = "blackbox")]
    BlackBox(Anything),
}

pub(crate) fn run(command: &Command) -> anyhow::Result<()> {
    missing(match command {
        Command::Publish(_) => "publish",
        Command::Watch(_) => "watch",
        Command::Receive(_) => "receive",
        Command::Relay(_) => "relay",
        Command::Call(_) => "call",
        Command::Duel(_) => "duel",
        Command::Emulate(_) => "emulate",
        Command::Shell(_) => "shell",
        Command::BlackBox(_) => "blackbox",
    })
}

fn missing<T>(what: &str) -> anyhow::Result<T> {
    if cfg!(target_os = "linux") {
        bail!("{what} is not in this build: cargo build --release -p thalweg-cli --features live builds it in");
    }
    bail!("{what} is not in this build: it needs Linux (timerfd, network namespaces, TUN devices)")
}

/// Replaces `run --live`.
pub(crate) mod real_time {
    use thalweg_lab::Outcome;

    use crate::play::Job;

    pub(crate) fn all(_: &[Job], _: bool) -> anyhow::Result<Vec<Outcome>> {
        super::missing("run --live")
    }

    pub(crate) fn print_agreement(_: &[Outcome]) {}
}
