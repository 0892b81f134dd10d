//! `thalweg codec`: VP8 by the functional codec, file to file.

mod decode;
mod encode;
mod inspect;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg codec encode clip.y4m --rate 1Mbps -o clip.ivf
  thalweg codec inspect clip.ivf
  thalweg codec decode clip.ivf -o decoded.y4m")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Encode a video as VP8 into an IVF file
    Encode(encode::Arguments),
    /// Decode an IVF file of VP8 to y4m or raw I420, or print an MD5 of each frame
    Decode(decode::Arguments),
    /// Print the contents of each frame of an IVF file of VP8: kind, bytes, quantiser, modes, references
    Inspect(inspect::Arguments),
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match &arguments.command {
        Command::Encode(arguments) => encode::run(arguments),
        Command::Decode(arguments) => decode::run(arguments),
        Command::Inspect(arguments) => inspect::run(arguments),
    }
}

/// Opens a file for reading, or standard input for `-`.
fn open(path: &Path) -> anyhow::Result<Box<dyn Read>> {
    if path == Path::new("-") {
        return Ok(Box::new(std::io::stdin().lock()));
    }
    let file = std::fs::File::open(path).with_context(|| path.display().to_string())?;
    Ok(Box::new(std::io::BufReader::new(file)))
}

/// Opens a file for writing, or standard output for `-`. The file has its name from [`complete`] on, so that none is cut.
fn create(path: &Path) -> anyhow::Result<Box<dyn Write>> {
    if path == Path::new("-") {
        return Ok(Box::new(std::io::stdout().lock()));
    }
    let file = std::fs::File::create(unfinished(path)).with_context(|| path.display().to_string())?;
    Ok(Box::new(std::io::BufWriter::new(file)))
}

/// Gives a whole file its name.
fn complete(path: &Path) -> anyhow::Result<()> {
    let written = unfinished(path);
    if path == Path::new("-") || written == path {
        return Ok(());
    }
    std::fs::rename(written, path).with_context(|| path.display().to_string())
}

/// Where a file is until it is whole: beside it, or itself where it is a device or a pipe.
fn unfinished(path: &Path) -> PathBuf {
    if path.exists() && !path.is_file() {
        return path.into();
    }
    let mut name = path.as_os_str().to_owned();
    name.push(".unfinished");
    name.into()
}
