//! `thalweg`: real-time video over changing networks.
//!
//! Results go to standard output, progress to standard error. Exit codes: 0 success, 1 failure, 2 wrong command line, 3
//! a condition of --fail-if or --fail-on holds or shards are missing, 130 interrupted (docs/reference/exit-codes.md).

#[macro_use]
mod out;
#[macro_use]
mod progress;

mod clock;
mod commands;
mod configured;
mod contestant;
mod folder;
mod grid;
mod interrupt;
mod keeping;
mod link;
mod negative;
mod play;
mod recorded;
mod standard_input;
mod suggest;
mod table;

use std::path::Path;

use anyhow::Context;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "thalweg",
    version,
    about = "Real-time video over networks that change under it",
    max_term_width = 110,
    after_help = "Examples:
  thalweg compare --encoder model
  thalweg run examples/step.toml --duration 20s --size 360p
  thalweg reproduce camel-fig10
  thalweg publish --rate 3Mbps/1Mbps@10s --delay 25ms

Exit codes:
  0    success
  1    failure
  2    wrong command line
  3    a condition of --fail-if or --fail-on holds, or shards are missing
  130  interrupted

`thalweg help COMMAND` explains each option, `thalweg COMMAND -h` lists them briefly."
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
    /// Validate a scenario file, or print its JSON schema
    #[command(subcommand)]
    Scenario(commands::scenario::Command),
    /// Write a report of earlier runs
    Report(commands::report::Arguments),
    /// Compare two sets of results, and print the changes
    Diff(commands::diff::Arguments),
    /// Play the runs behind a paper's figure, and print its numbers next to ours
    Reproduce(commands::reproduce::Arguments),
    /// Search for the parameters of a scheme that best meet an objective
    Tune(commands::tune::Arguments),
    /// Search for links that break a sender, and make the smallest scenario of each kind of failure
    Hunt(commands::hunt::Arguments),
    /// Play a grid of runs, on one machine or in shards on many, into one table
    Sweep(commands::sweep::Arguments),
    /// Judge estimators by a suite of test cases: a verdict for each bound
    #[command(subcommand)]
    Bench(commands::bench::Command),
    #[command(flatten)]
    Live(commands::live::Command),
    /// Explain the decisions of a run at a moment
    Explain(commands::explain::Arguments),
    /// Encode, decode and inspect VP8 with the functional codec
    Codec(commands::codec::Arguments),
    /// List the schemes, and the suffixes of their names
    #[command(after_help = "Examples:\n  thalweg schemes\n  thalweg schemes --json")]
    Schemes(commands::schemes::Arguments),
    /// Inspect, convert and make link traces
    Trace(commands::trace::Arguments),
    /// List, fetch and check the recordings and clips that figures and tests use
    Data(commands::data::Arguments),
    /// Print a completion script for a shell
    #[command(after_help = "Examples:\n  thalweg completions bash")]
    Completions {
        /// Shell to complete for
        shell: clap_complete::Shell,
    },
    /// Write a manual page of each command into a folder
    #[command(hide = true)]
    Man {
        /// The folder
        folder: std::path::PathBuf,
    },
}

fn main() -> std::process::ExitCode {
    let arguments = match configured::expanded(std::env::args_os().collect(), &program()) {
        Ok(arguments) => {
            let matches = program().get_matches_from(negative::as_values(arguments));
            Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
        }
        Err(error) => {
            eprintln!("thalweg: {}", words(&error));
            return 2.into();
        }
    };
    let done = match arguments.command {
        Command::Compare(arguments) => commands::compare::run(&arguments),
        Command::Run(arguments) => commands::run::run(&arguments),
        Command::Scenario(command) => commands::scenario::run(&command),
        Command::Report(arguments) => commands::report::run(&arguments),
        Command::Diff(arguments) => commands::diff::run(&arguments),
        Command::Bench(command) => commands::bench::run(&command),
        Command::Reproduce(arguments) => commands::reproduce::run(&arguments),
        Command::Tune(arguments) => commands::tune::run(&arguments),
        Command::Hunt(arguments) => commands::hunt::run(&arguments),
        Command::Sweep(arguments) => commands::sweep::run(&arguments),
        Command::Live(command) => commands::live::run(&command),
        Command::Explain(arguments) => commands::explain::run(&arguments),
        Command::Codec(arguments) => commands::codec::run(&arguments),
        Command::Schemes(arguments) => commands::schemes::run(&arguments),
        Command::Trace(arguments) => commands::trace::run(&arguments),
        Command::Data(arguments) => commands::data::run(&arguments),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "thalweg", &mut script);
            out!("{}", String::from_utf8_lossy(&script));
            Ok(())
        }
        Command::Man { folder } => manual(&folder).with_context(|| folder.display().to_string()),
    };
    match done {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("thalweg: {}", words(&error));
            exit_code(&error)
        }
    }
}

/// Commands by role, those that matter first at the beginning.
const ROLES: [(&str, &[&str]); 6] = [
    ("First", &["compare", "run", "explain", "bench", "reproduce", "publish", "duel"]),
    ("Laboratory", &["scenario", "sweep", "tune", "hunt"]),
    ("Results", &["report", "diff"]),
    ("Live", &["watch", "receive", "relay", "call", "blackbox"]),
    ("Links", &["trace", "data", "emulate", "shell"]),
    ("Else", &["codec", "schemes", "completions", "help"]),
];

