//! `thalweg shell`: a command behind an emulated link.

use std::ffi::OsString;
use std::io::ErrorKind;

use thalweg_emulate::Zero;
use thalweg_emulate::clock::Clock;
use thalweg_emulate::reactor::PollerConfig;
use thalweg_emulate::shell::{self, Caller, ShellConfig, ShellError};
use thalweg_units::Span;

use super::emulated::Emulated;
use crate::commands::values;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg shell --rate 2Mbps --delay 20ms -- curl http://example.org/
  thalweg shell --down lte-driving --queue 1bdp --loss 0.5%")]
pub(crate) struct Arguments {
    /// Length of the busy wait at the end of each sleep: timers fire less late, at the cost of a busy core
    #[arg(long, default_value = "0us", value_parser = values::time)]
    spin: Span,
    /// Print the link's statistics at the end, as JSON on standard error
    #[arg(long)]
    summary: bool,
    /// Run the command as root, not as the user who called sudo
    #[arg(long)]
    as_root: bool,
    /// Command and its arguments, after -- (default: the caller's shell, or $SHELL)
    #[arg(last = true)]
    command: Vec<OsString>,
    #[command(flatten)]
    link: Emulated,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let link = arguments.link.link(Zero::Start)?;
    let caller = if arguments.as_root { None } else { Caller::of_sudo()? };
    // sudo has set $SHELL to root's.
    let theirs = caller.as_ref().and_then(Caller::shell).map(OsString::from);
    let own = || vec![theirs.or_else(|| std::env::var_os("SHELL")).unwrap_or_else(|| "/bin/sh".into())];
    let command = if arguments.command.is_empty() { own() } else { arguments.command.clone() };
    let poller = PollerConfig { spin: arguments.spin };
    let config = ShellConfig { link: link.config.clone(), command, caller, clock: Clock::new(), poller };
    let finished = shell::run(&config, &mut |name| link.find(name), &mut |remark| eprintln!("thalweg: {remark}"));
    let finished = match finished {
        Err(error @ ShellError::NotRoot) => {
            anyhow::bail!("{error}, or use `thalweg emulate`, which relays UDP without")
        }
        Err(error @ ShellError::Command { .. }) => {
            eprintln!("thalweg: {error}");
            std::process::exit(not_run(&error));
        }
        finished => finished?,
    };
    if arguments.summary {
        eprintln!("{}", serde_json::to_string_pretty(&finished.statistics.json())?);
    }
    if finished.code != 0 {
        std::process::exit(finished.code);
    }
    Ok(())
}

/// The exit code of a command that was not run, as shells have it (POSIX, Shell Command Language 2.8.2).
fn not_run(error: &ShellError) -> i32 {
    match error {
        ShellError::Command { source, .. } if source.kind() == ErrorKind::NotFound => 127,
        _ => 126,
    }
}
