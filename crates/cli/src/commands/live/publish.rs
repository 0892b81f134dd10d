//! `thalweg publish`: video to browsers and to WHIP servers, over real WebRTC.

use std::path::PathBuf;

use thalweg_live::publish::WhipState;
use thalweg_live::whip::{Endpoint, Token};

use super::authorities::{authorities, refused};
use super::sending::{Sending, is_stateful};

#[derive(clap::Args)]
#[command(
    after_help = "Everyone who opens the page is a viewer, each with a sender of their own. A link given by --rate, --up, --delay and so on is emulated between \
here and the viewers: `up` is the way of the video. Sliders on the page change it for all of them."
)]
pub(crate) struct Arguments {
    /// The video: `scene`, `scene:easy`, a .y4m file, `-` for live y4m on standard input, or anything ffmpeg reads
    #[arg(default_value = "scene")]
    source: String,
    /// The sender's scheme (see `thalweg schemes`); viewers can switch
    #[arg(long, default_value = "vidaptive")]
    scheme: String,
    /// Send to a WHIP server too (RFC 9725), for as long as this runs
    #[arg(long, value_name = "URL")]
    whip: Option<String>,
    /// The bearer token for the WHIP server
    #[arg(long, requires = "whip", env = "THALWEG_WHIP_TOKEN", hide_env_values = true)]
    whip_token: Option<String>,
    /// Accept only this certificate (PEM) of the WHIP server, its own or that of its signer, instead of the authorities
    /// that the web trusts
    #[arg(long, requires = "whip", value_name = "FILE")]
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
    let whip_session = endpoint.map(|endpoint| running.publisher.whip_session(endpoint)).transpose()?;
    running.wait(move || match &whip_session {
        Some(whip_session) if whip_session.state() == WhipState::Failed => {
            let why = whip_session.error().map_or_else(|| anyhow::anyhow!("it stopped"), |error| refused(&error));
            Err(why.context("WHIP"))
        }
        _ => Ok(()),
    })
}
