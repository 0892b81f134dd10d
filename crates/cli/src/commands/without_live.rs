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
    /// Not in this build: receive a published stream, measure it, record it
    Watch(Anything),
    /// Not in this build: receive video from any WHIP sender, and measure it
    Receive(Anything),
    /// Not in this build: forward the video of any WHIP sender
    Relay(Anything),
    /// Not in this build: serve a call of two browsers
    Call(Anything),
    /// Not in this build: show two schemes side by side in the browser
    Duel(Anything),
    /// Not in this build: emulate a link between other programs
    Emulate(Anything),
    /// Not in this build: run a command behind an emulated link
    Shell(Anything),
    /// Not in this build: measure stock Chromium as a black box
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

    use crate::play::{Job, Played};

    pub(crate) fn all(_: &[Job], _: bool) -> anyhow::Result<Played> {
        super::missing("run --live")
    }

    pub(crate) fn agreement(_: &[Outcome]) -> String {
        String::new()
    }
}
