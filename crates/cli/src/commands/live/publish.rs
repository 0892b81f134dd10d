//! `thalweg publish`: video to browsers and to WHIP servers, over real WebRTC.

use std::path::PathBuf;

use thalweg_live::publish::WhipState;
use thalweg_live::whip::{Endpoint, Token, WhipError};

use super::authorities::{authorities, refused};
use super::sending::{Ended, Sending, is_stateful};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg publish
  thalweg publish clip.mp4 --listen 0.0.0.0:8080 --scheme gcc
  thalweg publish --rate 3Mbps/1Mbps@10s --delay 25ms --loss 1%
  thalweg publish clip.ivf --encoded --whip https://example.org/whip/endpoint")]
pub(crate) struct Arguments {
    /// The video: `scene`, `scene:easy`, a .y4m file, `-` for live y4m on standard input, or anything ffmpeg reads
    #[arg(default_value = "scene")]
    source: String,
    /// The sender's scheme (see `thalweg schemes`); viewers can switch
    #[arg(long, default_value = "vidaptive")]
    scheme: String,
    /// Send to a WHIP server too (RFC 9725), for as long as this runs
    #[arg(long, value_name = "URL", help_heading = "WHIP server")]
    whip: Option<String>,
    /// The bearer token for the WHIP server
    #[arg(long, requires = "whip", help_heading = "WHIP server", env = "THALWEG_WHIP_TOKEN", hide_env_values = true)]
    whip_token: Option<String>,
    /// Accept only this certificate (PEM) of the WHIP server, instead of the authorities that the web trusts
    ///
    /// The server's own, or that of its signer.
    #[arg(long, requires = "whip", value_name = "FILE", help_heading = "WHIP server")]
    certificate_authority: Option<PathBuf>,
    #[command(flatten)]
    sending: Sending,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let endpoint = match &arguments.whip {
        None => None,
        Some(url) => {
            let token = arguments.whip_token.as_deref().map(str::parse::<Token>).transpose()?;
            let endpoint = Endpoint::new(url, token)?;
            Some(match &arguments.certificate_authority {
                Some(path) => endpoint.known_by(authorities(path)?),
                None => endpoint,
            })
        }
    };
    if endpoint.as_ref().is_some_and(Endpoint::shows_token) {
        eprintln!("warning: the token goes to another machine by http, where others may read it; use https");
    }
    if is_stateful(&arguments.scheme)? {
        eprintln!(
            "warning: browsers cannot follow {}: watch it with `thalweg watch`, or let viewers switch",
            arguments.scheme
        );
    }
    let running = arguments.sending.start(&arguments.source, &[("main", &arguments.scheme)])?;
    let Some(endpoint) = endpoint else { return running.wait(|| Ok(())).map(|_| ()) };
    let whip_session = running.publisher.whip_session(endpoint)?;
    let (mut was_reached, mut last) = (false, None);
    let (is_reached, latest) = (&mut was_reached, &mut last);
    let ended = running.wait(move || {
        let why = |error: &WhipError| refused(error).context("WHIP");
        let (state, error) = (whip_session.state(), whip_session.error());
        *is_reached |= state == WhipState::Connected;
        if state == WhipState::Failed {
            return Err(error.map_or_else(|| anyhow::anyhow!("WHIP: it stopped"), |error| why(&error)));
        }
        *latest = error.map(|error| why(&error));
        Ok(())
    })?;
    match last {
        _ if was_reached || ended == Ended::BySignal => Ok(()),
        Some(why) => Err(why),
        None => anyhow::bail!("WHIP: the server was not reached in this time"),
    }
}
