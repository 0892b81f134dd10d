//! The commands that need real sockets: those of this folder, and `run --live`.

mod authorities;
mod duel;
mod emulate;
mod emulated;
mod logs;
mod publish;
pub(crate) mod real_time;
mod sending;
mod shell;
mod watch;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Send video to browsers: serves a page that anyone with the link can watch
    Publish(publish::Arguments),
    /// Receive what is published (a page's link, or any WHEP address), measure it, record it
    Watch(watch::Arguments),
    /// Two schemes at once over the same emulated link, side by side in the browser
    Duel(duel::Arguments),
    /// Put the simulator's link between other programs: a UDP relay, without root
    Emulate(emulate::Arguments),
    /// Run a command in a network namespace behind the simulator's link, as root
    Shell(shell::Arguments),
}

pub(crate) fn run(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Publish(arguments) => publish::run(arguments),
        Command::Watch(arguments) => watch::run(arguments),
        Command::Duel(arguments) => duel::run(arguments),
        Command::Emulate(arguments) => emulate::run(arguments),
        Command::Shell(arguments) => shell::run(arguments),
    }
}
