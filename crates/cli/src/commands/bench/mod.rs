//! `thalweg bench`: suites of cases with verdicts.

mod rmcat;

#[derive(Debug, clap::Subcommand)]
#[command(after_help = "Examples:
  thalweg bench rmcat
  thalweg bench rmcat --case 5.1,5.4 --scheme gcc,nada --runs 3")]
pub(crate) enum Command {
    /// Run RFC 8867's test cases: a verdict for each bound, over several seeds
    Rmcat(rmcat::Arguments),
}

pub(crate) fn run(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Rmcat(arguments) => rmcat::run(arguments),
    }
}