/// The program, with its commands by role.
fn program() -> clap::Command {
    let command = Arguments::command();
    let line = |name: &str| {
        let about = match name {
            "help" => "Explain a command and each of its options".into(),
            _ => command.find_subcommand(name)?.get_about()?.to_string(),
        };
        Some(format!("  {name:12} {about}\n"))
    };
    let group = |(role, names): &(&str, &[&str])| {
        let lines: String = names.iter().filter_map(|name| line(name)).collect();
        format!("{role}:\n{lines}\n")
    };
    let commands: String = ROLES.iter().map(group).collect();
    let template =
        format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{commands}Options:\n{{options}}{{after-help}}");
    command.help_template(template)
}

/// Writes `thalweg.1`, `thalweg-compare.1` and so on, from the texts of --help.
fn manual(folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)?;
    clap_mangen::generate_to(Arguments::command().disable_help_subcommand(true), folder)?;
    Ok(())
}

fn exit_code(error: &anyhow::Error) -> std::process::ExitCode {
    if error.is::<commands::conditions::Failed>()
        || error.is::<commands::hunt::Failed>()
        || error.is::<commands::sweep::Incomplete>()
    {
        3.into()
    } else if error.is::<play::Interrupted>() {
        interrupt::EXIT_CODE.into()
    } else if error.is::<suggest::Unknown>() || is_unknown_scheme(error) {
        2.into()
    } else {
        std::process::ExitCode::FAILURE
    }
}

/// Returns true if nothing has a scheme of that name.
fn is_unknown_scheme(error: &anyhow::Error) -> bool {
    let is_sender = matches!(error.downcast_ref(), Some(thalweg_lab::NoSender::Unknown(_)));
    is_sender || error.is::<thalweg_sender::scheme::UnknownScheme>()
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
    use super::*;
    use anyhow::anyhow;

    /// The words of a line of a shell: quotes are all that the examples have.
    #[cfg(all(feature = "live", target_os = "linux"))]
    fn words_of(line: &str) -> Vec<String> {
        let mut parts: Vec<String> = Vec::new();
        for (place, part) in line.split('\'').enumerate() {
            match place % 2 {
                0 => parts.extend(part.split_whitespace().map(String::from)),
                _ => parts.push(part.into()),
            }
        }
        parts
    }

    fn commands(of: &clap::Command) -> Vec<&clap::Command> {
        let below = of.get_subcommands().flat_map(commands);
        std::iter::once(of).chain(below).collect()
    }

    // A command that is not in the build has no help.
    #[cfg(all(feature = "live", target_os = "linux"))]
    #[test]
    fn every_example_of_the_help_is_a_command_line_and_every_command_has_one() {
        let root = Arguments::command();
        for command in root.get_subcommands().filter(|command| !command.is_hide_set()) {
            let name = command.get_name();
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let examples: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("  ")).collect();
            assert!(!examples.is_empty(), "{name} has no example");
            for line in examples {
                let parsed = Arguments::try_parse_from(words_of(line));
                assert!(line.starts_with(&format!("thalweg {name} ")) || line == format!("thalweg {name}"), "{line}");
                assert!(parsed.is_ok(), "{line}: {}", parsed.err().unwrap());
            }
        }
    }

    // A command that is not in the build has no role.
    #[cfg(all(feature = "live", target_os = "linux"))]
    #[test]
    fn every_command_has_one_role() {
        let root = Arguments::command();
        let mut known: Vec<&str> = root
            .get_subcommands()
            .filter(|it| !it.is_hide_set())
            .map(clap::Command::get_name)
            .chain(["help"])
            .collect();
        let mut said: Vec<&str> = ROLES.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        known.sort_unstable();
        said.sort_unstable();
        assert_eq!(said, known);
    }

    #[test]
    fn what_commands_have_in_common_is_under_no_heading_of_something_else() {
        let root = Arguments::command();
        let foreign = ["Quality", "Link", "Emulated link", "Video and encoder", "Runs on many machines", "Variations"];
        for command in commands(&root) {
            let common =
                ["json", "markdown", "out", "duration", "seed", "runs", "jobs", "quiet", "resume", "set", "spin"];
            // The seed of an emulated link is its own.
            let of_link = |id: &str| id == "seed" && command.get_arguments().any(|other| other.get_id() == "up");
            for option in command.get_arguments().filter(|option| common.contains(&option.get_id().as_str())) {
                let (id, heading) = (option.get_id().as_str(), option.get_help_heading().unwrap_or_default());
                assert!(of_link(id) || !foreign.contains(&heading), "{} --{id}: {heading}", command.get_name());
            }
        }
    }

    #[test]
    fn brief_help_has_one_line_of_text_for_each_option() {
        let root = Arguments::command();
        let options = commands(&root).into_iter().flat_map(clap::Command::get_arguments);
        let texts = options.filter_map(|option| option.get_help()).map(ToString::to_string);
        assert_eq!(texts.filter(|text| text.len() > 125).collect::<Vec<_>>(), Vec::<String>::new());
    }

    #[test]
    fn a_cause_is_said_once() {
        let inner = || anyhow!("no such file");
        assert_eq!(words(&inner().context("clip.y4m")), "clip.y4m: no such file");
        assert_eq!(words(&inner().context("video: no such file")), "video: no such file");
        let result: anyhow::Result<()> = Err(inner()).context("video: no such file").context("gcc");
        assert_eq!(words(&result.unwrap_err()), "gcc: video: no such file");
    }
}
