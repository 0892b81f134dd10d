//! `thalweg publish`: video to browsers and to WHIP servers, over real WebRTC.

use super::sending::{Played, Sending, browsers_follow};
use super::whip_server::{Reached, WhipServer};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg publish
  thalweg publish clip.mp4 --listen 0.0.0.0:8080 --scheme gcc
  thalweg publish --rate 3Mbps/1Mbps@10s --delay 25ms --loss 1%
  thalweg publish clip.ivf --encoded --whip https://example.org/whip/endpoint")]
pub(crate) struct Arguments {
    /// The video: `scene`, `scene:easy`, a .y4m file, `-` for live y4m on standard input, or a file or address that ffmpeg
    /// reads
    #[arg(default_value = "scene")]
    source: String,
    /// The sender's scheme (see `thalweg schemes`); viewers can switch
    ///
    /// Default: thalweg; vidaptive with --encoded, --encoders and other encoders than VP8, whose frames it cannot choose.
    #[arg(long)]
    scheme: Option<String>,
    #[command(flatten)]
    whip: WhipServer,
    #[command(flatten)]
    played: Played,
    #[command(flatten)]
    sending: Sending,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let endpoint = arguments.whip.endpoint()?;
    let sending = &arguments.sending;
    let default = if sending.may_choose_frames(&arguments.played) { "thalweg" } else { "vidaptive" };
    let scheme = arguments.scheme.as_deref().unwrap_or(default);
    if !browsers_follow(scheme)? {
        eprintln!("warning: browsers cannot follow {scheme}: watch it with `thalweg watch`, or let viewers switch");
    }
    let running = sending.start(&arguments.source, &arguments.played, &[("main", scheme)])?;
    let mut reached = Reached::start(endpoint, &running.publisher)?;
    let ended = running.attend(|| reached.look())?;
    let reached = reached.finish(ended);
    running.finish()?;
    reached
}
