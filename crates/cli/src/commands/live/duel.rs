//! `thalweg duel`: two schemes at once, so that the difference can be seen.

use super::sending::{Played, Sending, check_followed};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg duel gcc thalweg --rate 3Mbps/1Mbps@10s --delay 25ms
  thalweg duel vidaptive thalweg clip.mp4 --up lte-driving --queue 100ms")]
pub(crate) struct Arguments {
    /// The scheme on the left
    first: String,
    /// The scheme on the right
    second: String,
    /// The video: `scene`, `scene:easy`, a .y4m file, `-` for live y4m on standard input, or a file or address that ffmpeg
    /// reads
    #[arg(default_value = "scene")]
    source: String,
    #[command(flatten)]
    played: Played,
    #[command(flatten)]
    sending: Sending,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let Arguments { first, second, source, played, sending } = arguments;
    for scheme in [first, second] {
        check_followed(scheme)?;
    }
    if !sending.link.wanted() {
        eprintln!(
            "warning: no link is emulated, so the two may look alike: give one by --rate, --up, --delay or --scenario"
        );
    }
    let running = sending.start(source, played, &[("left", first), ("right", second)])?;
    running.attend(|| Ok(()))?;
    running.finish()
}
