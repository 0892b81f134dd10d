//! `thalweg shell`: a command behind an emulated link.

use std::ffi::OsString;

use thalweg_live::clock::Clock;
use thalweg_live::reactor::PollerConfig;
use thalweg_live::shell::{self, ShellConfig, ShellError};
use thalweg_units::Span;

use super::emulated::Emulated;

#[derive(clap::Args)]
#[command(
    after_help = "Needs root: the command gets a network of its own, all of whose IPv4 packets pass the link; up is \
what it sends. The machine is at $THALWEG_GATEWAY there, and $THALWEG_SHELL is set. Other machines are reached where \
nft or iptables can translate addresses; it says so. The command runs as root: write `-- sudo -u me COMMAND` for \
anybody else. Shells may be opened inside one another, and everything is removed when the command ends. The exit code \
is the command's."
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    link: Emulated,
    /// The last part of each wait that spins on the clock instead of sleeping: timers fire less late, at the cost of a
    /// busy core
    #[arg(long, default_value = "0us")]
    spin: Span,
    /// Print the link's statistics at the end, as JSON on standard error
    #[arg(long)]
    summary: bool,
    /// The command and its arguments, after --; the shell of $SHELL when absent
    #[arg(last = true)]
    command: Vec<OsString>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let link = arguments.link.link()?;
    let own = || vec![std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into())];
    let command = if arguments.command.is_empty() { own() } else { arguments.command.clone() };
    let poller = PollerConfig { spin: arguments.spin };
    let config = ShellConfig { link: link.config.clone(), command, clock: Clock::new(), poller };
    let finished = shell::run(&config, &mut |name| link.find(name), &mut |remark| eprintln!("thalweg: {remark}"));
    let finished = finished.map_err(|error| match error {
        ShellError::NotRoot => anyhow::anyhow!("{error}, or use `thalweg emulate`, which relays UDP without"),
        error => error.into(),
    })?;
    if arguments.summary {
        eprintln!("{}", serde_json::to_string_pretty(&finished.statistics.json())?);
    }
    if finished.code != 0 {
        std::process::exit(finished.code);
    }
    Ok(())
}
