//! `thalweg`: real-time video over changing networks.
//!
//! Results go to standard output, progress to standard error. Exit codes: 0 success, 1 failure, 2 wrong command line, 3 a
//! condition of --fail-if holds, 130 interrupted
//! (docs/reference/exit-codes.md).

#[macro_use]
mod out;

mod clock;
mod commands;
mod folder;
mod grid;
mod inputs;
mod interrupt;
mod link;
mod play;
mod progress;
mod recorded;
mod standard_input;
mod suggest;
mod table;

use clap::{CommandFactory, Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "thalweg",
    version,
    about = "Real-time video over networks that change under it",
    max_term_width = 110,
    after_help = "Exit codes: 0 success, 1 failure, 2 wrong command line, 3 a condition of --fail-if holds, 130 interrupted."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Play schemes side by side over one link, with a real codec, and compare them
    Compare(commands::compare::Arguments),
    /// Play a scenario file
    Run(commands::run::Arguments),
    /// Check a scenario file, or print what one may say
    #[command(subcommand)]
    Scenario(commands::scenario::Command),
    /// Write the report of earlier runs again
    Report(commands::report::Arguments),
    /// Print what changed between two sets of results
    Diff(commands::diff::Arguments),
    /// Play a paper's figure, its numbers next to ours
    Reproduce(commands::reproduce::Arguments),
    #[command(flatten)]
    Live(commands::live::Command),
    /// Explain the decisions of a run at a moment
    Explain(commands::explain::Arguments),
    /// Encode, decode and inspect VP8 with the functional codec
    Codec(commands::codec::Arguments),
    /// List the schemes
    Schemes,
    /// Inspect, convert and make link traces
    Trace(commands::trace::Arguments),
    /// List, fetch and check the recordings and clips that figures and tests use
    Data(commands::data::Arguments),
    /// Print a completion script for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
}

fn main() -> std::process::ExitCode {
    let arguments = Arguments::parse();
    let done = match arguments.command {
        Command::Compare(arguments) => commands::compare::run(&arguments),
        Command::Run(arguments) => commands::run::run(&arguments),
        Command::Scenario(command) => commands::scenario::run(&command),
        Command::Report(arguments) => commands::report::run(&arguments),
        Command::Diff(arguments) => commands::diff::run(&arguments),
        Command::Reproduce(arguments) => commands::reproduce::run(&arguments),
        Command::Live(command) => commands::live::run(&command),
        Command::Explain(arguments) => commands::explain::run(&arguments),
        Command::Codec(arguments) => commands::codec::run(&arguments),
        Command::Schemes => commands::schemes::run(),
        Command::Trace(arguments) => commands::trace::run(&arguments),
        Command::Data(arguments) => commands::data::run(&arguments),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "thalweg", &mut script);
            out!("{}", String::from_utf8_lossy(&script));
            Ok(())
        }
    };
    match done {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("thalweg: {}", words(&error));
            exit_code(&error)
        }
    }
}

fn exit_code(error: &anyhow::Error) -> std::process::ExitCode {
    if error.is::<commands::conditions::Failed>() {
        3.into()
    } else if error.is::<play::Interrupted>() {
        interrupt::EXIT_CODE.into()
    } else if error.is::<suggest::Unknown>() {
        2.into()
    } else {
        std::process::ExitCode::FAILURE
    }
}

/// An error and its causes, each printed once: many errors repeat their cause in their own text.
fn words(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |said, cause| match said.as_str() {
        "" => cause,
        said if said.contains(&cause) => said.into(),
        said => format!("{said}: {cause}"),
    })
}

#[cfg(test)]
mod tests {
    use super::words;
    use anyhow::{Context, anyhow};

    #[test]
    fn a_cause_is_said_once() {
        let inner = || anyhow!("no such file");
        assert_eq!(words(&inner().context("clip.y4m")), "clip.y4m: no such file");
        assert_eq!(words(&inner().context("video: no such file")), "video: no such file");
        let result: anyhow::Result<()> = Err(inner()).context("video: no such file").context("gcc");
        assert_eq!(words(&result.unwrap_err()), "gcc: video: no such file");
    }
}
